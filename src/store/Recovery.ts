/**
 * What the death of a process left open. Each call that was made or started and has no outcome gets exactly one, with
 * the status `unknown`: it may or may not have taken effect, and it is never replayed. Once these are recorded there is
 * nothing left to recover, so opening a session again changes nothing. base-protocol sections 4, 5 and 6.
 */
import { truncateText } from "../protocol/CompactJson.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { CARD_TITLE_BYTES } from "../protocol/Limits.ts"
import type { CallOutcomeRecord, RecordedOutcome, SessionRecord } from "./SessionRecord.ts"

interface OpenCall {
  readonly callKey: string
  readonly runId: string
  readonly name: string
  readonly taskId: string | null
  readonly parentKey: string | null
}

const unknownOutcome: RecordedOutcome = {
  success: false,
  text: "",
  error: {
    code: "unknown",
    message: "The agent stopped while this call was in flight. Whether it took effect is unknown; it was not repeated."
  }
}

const cardOf = (name: string, id: string): JsonObject => ({
  schema_version: 1,
  card_id: id,
  revision: 1,
  activity_id: id,
  parent_card_id: null,
  role: "generic",
  title: truncateText(name, CARD_TITLE_BYTES),
  state: "finished",
  outcome: "unknown",
  lines: []
})

/** Calls without an outcome, in the order in which they were made. `taskId`: the delegated session's own, else `null`. */
const openCalls = (records: Iterable<SessionRecord>, taskId: string | null): ReadonlyArray<OpenCall> => {
  const open = new Map<string, OpenCall>()
  const settled = new Set<string>()
  for (const record of records) {
    if (record.kind === "assistant") {
      for (const call of record.calls) {
        open.set(call.callKey, {
          callKey: call.callKey,
          runId: record.runId,
          name: call.name,
          taskId,
          parentKey: null
        })
      }
    } else if (record.kind === "call_started") {
      open.set(record.callKey, record)
    } else if (record.kind === "call_outcome") {
      settled.add(record.callKey)
    }
  }
  return [...open.values()].filter((call) => !settled.has(call.callKey))
}

/** The outcomes to append before a session is used again; empty for one that was left in order. */
export const recover = (
  records: Iterable<SessionRecord>,
  options: { readonly taskId: string | null; readonly now: string; readonly freshId: () => string }
): ReadonlyArray<CallOutcomeRecord> =>
  openCalls(records, options.taskId).map((call) => ({
    kind: "call_outcome",
    entryId: options.freshId(),
    createdAt: options.now,
    runId: call.runId,
    callKey: call.callKey,
    name: call.name,
    taskId: call.taskId,
    parentKey: call.parentKey,
    status: "unknown",
    outcome: unknownOutcome,
    card: cardOf(call.name, options.freshId())
  }))
