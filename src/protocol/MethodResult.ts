/**
 * Results of the methods. Type aliases, so that each is assignable to `JsonObject`; members in the order of the wire.
 *
 * base-protocol section 4; the result of `initialize` is in `Initialize`.
 */
import type { CardData } from "./Event.ts"

/** The request is taken; what comes of it is told by events. */
export type Accepted = { readonly accepted: true }

/** The selected model; `revision` is what `selection.set` must name to change it. */
export type Selection = {
  readonly provider: string
  readonly model: string
  readonly revision: string
}

/** Where the agent stands (`status`), answered in every state but while it closes. */
export type StatusResult = {
  readonly state: "new" | "initializing" | "ready" | "failed" | "closing"
  readonly instance_id: string
  readonly session_id: string | null
  readonly durable: boolean
  readonly run_id: string | null
  readonly history_revision: string | null
  readonly selection: Selection | null
  readonly pending_approvals: number
  readonly pending_client_calls: number
  readonly requests_used: number
}

/** A new session (`session.create`); nothing of it is on disk yet. */
export type SessionCreated = {
  readonly session_id: string
  readonly durable: false
  readonly history_revision: string
}

/** A stored session (`session.open`). */
export type SessionOpened = {
  readonly session_id: string
  readonly durable: true
  readonly history_revision: string
  readonly title: string | null
}

/** A stored session in the list; `updated_at` is ISO 8601. */
export type SessionEntry = {
  readonly session_id: string
  readonly title: string | null
  readonly updated_at: string
  readonly entry_count: number
}

/** Newest first, this workspace only. */
export type SessionListed = {
  readonly entries: ReadonlyArray<SessionEntry>
  readonly revision: string
  readonly cursor: string | null
  readonly complete: boolean
}

/** A model that can be selected. */
export type ModelEntry = { readonly provider: string; readonly model: string }

/** The models that the settings offer, in their order (`model.catalog`). */
export type ModelCatalog = {
  readonly entries: ReadonlyArray<ModelEntry>
  readonly revision: string
}

/** The new selection, stored (`selection.set`). */
export type SelectionSet = { readonly selection: Selection; readonly durable: true }

/** One part of an entry of the history. A long text is split into `parts` of at most 16384 bytes, and never cut. */
export type HistoryEntry = {
  readonly entry_id: string
  readonly kind: "user" | "assistant" | "tool" | "notice"
  /** ISO 8601. */
  readonly created_at: string
  /** At most `HISTORY_TEXT_BYTES`; empty for a tool entry. */
  readonly text: string
  /** Counts from 0. */
  readonly part: number
  readonly parts: number
  /** Kind `tool` only. */
  readonly tool?: {
    readonly name: string
    readonly status: "success" | "failure" | "cancelled" | "interrupted" | "unknown"
  }
  readonly task_id: string | null
  /** Negotiated with `tool.cards` only. */
  readonly tool_card?: CardData | null
}

/** A page of the history (`history.page`). `cursor` asks for the next one; null when `complete`. */
export type HistoryPage = {
  readonly session_id: string
  readonly revision: string
  readonly entries: ReadonlyArray<HistoryEntry>
  readonly cursor: string | null
  readonly complete: boolean
}

/** The run is started (`turn.start`). Its events follow, `run.finished` last. */
export type TurnStarted = { readonly run_id: string; readonly accepted: true }
