/**
 * The workspace file over the home file, defaults filled in, paths resolved against the file that they stand in.
 *
 * product section 2: deep merge; arrays replace, but `disabled` lists unite and home hooks always stay, first.
 */
import { isAbsolute, resolve } from "node:path"
import { Redacted } from "effect"
import type {
  AgentProfile,
  Approval,
  EffectiveSettings,
  HookSettings,
  McpServerSettings,
  ModelSettings,
  ProviderSettings
} from "./Settings.ts"
import type { SettingsFile } from "./SettingsSchema.ts"

/** A decoded file and the folder that its relative paths are relative to. */
export interface Source {
  readonly folder: string
  readonly file: SettingsFile
}

export interface Place {
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  readonly env: { readonly [name: string]: string | undefined }
}

export type Environment = Place["env"]

type Providers = NonNullable<SettingsFile["providers"]>
type Provider = Providers[string]
type Servers = NonNullable<NonNullable<SettingsFile["mcp"]>["servers"]>
type Server = Servers[string]
type Agents = NonNullable<SettingsFile["agents"]>

export const DEFAULT_CONTEXT_TOKENS = 128_000

/** The offline model has no context to fill: what the protocol's bounds allow, it takes, unless its entry says otherwise. */
export const OFFLINE_CONTEXT_TOKENS = Number.MAX_SAFE_INTEGER
export const DEFAULT_MAX_OUTPUT_TOKENS = 8192
export const DEFAULT_TURN_STEPS = 50
export const DEFAULT_HOOK_MS = 5000
export const DEFAULT_APPROVALS: { readonly bash: Approval; readonly write: Approval } = { bash: "ask", write: "allow" }
/** The embedded default: provider and model bear the same name. */
export const OFFLINE = "offline"

/** The providers of the files; the embedded one is added by `Check.ts`. What a merged provider still lacks is told by `Check.ts`; until then its kind may be missing. */
export type MergedProvider = Omit<ProviderSettings, "kind"> & { readonly kind: ProviderSettings["kind"] | undefined }

export type MergedServer = Omit<McpServerSettings, "command"> & { readonly command: string | undefined }

export type MergedSettings = Omit<EffectiveSettings, "providers" | "mcp" | "guardedPaths"> & {
  readonly providers: ReadonlyMap<string, MergedProvider>
  readonly mcp: ReadonlyArray<MergedServer>
}

/** Merges the files, later ones over earlier ones: home first. */
export const mergeSettings = (sources: ReadonlyArray<Source>, place: Place): MergedSettings => {
  const files = sources.map(({ file }) => file)
  const providers = mergeProviders(sources, place.env)
  return {
    home: place.home,
    workspace: place.workspace,
    model: {
      provider: last(files, (file) => file.model?.provider) ?? OFFLINE,
      model: last(files, (file) => file.model?.model) ?? OFFLINE
    },
    providers,
    capabilities: {
      disabled: union(files.map((file) => file.capabilities?.tools?.disabled)),
      code_mode: {
        enabled: last(files, (file) => file.capabilities?.tools?.code_mode?.enabled) ?? true,
        compact_direct_tools: last(files, (file) => file.capabilities?.tools?.code_mode?.compact_direct_tools) ?? false,
        disabled: union(files.map((file) => file.capabilities?.tools?.code_mode?.disabled))
      }
    },
    approvals: {
      bash: last(files, (file) => file.approvals?.bash) ?? DEFAULT_APPROVALS.bash,
      write: last(files, (file) => file.approvals?.write) ?? DEFAULT_APPROVALS.write
    },
    hooks: {
      before_tool: sources.flatMap((source) => hooksOf(source, "before_tool", place)),
      after_tool: sources.flatMap((source) => hooksOf(source, "after_tool", place))
    },
    mcp: mergeServers(sources, place),
    agents: mergeAgents(files),
    limits: { turn_steps: last(files, (file) => file.limits?.turn_steps) ?? DEFAULT_TURN_STEPS },
    secretEnv: new Set(
      [...providers.values()].flatMap(({ api_key_env }) => (api_key_env === null ? [] : [api_key_env]))
    ),
    secretValues: distinct([...providers.values()].flatMap(({ api_key }) => (api_key === null ? [] : [api_key])))
  }
}

/** What the last file says that says anything. */
const last = <A>(files: ReadonlyArray<SettingsFile>, get: (file: SettingsFile) => A | undefined): A | undefined =>
  files.reduce<A | undefined>((found, file) => get(file) ?? found, undefined)

const union = (lists: ReadonlyArray<ReadonlyArray<string> | undefined>): ReadonlyArray<string> => [
  ...new Set(lists.flatMap((list) => list ?? []))
]

