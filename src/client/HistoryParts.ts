/**
 * Entries of the history as a reader wants them: the parts of one text joined, each kind with its own members.
 * base-protocol section 4, `history.page`. Pure; what it holds is one text at most, and that is bounded.
 */
import type { CardData } from "../protocol/Event.ts"
import type { HistoryEntry } from "../protocol/MethodResult.ts"

interface ItemBase {
  readonly entry_id: string
  /** ISO 8601. */
  readonly created_at: string
  /** The task whose session this is; `null` in a top-level session. */
  readonly task_id: string | null
}

/** What a user, a model or the agent itself said. */
export interface HistoryText extends ItemBase {
  readonly kind: "user" | "assistant" | "notice"
  readonly text: string
  /**
   * False: the text is longer than 64 parts (1 MiB), and the next item, of the same `entry_id`, goes on with it. Nothing is
   * ever cut.
   */
  readonly complete: boolean
}

/** A call of a tool, without its arguments and its result: those are never in the history. */
export interface HistoryTool extends ItemBase {
  readonly kind: "tool"
  readonly name: string
  /** `unknown`: the process died while the call was in flight; it was not repeated. */
  readonly status: NonNullable<HistoryEntry["tool"]>["status"]
  /** Its last card; absent unless `cards` was negotiated. */
  readonly card?: CardData | null
}

/** One entry of a session's history. */
export type HistoryItem = HistoryText | HistoryTool

/** Parts of 16384 bytes at most that are joined into one text: 1 MiB. */
const MOST_JOINED = 64

/** Joins parts as the pages bring them. A fault says, without values, how the entries break the protocol. */
export class HistoryParts {
  #open: { readonly entry: HistoryEntry; readonly texts: Array<string> } | undefined
  /** The part of the open entry that comes next. */
  #next = 0

  /** The items that these entries complete, or what is wrong with them. */
  push(entries: ReadonlyArray<HistoryEntry>): ReadonlyArray<HistoryItem> | string {
    const items: Array<HistoryItem> = []
    for (const entry of entries) {
      const item = this.#take(entry)
      if (typeof item === "string") return item
      if (item !== undefined) items.push(item)
    }
    return items
  }

  /** What is wrong when no page follows. */
  end(): string | undefined {
    return this.#open === undefined ? undefined : "the history ends inside an entry"
  }

  #take(entry: HistoryEntry): HistoryItem | string | undefined {
    const before = this.#open
    if (before !== undefined && before.entry.entry_id !== entry.entry_id)
      return "the parts of an entry are not together"
    if (entry.part !== (before === undefined ? 0 : this.#next) || entry.part >= entry.parts) {
      return "the parts of an entry are not in order"
    }
    if (before !== undefined && before.entry.parts !== entry.parts) return "an entry has two numbers of parts"
    if (entry.kind === "tool") return toolOf(entry)
    const texts = before?.texts ?? []
    texts.push(entry.text)
    this.#next = entry.part + 1
    const complete = this.#next === entry.parts
    this.#open = complete ? undefined : { entry, texts: texts.length === MOST_JOINED ? [] : texts }
    return complete || texts.length === MOST_JOINED ? textOf(entry, entry.kind, texts.join(""), complete) : undefined
  }
}

const base = ({ created_at, entry_id, task_id }: HistoryEntry): ItemBase => ({ entry_id, created_at, task_id })

const textOf = (entry: HistoryEntry, kind: HistoryText["kind"], text: string, complete: boolean): HistoryText => ({
  kind,
  ...base(entry),
  text,
  complete
})

const toolOf = (entry: HistoryEntry): HistoryTool | string => {
  const { parts, tool, tool_card } = entry
  if (tool === undefined || parts !== 1) return "an entry of a tool is not one part with its tool"
  return { kind: "tool", ...base(entry), ...tool, ...(tool_card === undefined ? {} : { card: tool_card }) }
}
