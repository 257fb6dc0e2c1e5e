/** The timeline as text. */
import { columns, plain } from "../help/Terminal.ts"
import type { Trace, TraceRow } from "./Trace.ts"

export const millis = (at: number | null): string => (at === null ? "-" : at.toFixed(at < 100 ? 1 : 0))

const outcome = ({ also, status, winner }: TraceRow): string =>
  `${status}${winner === null ? "" : `, won by ${winner}`}${also.length === 0 ? "" : ` (too late: ${also.join(", ")})`}`

/** How deep a row stands under others; a circle in a damaged file ends the count. */
const depthOf = (row: TraceRow, byId: ReadonlyMap<string, TraceRow>): number => {
  let depth = 0
  for (let at = row; at.parent !== null && depth < 8; depth += 1) {
    const next = byId.get(at.parent)
    if (next === undefined) break
    at = next
  }
  return depth
}

export const textTable = (trace: Trace): string => {
  const byId = new Map(trace.rows.map((row) => [row.id, row]))
  // As the page numbers them: their ids are too long for a row.
  const tasks = [...new Set(trace.rows.flatMap(({ task }) => (task === null ? [] : [task])))]
  const most = trace.slots.reduce((max, [, pending]) => Math.max(max, pending), 0)
  const parts = [
    `${plain(trace.source)}: ${trace.rows.length} rows, ${millis(trace.length)} ms, at most ${most} calls pending\n`
  ]
  for (const note of trace.notes) parts.push(`(${plain(note)})\n`)
  for (const run of trace.runs) {
    // A session keeps the times of calls alone: a run without any has none.
    const took = run.end > run.start ? `, ${millis(run.end - run.start)} ms` : ""
    parts.push(`\nrun ${plain(run.id)}: ${plain(run.status)}${took}\n`)
    const rows = trace.rows.filter((row) => row.run === run.id)
    if (rows.length === 0) parts.push("  no tools were called\n")
    else {
      const cells = rows.map((row) => [
        millis(row.start),
        millis(row.end),
        row.end === null ? "-" : millis(row.end - row.start),
        millis(row.deadline),
        row.task === null ? "main" : `subagent ${tasks.indexOf(row.task) + 1}`,
        `${"  ".repeat(depthOf(row, byId))}${plain(row.name)}`,
        plain(outcome(row))
      ])
      const head = ["START", "END", "TOOK", "DEADLINE", "AGENT", "NAME", "OUTCOME"]
      parts.push(columns([head, ...cells], new Set([0, 1, 2, 3])))
    }
  }
  return parts.join("")
}
