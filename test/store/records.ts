/** Session records for tests. */
import type {
  AssistantRecord,
  CallOutcomeRecord,
  CallStartedRecord,
  NoticeRecord,
  SessionRecord,
  UserRecord
} from "../../src/store/SessionRecord.ts"

let made = 0

/** Entry ids that no other record of this process has. */
const base = (runId: string) => ({
  entryId: `e${process.pid}-${++made}`,
  createdAt: new Date().toISOString(),
  runId
})

export const user = (text: string, runId = "r1"): UserRecord => ({ kind: "user", text, ...base(runId) })

export const notice = (text: string, runId = "r1"): NoticeRecord => ({ kind: "notice", text, ...base(runId) })

export const assistant = (text: string, callKeys: ReadonlyArray<string> = [], runId = "r1"): AssistantRecord => ({
  kind: "assistant",
  text,
  calls: callKeys.map((callKey) => ({
    callKey,
    providerCallId: `p-${callKey}`,
    name: "client__a",
    arguments: { q: "SENTINEL" },
    invalid: null
  })),
  ...base(runId)
})

export const started = (callKey: string, runId = "r1"): CallStartedRecord => ({
  kind: "call_started",
  callKey,
  name: "client__a",
  taskId: null,
  parentKey: null,
  ...base(runId)
})

export const outcome = (callKey: string, runId = "r1"): CallOutcomeRecord => ({
  kind: "call_outcome",
  callKey,
  name: "client__a",
  taskId: null,
  parentKey: null,
  status: "success",
  outcome: { success: true, text: "SENTINEL", error: null },
  card: null,
  ...base(runId)
})

/** A whole turn with one call. */
export const turn = (callKey: string, runId = "r1"): ReadonlyArray<SessionRecord> => [
  user("question", runId),
  assistant("", [callKey], runId),
  started(callKey, runId),
  outcome(callKey, runId),
  assistant("answer", [], runId)
]
