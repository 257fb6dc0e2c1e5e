/**
 * What a session consists of: an append-only list of records. The model's view, the presentation history and the
 * recovery after a crash are all derived from it. The store holds what the model saw, raw arguments and results included.
 *
 * base-protocol sections 4 (history entry), 5 (required appends) and 6 (ending map).
 */
import type { ToolFailureCode } from "../protocol/ErrorCode.ts"
import type { Json, JsonObject } from "../protocol/Json.ts"

/** `unknown`: the process died while the call was in flight. */
export type ToolStatus = "success" | "failure" | "cancelled" | "interrupted" | "unknown"

/** Tokens, as the providers counted them. */
export interface TokenUsage {
  readonly input_tokens: number
  readonly output_tokens: number
}

/** A call as the model made it. */
export interface RecordedCall {
  /** Unique in the session. */
  readonly callKey: string
  /** The provider's own id of the call; only meaningful to the provider. */
  readonly providerCallId: string
  readonly name: string
  /** Strictly parsed arguments; `null` when they were not a JSON object by base-protocol section 1 (then `invalid` says why). */
  readonly arguments: JsonObject | null
  readonly invalid: string | null
}

/** The final state of a call, as the model sees it. Content is protected already. */
export interface RecordedOutcome {
  readonly success: boolean
  readonly text: string
  readonly structured?: Json
  readonly error: { readonly code: ToolFailureCode | "unknown"; readonly message: string } | null
}

interface Base {
  /** Unique in the session; shown as `entry_id`. */
  readonly entryId: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly runId: string
}

/** A prompt. */
export interface UserRecord extends Base {
  readonly kind: "user"
  readonly text: string
}

/** A response of the model: its text and the calls that it made. */
export interface AssistantRecord extends Base {
  readonly kind: "assistant"
  readonly text: string
  readonly calls: ReadonlyArray<RecordedCall>
}

/** Written before a call takes effect outside (for client calls: before it is published). */
export interface CallStartedRecord extends Base {
  readonly kind: "call_started"
  readonly callKey: string
  readonly name: string
  readonly taskId: string | null
  /** For calls made inside Code Mode: the `callKey` of the script's own call. Such calls have no place in the model's transcript. */
  readonly parentKey: string | null
}

/** At most one for each `callKey`: a constraint of the store. */
export interface CallOutcomeRecord extends Base {
  readonly kind: "call_outcome"
  readonly callKey: string
  readonly name: string
  readonly taskId: string | null
  readonly parentKey: string | null
  readonly status: ToolStatus
  readonly outcome: RecordedOutcome
  /** The final tool card (section 5), as it was sent or would have been. */
  readonly card: JsonObject | null
}

/** Something that a person should see in the history and the model does not. */
export interface NoticeRecord extends Base {
  readonly kind: "notice"
  readonly text: string
}

/** From here on the model sees `summary` in place of the records before `keepFrom` (an `entryId`). A recorded step; never splits a call from its result. */
export interface CompactionRecord extends Base {
  readonly kind: "compaction"
  readonly keepFrom: string | null
  readonly summary: string
  /** `callKey`s whose results the model now sees as `[cleared]`. */
  readonly clearedResults: ReadonlyArray<string>
}

/** The end of a run. */
export interface RunFinishedRecord extends Base {
  readonly kind: "run_finished"
  readonly status: "completed" | "failed" | "cancelled"
  readonly usage: TokenUsage | null
}

/** One record of a session. Records are appended and never changed. */
export type SessionRecord =
  | UserRecord
  | AssistantRecord
  | CallStartedRecord
  | CallOutcomeRecord
  | NoticeRecord
  | CompactionRecord
  | RunFinishedRecord

/** One private row for each call, for `magi-code trace`: no values. Times are monotonic milliseconds of one process. */
export interface CallTimeline {
  readonly callKey: string
  readonly callId: string | null
  readonly runId: string
  readonly activityId: string
  readonly parentActivityId: string | null
  readonly taskId: string | null
  readonly name: string
  readonly registeredMs: number | null
  readonly publishedMs: number | null
  readonly deadlineMs: number | null
  readonly settledMs: number
  /** Who ended the call: `reply`, `deadline`, `cancel`, `run_finished`, `shutdown`, or a failure code. */
  readonly winner: string
  readonly status: ToolStatus
}
