/**
 * An agent at work: who it is, what it may call, in which session it writes. The root agent and every subagent have one.
 *
 * base-protocol section 7 (identities, surfaces); client-tools, Execute and reply.
 */
import { Context, type Effect } from "effect"
import type { SessionHandle } from "../store/SessionStore.ts"
import type { AgentIdentity, AgentTool, Surface } from "../tools/Tool.ts"
import { directCatalog } from "./Catalog.ts"
import type { JournalShape } from "./Journal.ts"
import type { ModelFailure, ModelHandle } from "./model/Models.ts"
import type { SessionAgent } from "./Permissions.ts"
import type { RunEventsShape } from "./RunEvents.ts"
import type { RunState } from "./RunState.ts"

/** What all agents of one run share. */
export interface RunContext {
  readonly state: RunState
  readonly events: RunEventsShape
  /** The attached session: the timeline of the whole run is kept there. */
  readonly session: SessionHandle
  /** The selected model; loads the provider's package on first use. */
  readonly model: Effect.Effect<ModelHandle, ModelFailure>
  readonly workspace: string
}

export interface AgentScope extends SessionAgent {
  readonly run: RunContext
  readonly identity: AgentIdentity
  /** The session this agent writes: the attached one, or the subagent's own. */
  readonly journal: JournalShape
  /** The activity its calls are children of; `null` for the root agent. */
  readonly activityId: string | null
  /** The direct catalogue, as the model sees it. */
  readonly listed: ReadonlyArray<AgentTool>
  readonly callable: { readonly [S in Surface]: ReadonlyMap<string, AgentTool> }
}

const byName = (tools: ReadonlyArray<AgentTool>) => new Map(tools.map((tool) => [tool.name, tool]))

export const make = (
  agent: SessionAgent & Pick<AgentScope, "run" | "identity" | "journal" | "activityId">,
  compact: boolean
): AgentScope => {
  const listed = directCatalog(agent, compact)
  return { ...agent, listed, callable: { direct: byName(listed), code_mode: byName(agent.tools.code_mode) } }
}

/** The call in which a tool runs, for tools that start agents of their own. */
export interface CurrentCall {
  readonly agent: AgentScope
  readonly callKey: string
  readonly activityId: string
}

/** Provided by the pipeline while it runs `prepare` and `execute`; `undefined` outside. */
export const CurrentCall: Context.Reference<CurrentCall | undefined> = Context.Reference<CurrentCall | undefined>(
  "magi-code/agent/CurrentCall",
  { defaultValue: () => undefined }
)
