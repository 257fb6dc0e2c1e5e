/**
 * What the model still sees of a session's records, with its size: the last compaction is the whole truth about what came
 * before it (its summary, where the rest begins, which results are cleared).
 *
 * base-protocol section 6 (results), product section 2 (compaction never splits a call from its result).
 */
import { stringify } from "../../protocol/CompactJson.ts"
import type {
  AssistantRecord,
  CompactionRecord,
  RecordedOutcome,
  SessionRecord,
  UserRecord
} from "../../store/SessionRecord.ts"
import { CALL_TOKENS, MESSAGE_TOKENS, tokensOf } from "./ContextEstimate.ts"

/** What a cleared result still costs. */
export const CLEARED_TOKENS = CALL_TOKENS + 8

export interface ViewResult {
  readonly callKey: string
  /** Its size while it is not cleared. */
  readonly tokens: number
}

/** A message of the user, or a response with its calls and all their results. The unit that is kept or left out. */
export interface ViewItem {
  readonly entryId: string
  /** True for the message that begins a turn. */
  readonly beginsTurn: boolean
  /** Without results. */
  readonly tokens: number
  readonly results: ReadonlyArray<ViewResult>
}

export interface View {
  /** `""` when nothing was left out yet. */
  readonly summary: string
  readonly items: ReadonlyArray<ViewItem>
  readonly cleared: ReadonlySet<string>
}

const outcomeTokens = (outcome: RecordedOutcome | undefined): number => {
  if (outcome === undefined) return CALL_TOKENS + 32
  const content = outcome.structured === undefined ? outcome.text : stringify(outcome.structured)
  return CALL_TOKENS + 16 + tokensOf(content) + tokensOf(outcome.error?.message ?? "")
}

const userItem = (record: UserRecord, beginsTurn: boolean): ViewItem => ({
  entryId: record.entryId,
  beginsTurn,
  tokens: MESSAGE_TOKENS + tokensOf(record.text),
  results: []
})

const assistantItem = (record: AssistantRecord, outcomes: ReadonlyMap<string, RecordedOutcome>): ViewItem => ({
  entryId: record.entryId,
  beginsTurn: false,
  tokens: record.calls.reduce(
    (tokens, call) => tokens + CALL_TOKENS + tokensOf(call.name) + tokensOf(stringify(call.arguments ?? {})),
    MESSAGE_TOKENS + tokensOf(record.text)
  ),
  results: record.calls.map((call) => ({ callKey: call.callKey, tokens: outcomeTokens(outcomes.get(call.callKey)) }))
})

/** The records that a compaction leaves: from the one it names. */
const kept = (
  records: ReadonlyArray<SessionRecord>,
  compaction: CompactionRecord | undefined
): ReadonlyArray<SessionRecord> => {
  if (compaction === undefined) return records
  const from = records.findIndex((record) => record.entryId === compaction.keepFrom)
  return records.slice(from === -1 ? records.indexOf(compaction) : from)
}

/** The view that the next request would have. */
export const view = (records: ReadonlyArray<SessionRecord>): View => {
  const compaction = records.findLast((record) => record.kind === "compaction")
  const outcomes = new Map<string, RecordedOutcome>()
  for (const record of records) if (record.kind === "call_outcome") outcomes.set(record.callKey, record.outcome)
  const items: Array<ViewItem> = []
  let afterUser = false
  for (const record of kept(records, compaction)) {
    if (record.kind !== "user" && record.kind !== "assistant") continue
    items.push(record.kind === "user" ? userItem(record, !afterUser) : assistantItem(record, outcomes))
    afterUser = record.kind === "user"
  }
  return { summary: compaction?.summary ?? "", items, cleared: new Set(compaction?.clearedResults) }
}

/** Tokens of an item, with the results in `cleared` left out. */
export const itemTokens = (item: ViewItem, cleared: ReadonlySet<string>): number =>
  item.results.reduce(
    (tokens, result) => tokens + (cleared.has(result.callKey) ? CLEARED_TOKENS : result.tokens),
    item.tokens
  )
