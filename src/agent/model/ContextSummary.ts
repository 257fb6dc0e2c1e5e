/**
 * What stands for turns that were left out: who asked what, which tools were used and how they ended, what was answered.
 * Made of the records, without a model; contents of results are never in it, and what it quotes is marked as data.
 *
 * product section 2 (results stay untrusted through compaction).
 */
import { truncateText } from "../../protocol/CompactJson.ts"
import type { SessionRecord } from "../../store/SessionRecord.ts"

const PROMPT_BYTES = 600
const ANSWER_BYTES = 900

interface Turn {
  readonly prompts: Array<string>
  readonly tools: Map<string, { calls: number; failed: number }>
  answer: string
}

const line = (text: string, bytes: number): string => {
  const flat = text.replace(/\s+/gu, " ").trim()
  const cut = truncateText(flat, bytes)
  return cut.length < flat.length ? `${cut}…` : cut
}

const turnsOf = (records: ReadonlyArray<SessionRecord>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  let answered = true
  for (const record of records) {
    if (record.kind === "user") {
      if (answered) turns.push({ prompts: [], tools: new Map(), answer: "" })
      answered = false
      turns.at(-1)?.prompts.push(record.text)
    } else if (record.kind === "assistant") {
      answered = true
      const turn = turns.at(-1)
      if (turn && record.text.trim() !== "") turn.answer = record.text
    } else if (record.kind === "call_outcome" && record.parentKey === null) {
      const used = turns.at(-1)?.tools.get(record.name) ?? { calls: 0, failed: 0 }
      used.calls += 1
      if (!record.outcome.success) used.failed += 1
      turns.at(-1)?.tools.set(record.name, used)
    }
  }
  return turns
}

const toolsLine = (turn: Turn): ReadonlyArray<string> => {
  if (turn.tools.size === 0) return []
  const used = [...turn.tools].map(
    ([name, { calls, failed }]) => `${name} ×${calls}${failed === 0 ? "" : ` (${failed} failed)`}`
  )
  return [`  tools: ${line(used.join(", "), PROMPT_BYTES)}`]
}

const describe = (turn: Turn): string =>
  [
    ...turn.prompts.map((prompt) => `- user: ${line(prompt, PROMPT_BYTES)}`),
    ...toolsLine(turn),
    ...(turn.answer === "" ? [] : [`  agent: ${line(turn.answer, ANSWER_BYTES)}`])
  ].join("\n")

/**
 * The summary of the records before a cut. `midTurn`: the cut lies inside the last turn, whose prompts are then repeated in
 * full. At most about `maxCharacters` otherwise: the first turn and the latest ones stay.
 */
export const summarize = (
  before: ReadonlyArray<SessionRecord>,
  options: { readonly midTurn: boolean; readonly maxCharacters: number }
): string => {
  const turns = turnsOf(before)
  const current = options.midTurn ? turns.at(-1) : undefined
  const past = (current === undefined ? turns : turns.slice(0, -1)).map(describe)
  let room = options.maxCharacters - (past[0]?.length ?? 0)
  const latest: Array<string> = []
  for (let at = past.length - 1; at > 0; at--) {
    const text = past[at] ?? ""
    room -= text.length
    if (room < 0) break
    latest.unshift(text)
  }
  const left = Math.max(0, past.length - 1 - latest.length)
  return [
    ...past.slice(0, 1),
    ...(left === 0 ? [] : [`- (${left} more turns)`]),
    ...latest,
    ...(current === undefined
      ? []
      : [
          "The request being worked on, whose first steps are left out:",
          ...current.prompts,
          ...toolsLine(current).map((tools) => `So far,${tools}`)
        ])
  ].join("\n")
}
