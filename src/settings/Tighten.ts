/**
 * What the settings file of a workspace may say without being trusted: it may only tighten. Whoever clones a hostile
 * repository and starts the agent in it must lose nothing that their own settings would have kept.
 *
 * product section 2: "`model` naming a provider of the home file, lower `limits`, stricter `approvals` (deny > ask >
 * allow), `disabled` lists, `enabled: false`, `agents`". All else is `configuration_untrusted`, named.
 */
import { join } from "../protocol/JsonPointer.ts"
import type { MergedSettings } from "./Merge.ts"
import type { AgentProfile, Approval } from "./Settings.ts"
import type { SettingsFile } from "./SettingsSchema.ts"

/** One setting that needs trust. `message` names it, not its value. */
export interface NeedsTrust {
  readonly path: string
  readonly message: string
}

/** What is in force without the workspace's file, and the names of the providers that the home file itself has. */
export interface HomeSettings {
  readonly effective: MergedSettings
  readonly providers: ReadonlySet<string>
}

/** Every setting of the workspace's file that needs trust, in the order of the specification. Empty: it only tightens. */
export const needsTrust = (file: SettingsFile, home: HomeSettings): ReadonlyArray<NeedsTrust> => [
  ...whole(file),
  ...model(file, home),
  ...codeMode(file, home.effective),
  ...approvals(file, home.effective),
  ...agents(file, home.effective),
  ...limits(file, home.effective)
]

const need = (path: string, message: string): NeedsTrust => ({ path, message: `${path} ${message}` })

/** Keys that no untrusted file may have, whatever they hold: addresses that get keys, and commands that run. */
const whole = (file: SettingsFile): ReadonlyArray<NeedsTrust> =>
  (["providers", "hooks", "mcp"] as const)
    .filter((key) => file[key] !== undefined)
    .map((key) => need(`/${key}`, "is not allowed in a workspace that is not trusted"))

const model = ({ model }: SettingsFile, { effective, providers }: HomeSettings): ReadonlyArray<NeedsTrust> => {
  const provider = model?.provider
  if (provider === undefined || provider === effective.model.provider || providers.has(provider)) return []
  return [need("/model/provider", "names a provider that your own settings do not have")]
}

const codeMode = (file: SettingsFile, home: MergedSettings): ReadonlyArray<NeedsTrust> => {
  const own = file.capabilities?.tools?.code_mode
  const inForce = home.capabilities.code_mode
  const at = "/capabilities/tools/code_mode"
  return [
    ...(own?.enabled === true && !inForce.enabled
      ? [need(`${at}/enabled`, "switches on what your own settings switch off")]
      : []),
    ...(own?.compact_direct_tools === false && inForce.compact_direct_tools
      ? [need(`${at}/compact_direct_tools`, "lists more tools than your own settings do")]
      : [])
  ]
}

const strictness: { readonly [approval in Approval]: number } = { allow: 0, ask: 1, deny: 2 }

const approvals = (file: SettingsFile, home: MergedSettings): ReadonlyArray<NeedsTrust> =>
  (["bash", "write"] as const).flatMap((kind) => {
    const own = file.approvals?.[kind]
    return own !== undefined && strictness[own] < strictness[home.approvals[kind]]
      ? [need(`/approvals/${kind}`, "is looser than your own settings")]
      : []
  })

/**
 * New profiles only restrict: a subagent keeps what its parent has, intersected with its profile. A profile of one's own
 * may be narrowed, or told something else, but not widened.
 */
const agents = (file: SettingsFile, home: MergedSettings): ReadonlyArray<NeedsTrust> =>
  Object.entries(file.agents ?? {}).flatMap(([name, { tools }]) => {
    const own = home.agents.get(name)
    return own === undefined || isNarrower(tools, own)
      ? []
      : [need(join("/agents", name, "tools"), "gives a profile of your own settings more tools")]
  })

const isNarrower = (tools: ReadonlyArray<string> | undefined, own: AgentProfile): boolean =>
  tools === undefined || own.tools === null || tools.every((pattern) => own.tools?.includes(pattern))

const limits = (file: SettingsFile, home: MergedSettings): ReadonlyArray<NeedsTrust> => {
  const steps = file.limits?.turn_steps
  return steps !== undefined && steps > home.limits.turn_steps
    ? [need("/limits/turn_steps", "is higher than in your own settings")]
    : []
}