const distinct = (values: ReadonlyArray<Redacted.Redacted<string>>): ReadonlyArray<Redacted.Redacted<string>> => [
  ...new Map(values.map((value) => [Redacted.value(value), value])).values()
]

/** A word is a path when it has a separator: `./hook.sh`, `bin/server`. A bare word is looked for in PATH. */
const resolveCommand = (word: string, folder: string): string =>
  isAbsolute(word) || !/[/\\]/.test(word) ? word : resolve(folder, word)

const hooksOf = (
  { file, folder }: Source,
  point: "before_tool" | "after_tool",
  { workspace }: Place
): ReadonlyArray<HookSettings> =>
  (file.hooks?.[point] ?? []).map(({ command: [word, ...args], on_failure, timeout_ms, tools }) => ({
    command: [resolveCommand(word, folder), ...args],
    cwd: workspace,
    tools: tools ?? [],
    timeout_ms: timeout_ms ?? DEFAULT_HOOK_MS,
    on_failure: on_failure ?? "warn"
  }))

/** The names in the order of the files, home first. */
const mergeNamed = <A, B>(
  sources: ReadonlyArray<Source>,
  records: (file: SettingsFile) => { readonly [name: string]: A } | undefined,
  merge: (name: string, parts: ReadonlyArray<{ readonly value: A; readonly folder: string }>) => B
): ReadonlyMap<string, B> => {
  const parts = new Map<string, Array<{ readonly value: A; readonly folder: string }>>()
  for (const { file, folder } of sources) {
    for (const [name, value] of Object.entries(records(file) ?? {})) {
      const known = parts.get(name)
      if (known === undefined) parts.set(name, [{ value, folder }])
      else known.push({ value, folder })
    }
  }
  return new Map([...parts].map(([name, own]) => [name, merge(name, own)]))
}

const mergeProviders = (sources: ReadonlyArray<Source>, env: Environment): ReadonlyMap<string, MergedProvider> => {
  return mergeNamed(
    sources,
    (file): Providers | undefined => file.providers,
    (_, parts): MergedProvider => {
      const whole: Provider = Object.assign({}, ...parts.map(({ value }) => value))
      const scripted = parts.findLast(({ value }) => value.script !== undefined)
      const variable = whole.api_key_env ?? null
      const key = variable === null ? undefined : env[variable]
      return {
        kind: whole.kind,
        base_url: whole.base_url ?? null,
        api_key_env: variable,
        api_key: key === undefined || key === "" ? null : Redacted.make(key),
        insecure: whole.insecure ?? false,
        models: (whole.models ?? (whole.kind === "offline" ? [OFFLINE] : [])).map((model) =>
          modelOf(whole.kind, model)
        ),
        script: scripted?.value.script === undefined ? null : resolve(scripted.folder, scripted.value.script)
      }
    }
  )
}

const modelOf = (
  kind: ProviderSettings["kind"] | undefined,
  model: NonNullable<Provider["models"]>[number]
): ModelSettings => {
  const context_tokens = kind === "offline" ? OFFLINE_CONTEXT_TOKENS : DEFAULT_CONTEXT_TOKENS
  const own = typeof model === "string" ? { id: model } : model
  return { context_tokens, max_output_tokens: DEFAULT_MAX_OUTPUT_TOKENS, ...own }
}

const mergeServers = (sources: ReadonlyArray<Source>, { workspace }: Place): ReadonlyArray<MergedServer> => [
  ...mergeNamed(
    sources,
    (file): Servers | undefined => file.mcp?.servers,
    (name, parts): MergedServer => {
      const whole: Server = Object.assign({}, ...parts.map(({ value }) => value))
      const named = parts.findLast(({ value }) => value.command !== undefined)
      return {
        name,
        command: named?.value.command === undefined ? undefined : resolveCommand(named.value.command, named.folder),
        args: whole.args ?? [],
        env: Object.fromEntries(parts.flatMap(({ value }) => Object.entries(value.env ?? {}))),
        cwd: workspace,
        required: whole.required ?? true
      }
    }
  ).values()
]

const mergeAgents = (files: ReadonlyArray<SettingsFile>): ReadonlyMap<string, AgentProfile> =>
  mergeNamed(
    files.map((file) => ({ file, folder: "" })),
    (file): Agents | undefined => file.agents,
    (_, parts) => ({
      instructions: parts.findLast(({ value }) => value.instructions !== undefined)?.value.instructions ?? "",
      tools: parts.findLast(({ value }) => value.tools !== undefined)?.value.tools ?? null
    })
  )
