/**
 * Which tools an agent may call, on each of the two surfaces. The two are independent of each other: being excluded from
 * one implies nothing for the other.
 *
 * client-tools, Cancellation and permissions; base-protocol section 7.
 */
import type { AgentProfile, EffectiveSettings } from "../settings/Settings.ts"
import type { DelegatedPermissions, PermittedTool } from "../store/DelegatedPermissions.ts"
import type { DelegatedState } from "../store/SessionStore.ts"
import type { AgentTool, Surface } from "../tools/Tool.ts"
import { matchesAny } from "./Pattern.ts"

/** The permitted tools of an agent, in catalogue order. */
export interface ToolSets {
  readonly direct: ReadonlyArray<AgentTool>
  readonly code_mode: ReadonlyArray<AgentTool>
}

/** What `inspect` agents get, inside the workspace only. No client tool, no Code Mode. */
export const INSPECT_TOOLS: ReadonlyArray<string> = ["read", "find", "list_files", "grep"]

/** How deep subagents may go; the root has depth 0. An agent at this depth starts none. */
export const MAX_DEPTH = 2

export const CODE_MODE = "code_mode"
export const SUBAGENTS = "subagents"
export const CLIENT_PREFIX = "client__"

/** The names of another origin's tools that are not its own to take, and repeats. */
const claimable = (tools: ReadonlyArray<AgentTool>): ReadonlyArray<AgentTool> => {
  const names = new Set<string>()
  return tools.filter((tool) => {
    const own = tool.name.startsWith(CLIENT_PREFIX) === (tool.origin === "client")
    if (!own || names.has(tool.name)) return false
    names.add(tool.name)
    return true
  })
}

/** What the settings leave of all tools: the sets of a top-level session. */
export const configured = (
  tools: ReadonlyArray<AgentTool>,
  capabilities: EffectiveSettings["capabilities"]
): ToolSets => {
  const { disabled, code_mode } = capabilities
  const all = claimable(tools)
  return {
    direct: all.filter((tool) => !matchesAny(disabled, tool.name) && (code_mode.enabled || tool.name !== CODE_MODE)),
    // A script does not start scripts.
    code_mode: code_mode.enabled
      ? all.filter((tool) => !matchesAny(code_mode.disabled, tool.name) && tool.name !== CODE_MODE)
      : []
  }
}

const filter = (sets: ToolSets, keep: (tool: AgentTool, surface: Surface) => boolean): ToolSets => ({
  direct: sets.direct.filter((tool) => keep(tool, "direct")),
  code_mode: sets.code_mode.filter((tool) => keep(tool, "code_mode"))
})

/** A profile restricts both surfaces by its patterns; `null` patterns restrict nothing. */
export const withinProfile = (sets: ToolSets, profile: AgentProfile | undefined): ToolSets => {
  const patterns = profile?.tools
  return patterns ? filter(sets, (tool) => matchesAny(patterns, tool.name)) : sets
}

export const inspection = (sets: ToolSets): ToolSets =>
  filter(
    sets,
    (tool, surface) => surface === "direct" && tool.origin === "builtin" && INSPECT_TOOLS.includes(tool.name)
  )

/** At the greatest depth there is nothing below: no subagents. */
export const atDepth = (sets: ToolSets, depth: number): ToolSets =>
  depth < MAX_DEPTH ? sets : filter(sets, (tool) => tool.origin !== "builtin" || tool.name !== SUBAGENTS)

export const withoutClientTools = (sets: ToolSets): ToolSets => filter(sets, (tool) => tool.origin !== "client")

/** A client tool is the saved one only with the same fingerprint; the others have none. */
const isSaved = (saved: ReadonlyArray<PermittedTool>, tool: AgentTool): boolean =>
  saved.some(
    (one) =>
      one.name === tool.name &&
      (tool.origin === "client"
        ? one.fingerprint !== null && one.fingerprint === tool.fingerprint
        : one.fingerprint === null)
  )

/** Saved permissions against the current registry and restrictions: new, removed or changed tools are unavailable. */
export const withinSaved = (sets: ToolSets, saved: DelegatedPermissions): ToolSets =>
  filter(sets, (tool, surface) => isSaved(saved[surface], tool))

const listed = (tools: ReadonlyArray<AgentTool>): ReadonlyArray<PermittedTool> =>
  tools.map((tool) => ({ name: tool.name, fingerprint: tool.origin === "client" ? tool.fingerprint : null }))

/** What a delegated session saves before its first model request: every permitted tool. */
export const toSave = (
  sets: ToolSets,
  agent: { readonly mode: "standard" | "inspect"; readonly profile: string | null; readonly depth: number }
): DelegatedPermissions => ({
  version: 1,
  mode: agent.mode,
  profile: agent.profile,
  depth: agent.depth,
  direct: listed(sets.direct),
  code_mode: listed(sets.code_mode)
})

/** Who runs in a session that was opened or created, and what it may call. */
export interface SessionAgent {
  readonly mode: "standard" | "inspect"
  readonly profile: string | null
  readonly depth: number
  readonly tools: ToolSets
}

/**
 * The agent of an attached session. A top-level session uses the current registry; a delegated one keeps its limits:
 * saved, intersected with what is current. Nothing saved means no client tool; a damaged record what `inspect` gets.
 */
export const ofSession = (
  delegated: DelegatedState,
  sets: ToolSets,
  profiles: ReadonlyMap<string, AgentProfile>
): SessionAgent => {
  if (delegated._tag === "TopLevel") return { mode: "standard", profile: null, depth: 0, tools: sets }
  const saved = delegated.permissions
  if (saved === "damaged") return { mode: "inspect", profile: null, depth: MAX_DEPTH, tools: inspection(sets) }
  if (saved === "absent") return { mode: "standard", profile: null, depth: 1, tools: withoutClientTools(sets) }
  const profile = saved.profile === null ? undefined : profiles.get(saved.profile)
  const current = withinProfile(withinSaved(sets, saved), profile)
  return {
    mode: saved.mode,
    profile: saved.profile,
    depth: saved.depth,
    tools: atDepth(saved.mode === "inspect" ? inspection(current) : current, saved.depth)
  }
}
