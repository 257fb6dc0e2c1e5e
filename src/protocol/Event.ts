/**
 * Events: what the agent tells while a run goes on. The members of every type are in the order of the wire.
 *
 * These are type aliases, not interfaces: an alias without an index signature is assignable to `JsonObject`.
 *
 * base-protocol section 5.
 */
import type { CancelReason } from "./ErrorCode.ts"
import type { JsonObject } from "./Json.ts"

/** Every event begins with its root session and run. */
export type OfRun = {
  readonly session_id: string
  readonly run_id: string
}

/** The first event of a run, with the model that it asks. */
export type RunStarted = OfRun & { readonly provider: string; readonly model: string }

/** The user's input is on disk; the model has not been asked yet. */
export type InputSaved = OfRun & { readonly durable: true; readonly history_revision: string }

/** Streamed text of the root agent, at most `DELTA_BYTES`. Droppable. */
export type MessageDelta = OfRun & { readonly message_id: string; readonly text: string }

/** The whole final text, replacing the deltas, in parts of at most `RECONCILE_BYTES`; `part` counts from 0. */
export type MessageReconcile = OfRun & {
  readonly message_id: string
  readonly part: number
  readonly parts: number
  readonly text: string
}

/** What an activity is. Client and MCP tools are of kind `tool` too. */
export type ActivityKind = "tool" | "subagent" | "code_mode"

/** A call, a subagent or a script begins; `parent_id` is the activity it is part of, null at the top. */
export type ActivityStarted = OfRun & {
  readonly activity_id: string
  readonly parent_id: string | null
  readonly kind: ActivityKind
  readonly name: string
  readonly task_id: string | null
}

/** Droppable, at most `SUMMARY_BYTES`; never for client and MCP tools. */
export type ActivityUpdated = OfRun & { readonly activity_id: string; readonly summary: string }

/** How an activity ended. A timeout is a `failure`; a cancellation, the end of the run and a shutdown are `cancelled`. */
export type ActivityStatus = "success" | "failure" | "cancelled"

/** The end of an activity, exactly once for each that started. */
export type ActivityFinished = OfRun & {
  readonly activity_id: string
  readonly status: ActivityStatus
  /** Null where no call event took its place in the writer. */
  readonly call_id: string | null
  /** Any tool's failure code (`ToolFailureCode`); null on success. */
  readonly code: string | null
}

/** What a card stands for, so that a client can draw it. */
export type CardRole = "generic" | "bash" | "read" | "edit" | "search" | "subagent" | "code_mode"

/** How the call of a card ended; `unknown` after a crash. */
export type CardOutcome = "success" | "failure" | "cancelled" | "interrupted" | "unknown"

/** Tool card, schema 1. A client tool's: role `generic`, title = its name, no lines. */
export type CardData = {
  readonly schema_version: 1
  readonly card_id: string
  /** Rises with every card of the same `card_id`. */
  readonly revision: number
  readonly activity_id: string
  readonly parent_card_id: string | null
  readonly role: CardRole
  /** At most `CARD_TITLE_BYTES`. */
  readonly title: string
  readonly state: "running" | "finished"
  /** Null while running. */
  readonly outcome: CardOutcome | null
  /** At most `CARD_LINES` of `CARD_LINE_BYTES`, redacted. */
  readonly lines: ReadonlyArray<string>
}

/** Negotiated with `tool.cards` only. A running card is droppable, the final one critical. */
export type ToolCard = OfRun & { readonly activity_id: string; readonly card: CardData }

/** The agent asks before it runs a tool of its own. It waits `timeout_ms`, then takes the silence as a denial. */
export type ApprovalRequest = OfRun & {
  readonly approval_id: string
  readonly kind: "bash" | "write" | "read"
  /** At most `APPROVAL_SUMMARY_BYTES`: everything that will run. */
  readonly summary: string
  readonly task_id: string | null
  readonly subagent_id: string | null
  readonly timeout_ms: number
}

/** A question is over, exactly once for each `approval.request`; an answer to it is now `stale_approval`. */
export type ApprovalClosed = OfRun & {
  readonly approval_id: string
  readonly reason: "answered" | "timeout" | "cancelled"
}

/** Every event of a client call names the call, and the subagent that makes it: both null for the root agent. */
export type OfCall = OfRun & {
  readonly call_id: string
  readonly task_id: string | null
  readonly subagent_id: string | null
}

/** client-tools, Execute and reply: exactly these members. */
export type ClientToolCall = OfCall & {
  readonly name: string
  readonly arguments: JsonObject
  /** The effective descriptor's full value. */
  readonly timeout_ms: number
}

/** client-tools, Cancellation and permissions: carries no arguments and no result. */
export type ClientToolCancel = OfCall & { readonly reason: CancelReason }

/** How a run ended. */
export type RunStatus = "completed" | "failed" | "cancelled"

/** Tokens, as the providers counted them. */
export type Usage = { readonly input_tokens: number; readonly output_tokens: number }

/** Exactly once a run, and its last event. */
export type RunFinished = OfRun & {
  readonly status: RunStatus
  /** `code` is a `RunFailureCode`; a client takes any. */
  readonly error: { readonly code: string; readonly message: string } | null
  readonly persistence: "complete" | "degraded"
  readonly history_revision: string
  /** The sum over the run's model responses, subagents included; null when none told any. */
  readonly usage: Usage | null
}

/** The data of every event, by its name. */
export interface EventData {
  readonly "run.started": RunStarted
  readonly "input.saved": InputSaved
  readonly "message.delta": MessageDelta
  readonly "message.reconcile": MessageReconcile
  readonly "activity.started": ActivityStarted
  readonly "activity.updated": ActivityUpdated
  readonly "activity.finished": ActivityFinished
  readonly "tool.card": ToolCard
  readonly "approval.request": ApprovalRequest
  readonly "approval.closed": ApprovalClosed
  readonly "client.tool.call": ClientToolCall
  readonly "client.tool.cancel": ClientToolCancel
  readonly "run.finished": RunFinished
}

/** The `event` of a frame that this agent sends. A client passes over a name that it does not know. */
export type EventName = keyof EventData

/** Every event, in the order of section 5. */
export const eventNames = [
  "run.started",
  "input.saved",
  "message.delta",
  "message.reconcile",
  "activity.started",
  "activity.updated",
  "activity.finished",
  "tool.card",
  "approval.request",
  "approval.closed",
  "client.tool.call",
  "client.tool.cancel",
  "run.finished"
] as const satisfies ReadonlyArray<EventName>
