/**
 * Protected results: every string of a tool's text and structured value, keys included, is sanitized and redacted before
 * the model, the store or a hook sees it. What cannot be scanned in its time is rejected, never passed unscanned.
 *
 * base-protocol section 6, Redaction.
 */
import { Context, Data, type Effect } from "effect"
import type { Json } from "../protocol/Json.ts"

export interface ResultValue {
  readonly text: string
  /** Absent when there is none; an explicit `null` is a value. */
  readonly structured?: Json
}

/** Why a result is not protected. Carries no value of it. `path` is a JSON Pointer relative to the result. */
export class ResultRejected extends Data.TaggedError("ResultRejected")<{
  readonly rule: "collision" | "too_large" | "unscannable"
  readonly path: "/text" | "/structured"
  readonly message: string
}> {}

export interface ProtectedResultsShape {
  /**
   * Sanitizes and redacts. Rejects a result that is beyond `maxBytes` (UTF-8 bytes of the text plus compact bytes of the
   * structured value) before or afterwards, one in which two keys of an object become equal, and one that cannot be
   * scanned within 50 ms of CPU or 250 ms in all.
   */
  readonly protect: (value: ResultValue, maxBytes: number) => Effect.Effect<ResultValue, ResultRejected>
  /** The same for one text that people are shown (approval summaries, card lines, activity summaries): never fails, what cannot be scanned becomes `[redacted]`. */
  readonly maskText: (text: string) => Effect.Effect<string>
}

export class ProtectedResults extends Context.Service<ProtectedResults, ProtectedResultsShape>()(
  "magi-code/broker/ProtectedResults"
) {}
