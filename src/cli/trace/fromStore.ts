/** The timeline of a stored session: its private rows, and from its records what has no row. */
import type { CallTimeline } from "../../store/SessionRecord.ts"
import type { ExportedSession } from "../../store/StoredSessions.ts"
import { makeTrace, type Trace, type TraceRow, type TraceRun } from "./Trace.ts"

/** Between two runs: how long nobody asked anything is of no interest, and clocks of two processes do not compare. */
const GAP_MS = 50

const began = (row: CallTimeline): number => row.registeredMs ?? row.publishedMs ?? row.settledMs

export const fromStore = (session: ExportedSession): Trace => {
  const runIds = [...new Set([...session.records, ...session.timeline].map(({ runId }) => runId))]
  const finished = new Map(
    session.records.flatMap((record) => (record.kind === "run_finished" ? [[record.runId, record.status]] : []))
  )
  const parents = new Map(session.timeline.map((row) => [row.activityId, row.callKey]))
  const runs: Array<TraceRun> = []
  const rows: Array<TraceRow> = []
  let offset = 0
  let timeless = 0
  for (const run of runIds) {
    const timed = session.timeline.filter(({ runId }) => runId === run)
    const zero = Math.min(...timed.map(began), Number.POSITIVE_INFINITY)
    const at = (millis: number | null) => (millis === null ? null : millis - zero + offset)
    for (const row of timed) {
      rows.push({
        id: row.callKey,
        parent: row.parentActivityId === null ? null : (parents.get(row.parentActivityId) ?? null),
        run,
        task: row.taskId,
        kind: row.callId === null ? "tool" : "client call",
        name: row.name,
        callId: row.callId,
        start: began(row) - zero + offset,
        published: at(row.publishedMs),
        deadline: at(row.deadlineMs),
        end: at(row.settledMs),
        status: row.status,
        winner: row.winner,
        also: []
      })
    }
    const known = new Set(timed.map(({ callKey }) => callKey))
    const end = offset + (timed.length === 0 ? 0 : Math.max(...timed.map(({ settledMs }) => settledMs)) - zero)
    // A process that died, or a row that could not be written: the outcome is known, its times are not.
    for (const record of session.records) {
      if (record.kind !== "call_outcome" || record.runId !== run || known.has(record.callKey)) continue
      timeless += 1
      rows.push({
        id: record.callKey,
        parent: record.parentKey,
        run,
        task: record.taskId,
        kind: "tool",
        name: record.name,
        callId: null,
        start: offset,
        published: null,
        deadline: null,
        end: null,
        status: record.status,
        winner: record.outcome.error?.code ?? null,
        also: []
      })
    }
    runs.push({ id: run, start: offset, end, status: finished.get(run) ?? "not finished" })
    offset = end + GAP_MS
  }
  const notes = [
    "a session keeps the times of calls: a run lasts here from the start of its first to the end of its last",
    ...(runs.length > 1 ? ["the runs stand one after the other; the time between them is left out"] : []),
    ...(timeless > 0 ? [`${timeless} calls have an outcome but no times: the process ended before they were kept`] : [])
  ]
  return makeTrace({ source: `session ${session.session.id}`, runs, rows, notes })
}
