/**
 * The one interface of every tool the agent can call: built-in, MCP and client-provided.
 *
 * A tool is called in two steps so that what is approved is exactly what runs: `prepare` checks the final arguments
 * (after the hooks) and opens what they name; the pipeline asks for approval of the prepared call; `execute` runs it.
 * base-protocol section 6 (call path), product section 2 (built-in tools).
 */
import { Data, type Effect, type Scope } from "effect"
import type { ToolFailureCode } from "../protocol/ErrorCode.ts"
import type { Json, JsonObject } from "../protocol/Json.ts"

/** From where a call is made: the two surfaces are permitted independently of each other (section 7). */
export type Surface = "direct" | "code_mode"

export type ToolOrigin = "builtin" | "mcp" | "client"

/** The card roles of base-protocol section 5. */
export type CardRole = "generic" | "bash" | "read" | "edit" | "search" | "subagent" | "code_mode"

export type ApprovalKind = "bash" | "write" | "read"

/** What a tool gives back. Text and structured value are raw unless `isProtected` says they passed protection already. */
export interface ToolOutput {
  readonly text: string
  /** Absent when there is none; an explicit `null` is a value. */
  readonly structured?: Json
  /** Client results are sanitized and redacted before they are accepted (section 6): the pipeline does not do it twice. */
  readonly isProtected?: true
}

/**
 * A call that did not succeed. `message` is a fixed text for the model: it never repeats arguments, results or secrets
 * beyond what the tool's own output may show. `output` is what the model sees as content, where there is any.
 */
export class ToolFailure extends Data.TaggedError("ToolFailure")<{
  readonly code: ToolFailureCode
  readonly message: string
  readonly output?: ToolOutput
  /** What the ending becomes (section 6, "What an ending becomes"); `failure` when absent. */
  readonly ending?: "failure" | "cancelled" | "interrupted"
}> {}

/** The identity of the agent that executes a call. Session and run are the root's (client-tools, Execute and reply). */
export interface AgentIdentity {
  readonly sessionId: string
  readonly runId: string
  readonly taskId: string | null
  readonly subagentId: string | null
}

export interface ToolContext extends AgentIdentity {
  /** Unique in the session; the key of the call's records in the store. */
  readonly callKey: string
  readonly activityId: string
  readonly surface: Surface
  /** `inspect` agents read inside the workspace only: what would ask for approval is denied instead. */
  readonly mode: "standard" | "inspect"
  /** Sends a droppable `activity.updated`; at most 512 bytes, longer summaries are cut on a character boundary. */
  readonly progress: (summary: string) => Effect.Effect<void>
  /** Records the start of the call in the store (a required append); to be run before anything takes effect outside. */
  readonly started: Effect.Effect<void, ToolFailure>
  /** Tells the pipeline that `client.tool.call` with this id took its place in the writer (`activity.finished.call_id`). */
  readonly published: (callId: string) => void
  /** For the timeline row of a client call (`CallTimes` of broker/Broker): when it went through its states, and who ended it. */
  readonly observed: (times: {
    readonly callId: string
    readonly registeredMs: number
    readonly publishedMs: number | null
    readonly deadlineMs: number | null
    readonly settledMs: number
    readonly winner: string
  }) => void
}

export interface ApprovalNeed {
  readonly kind: ApprovalKind
  /** Everything that will run, unescaped and unmasked; the approvals service escapes, masks and bounds it. */
  readonly summary: string
  /**
   * For `write` and `edit`: what to show instead when `summary` is too long (path, size, SHA-256, first lines).
   * Absent: a summary that does not fit is denied.
   */
  readonly short?: string
  /** The path always asks, whatever `approvals` says (protected places, outside the workspace). */
  readonly always?: boolean
}

export interface PreparedCall {
  /** `null`: this call needs no approval. */
  readonly approval: ApprovalNeed | null
  /** For the tool card: a path or a command, never contents or other raw arguments. At most 20 lines of 256 bytes. */
  readonly lines: ReadonlyArray<string>
  /**
   * True where `execute` answers an interruption with an ending of its own (client tools, Code Mode, subagents): the
   * pipeline runs it in its uninterruptible region, and it makes its waits interruptible itself. Otherwise the pipeline
   * makes the whole of `execute` interruptible.
   */
  readonly settles?: true
  /** Runs the call. Interruption stops it; its scope closes with the call. */
  readonly execute: Effect.Effect<ToolOutput, ToolFailure, Scope.Scope>
}

export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, as the model sees it. */
  readonly inputSchema: JsonObject
  readonly origin: ToolOrigin
  readonly role: CardRole
  /** Client tools: SHA-256 of the effective descriptor; `null` for all others (section 7, delegated permissions). */
  readonly fingerprint: string | null
  /** Whether the compact direct catalogue lists it (section 7); client tools are always listed where permitted. */
  readonly compact: boolean
  /** Checks the final arguments and prepares the call. What it opens lives in the scope of the call. */
  readonly prepare: (args: JsonObject, context: ToolContext) => Effect.Effect<PreparedCall, ToolFailure, Scope.Scope>
}
