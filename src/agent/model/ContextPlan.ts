/**
 * Whether the next request fits into the model's context, and what to leave out where it does not: old results first, then
 * old turns, as one recorded step. Pure: the runner appends what it is told to, and asks with the records as they are then.
 *
 * product section 2 (context sizes, compaction), base-protocol section 5 (`context_limit`).
 */
import { stringify } from "../../protocol/CompactJson.ts"
import type { JsonObject } from "../../protocol/Json.ts"
import type { CompactionRecord, SessionRecord } from "../../store/SessionRecord.ts"
import { MESSAGE_TOKENS, tokensOf } from "./ContextEstimate.ts"
import { summarize } from "./ContextSummary.ts"
import { CLEARED_TOKENS, itemTokens, type View, view } from "./ContextView.ts"
import type { ModelFailure, ModelHandle } from "./Models.ts"
import { failure } from "./ProviderFailure.ts"

export interface PlanExtra {
  readonly system: string
  readonly tools: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly inputSchema: JsonObject
  }>
  /** The provider refused the same records as too long (`context_limit`): less than was estimated must go. */
  readonly overrun?: boolean
}

/** What a `CompactionRecord` says. It is complete in itself: it replaces every earlier one. */
export type Compaction = Pick<CompactionRecord, "keepFrom" | "summary" | "clearedResults">

export type Plan =
  | { readonly _tag: "Keep" }
  /** To be appended before the request; then the records fit. */
  | { readonly _tag: "Compact"; readonly compaction: Compaction }
  | { readonly _tag: "ContextLimit"; readonly failure: ModelFailure }

/** Of the budget: a compaction goes down to here, so that the next ones are not needed at once. */
const TARGET = 0.7
/** Of the context beyond the response: the estimate is one. */
const CERTAIN = 0.95
/** Of what was sent, when the provider found it too long. */
const OVERRUN = 0.6
/** Of the budget, for a summary; and never more characters than this. */
const SUMMARY_SHARE = 0.125
const SUMMARY_CHARACTERS = 16_384

/** Tokens that every request has: the system prompt and the tools. */
const fixedTokens = (extra: PlanExtra): number =>
  extra.tools.reduce(
    (tokens, { name, description, inputSchema }) =>
      tokens + MESSAGE_TOKENS + tokensOf(name) + tokensOf(description) + tokensOf(stringify(inputSchema)),
    MESSAGE_TOKENS + tokensOf(extra.system)
  )

const summaryTokens = (summary: string): number => (summary === "" ? 0 : MESSAGE_TOKENS + 40 + tokensOf(summary))

const total = (seen: View, cleared: ReadonlySet<string>): number =>
  seen.items.reduce((tokens, item) => tokens + itemTokens(item, cleared), summaryTokens(seen.summary))

/** The estimate of the request that these records make. */
export const estimate = (records: ReadonlyArray<SessionRecord>, extra: PlanExtra): number => {
  const seen = view(records)
  return fixedTokens(extra) + total(seen, seen.cleared)
}

/** Results are old once a later message follows them: the last response's have not been seen yet. */
const oldResults = (seen: View) => seen.items.slice(0, -1).flatMap((item) => item.results)

/** Clears old results, the oldest first, until `target` is reached or none is left. */
const clearing = (seen: View, fixed: number, target: number): ReadonlySet<string> => {
  const cleared = new Set(seen.cleared)
  let tokens = fixed + total(seen, cleared)
  for (const result of oldResults(seen)) {
    if (tokens <= target) break
    if (cleared.has(result.callKey) || result.tokens <= CLEARED_TOKENS) continue
    cleared.add(result.callKey)
    tokens -= result.tokens - CLEARED_TOKENS
  }
  return cleared
}

interface Cut {
  readonly compaction: Compaction
  readonly tokens: number
  readonly wholeTurns: boolean
}

/** Every place where what comes before may be left out, the least first. A call and its results are one item. */
const cuts = (
  records: ReadonlyArray<SessionRecord>,
  seen: View,
  cleared: ReadonlySet<string>,
  sizes: { readonly fixed: number; readonly budget: number }
): ReadonlyArray<Cut> =>
  seen.items.slice(1).flatMap((item, at): ReadonlyArray<Cut> => {
    const previous = seen.items[at]
    // Several messages of the user in a row begin one turn: they stay together.
    if (!item.beginsTurn && previous?.results.length === 0) return []
    const kept = seen.items.slice(at + 1)
    const results = new Set(kept.flatMap((one) => one.results.map((result) => result.callKey)))
    const summary = summarize(
      records.slice(
        0,
        records.findIndex((one) => one.entryId === item.entryId)
      ),
      {
        midTurn: !item.beginsTurn,
        maxCharacters: Math.min(SUMMARY_CHARACTERS, Math.floor(sizes.budget * SUMMARY_SHARE * 3))
      }
    )
    const tokens = kept.reduce((sum, one) => sum + itemTokens(one, cleared), sizes.fixed + summaryTokens(summary))
    const clearedResults = [...cleared].filter((key) => results.has(key))
    return [{ compaction: { keepFrom: item.entryId, summary, clearedResults }, tokens, wholeTurns: item.beginsTurn }]
  })

/** What to do before the next request. `records` are all of the session, from its beginning. */
export const plan = (
  records: ReadonlyArray<SessionRecord>,
  handle: Pick<ModelHandle, "provider" | "model" | "contextTokens" | "maxOutputTokens">,
  extra: PlanExtra
): Plan => {
  const seen = view(records)
  const fixed = fixedTokens(extra)
  const now = fixed + total(seen, seen.cleared)
  const room = handle.contextTokens - Math.min(handle.maxOutputTokens, handle.contextTokens / 2)
  const own = Math.floor(room * CERTAIN)
  const budget = extra.overrun ? Math.floor(Math.min(own, now) * OVERRUN) : own
  if (now <= budget) return { _tag: "Keep" }

  const target = Math.floor(budget * TARGET)
  const cleared = clearing(seen, fixed, target)
  const first = seen.items[0]
  if (first !== undefined && fixed + total(seen, cleared) <= budget) {
    const compaction = { keepFrom: first.entryId, summary: seen.summary, clearedResults: [...cleared] }
    return { _tag: "Compact", compaction }
  }

  const possible = cuts(records, seen, cleared, { fixed, budget })
  const cut =
    possible.find((one) => one.wholeTurns && one.tokens <= target) ??
    possible.find((one) => one.wholeTurns && one.tokens <= budget) ??
    possible.find((one) => one.tokens <= target) ??
    possible.find((one) => one.tokens <= budget)
  if (cut !== undefined) return { _tag: "Compact", compaction: cut.compaction }
  const message =
    `the request needs about ${now} tokens, more than the ${budget} that model "${handle.model}" of provider ` +
    `"${handle.provider}" leaves for it, and nothing more can be left out`
  return { _tag: "ContextLimit", failure: failure("context_limit", message) }
}
