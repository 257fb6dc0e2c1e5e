/**
 * The presentation history of a session: what `history.page` shows of its records. Raw arguments and results never
 * enter it. base-protocol section 4, "History entry".
 */
import { Buffer } from "node:buffer"
import { depth, splitText, truncateText } from "../protocol/CompactJson.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { CARD_TITLE_BYTES, HISTORY_TEXT_BYTES, Limits } from "../protocol/Limits.ts"
import type { CallOutcomeRecord, SessionRecord } from "./SessionRecord.ts"
import type { HistoryEntry } from "./SessionStore.ts"

/** A card deeper than this would not fit into the depth of a response frame; ours have two levels. */
const CARD_DEPTH = 8

/** Compact bytes of the brackets round the entries. */
const ARRAY_BYTES = 2

export interface EntryOptions {
  /** The task of a delegated session, which its messages belong to; `null` in a top-level one. */
  readonly taskId: string | null
  /** `tool.cards` is negotiated: each entry then has a `tool_card`, `null` where it is no tool's. */
  readonly cards: boolean
}

/** No character needs more compact bytes than a control's escape, so a short text is one part without counting. */
const WORST_CHARACTER_BYTES = 6

const partsOf = (text: string): ReadonlyArray<string> =>
  text.length * WORST_CHARACTER_BYTES <= HISTORY_TEXT_BYTES ? [text] : splitText(text, HISTORY_TEXT_BYTES)

const textEntries = (
  record: Extract<SessionRecord, { readonly kind: "user" | "assistant" | "notice" }>,
  options: EntryOptions
): ReadonlyArray<HistoryEntry> =>
  partsOf(record.text).map((text, part, all) => ({
    entry_id: record.entryId,
    kind: record.kind,
    created_at: record.createdAt,
    text,
    part,
    parts: all.length,
    task_id: options.taskId,
    ...(options.cards ? { tool_card: null } : {})
  }))

const presentable = (card: JsonObject | null): JsonObject | null =>
  card !== null && depth(card) <= CARD_DEPTH ? card : null

/**
 * The entries of one record, one for each part of its text. None for records that are only for the model or for
 * recovery, nor for a response that consists of calls alone: its calls have entries of their own.
 */
export const entriesOf = (record: SessionRecord, options: EntryOptions): ReadonlyArray<HistoryEntry> => {
  switch (record.kind) {
    case "assistant":
      return record.text === "" && record.calls.length > 0 ? [] : textEntries(record, options)
    case "user":
    case "notice":
      return textEntries(record, options)
    case "call_outcome":
      return [
        {
          entry_id: record.entryId,
          kind: "tool",
          created_at: record.createdAt,
          text: "",
          part: 0,
          parts: 1,
          // A model may have made the name up, of any length: shown as the events showed it, or no page could hold it.
          tool: { name: truncateText(record.name.toWellFormed(), CARD_TITLE_BYTES), status: record.status },
          task_id: record.taskId,
          ...(options.cards ? { tool_card: presentable(record.card) } : {})
        }
      ]
    default:
      return []
  }
}

/** How many entries a record adds to `entry_count`. */
export const entryCountOf = (record: SessionRecord): number => entriesOf(record, { taskId: null, cards: false }).length

/** A record, or a response together with the outcomes of its calls: what is shown in one piece. */
export interface EntrySource {
  /** Of its first record. */
  readonly seq: number
  readonly entries: ReadonlyArray<HistoryEntry>
}

/** Where a page begins: the source's sequence number and the place among its entries. */
export interface EntryPosition {
  readonly seq: number
  readonly place: number
}

export interface StoredRecord {
  readonly seq: number
  readonly record: SessionRecord
}

/**
 * Outcomes are stored as they happen and shown in the order of the calls: a person reads what the model asked for, and the
 * same history twice reads the same. What a script called stands before the script's own entry, as it happened.
 */
export function* entrySources(records: Iterable<StoredRecord>, options: EntryOptions): Generator<EntrySource> {
  let open: { readonly seq: number; readonly first: ReadonlyArray<HistoryEntry>; readonly calls: CallOrder } | undefined
  for (const { record, seq } of records) {
    if (open !== undefined && record.kind === "call_outcome") {
      open.calls.add(record)
      continue
    }
    const entries = entriesOf(record, options)
    if (record.kind === "assistant") {
      if (open !== undefined) yield { seq: open.seq, entries: [...open.first, ...open.calls.entries(options)] }
      open = { seq, first: entries, calls: new CallOrder(record.calls.map((call) => call.callKey)) }
    } else if (entries.length > 0) {
      if (open !== undefined) yield { seq: open.seq, entries: [...open.first, ...open.calls.entries(options)] }
      open = undefined
      yield { seq, entries }
    }
  }
  if (open !== undefined) yield { seq: open.seq, entries: [...open.first, ...open.calls.entries(options)] }
}

/** The outcomes of one response's calls, brought into the order of the calls. */
class CallOrder {
  readonly #keys: ReadonlyArray<string>
  readonly #outcomes: Array<CallOutcomeRecord> = []

  constructor(keys: ReadonlyArray<string>) {
    this.#keys = keys
  }

  add(outcome: CallOutcomeRecord): void {
    this.#outcomes.push(outcome)
  }

  entries(options: EntryOptions): ReadonlyArray<HistoryEntry> {
    const place = (outcome: CallOutcomeRecord): number => {
      const at = this.#keys.indexOf(outcome.parentKey ?? outcome.callKey)
      return at === -1 ? this.#keys.length : at
    }
    // Sorting is stable: what belongs to one call stays as it happened.
    return this.#outcomes.toSorted((a, b) => place(a) - place(b)).flatMap((outcome) => entriesOf(outcome, options))
  }
}

/** `null`: not a cursor of ours. */
export const parseCursor = (cursor: string | null): EntryPosition | null => {
  if (cursor === null) return { seq: 0, place: 0 }
  const match = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor)
  return match === null ? null : { seq: Number(match[1]), place: Number(match[2]) }
}

const byteLength = (entry: HistoryEntry): number => Buffer.byteLength(JSON.stringify(entry))

const fitting = (entry: HistoryEntry): HistoryEntry =>
  entry.tool_card != null && byteLength(entry) + ARRAY_BYTES > Limits.page_bytes ? { ...entry, tool_card: null } : entry

/**
 * Fills one page: at most `limit` entries and 32768 compact bytes of the array. `source` yields them in order from
 * `start`. The cursor points at the first entry that did not go in.
 */
export const fillPage = (
  source: Iterable<EntrySource>,
  start: EntryPosition,
  limit: number
): { readonly entries: ReadonlyArray<HistoryEntry>; readonly cursor: string | null } => {
  const entries: Array<HistoryEntry> = []
  let bytes = ARRAY_BYTES
  for (const record of source) {
    const first = record.seq === start.seq ? start.place : 0
    for (const [offset, whole] of record.entries.slice(first).entries()) {
      const entry = fitting(whole)
      bytes += byteLength(entry) + (entries.length === 0 ? 0 : 1)
      if (entries.length === limit || (entries.length > 0 && bytes > Limits.page_bytes)) {
        return { entries, cursor: `${record.seq}.${first + offset}` }
      }
      entries.push(entry)
    }
  }
  return { entries, cursor: null }
}
