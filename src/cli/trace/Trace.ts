/** The timeline of runs, whatever it was read from: one row for each activity and call. product section 1 (`trace`). */

export interface TraceRow {
  readonly id: string
  readonly parent: string | null
  readonly run: string
  /** `null`: the root agent. */
  readonly task: string | null
  readonly kind: string
  readonly name: string
  readonly callId: string | null
  /** Milliseconds since the trace begins; `null`: never, or not known. */
  readonly start: number
  readonly published: number | null
  readonly deadline: number | null
  readonly end: number | null
  readonly status: string
  /** Who ended it. */
  readonly winner: string | null
  /** What else was heard of the race: who came too late. */
  readonly also: ReadonlyArray<string>
}

export interface TraceRun {
  readonly id: string
  readonly start: number
  readonly end: number
  readonly status: string
}

export interface Trace {
  readonly source: string
  /** Of everything, in milliseconds. */
  readonly length: number
  readonly runs: ReadonlyArray<TraceRun>
  /** By run, then by agent in order of appearance, then by time. */
  readonly rows: ReadonlyArray<TraceRow>
  /** How many calls were pending from a moment on. */
  readonly slots: ReadonlyArray<readonly [at: number, pending: number]>
  readonly notes: ReadonlyArray<string>
}

/** Pending client calls over time: each holds a slot from its start to its end. */
const slotsOf = (rows: ReadonlyArray<TraceRow>, length: number): Trace["slots"] => {
  const changes = rows
    .filter(({ callId }) => callId !== null)
    .flatMap(({ end, start }) => [[start, 1] as const, [end ?? length, -1] as const])
    // A slot that is given up is free for the one that is taken at the same moment.
    .sort(([a, up], [b, other]) => a - b || up - other)
  const slots: Array<readonly [number, number]> = [[0, 0]]
  let pending = 0
  for (const [at, by] of changes) {
    pending += by
    if (slots.at(-1)?.[0] === at) slots.pop()
    slots.push([at, pending])
  }
  return slots
}

/** Puts rows in order and derives what follows from them. */
export const makeTrace = (of: {
  readonly source: string
  readonly runs: ReadonlyArray<TraceRun>
  readonly rows: ReadonlyArray<TraceRow>
  readonly notes: ReadonlyArray<string>
}): Trace => {
  let length = 0
  for (const { end } of of.runs) length = Math.max(length, end)
  for (const { end, start } of of.rows) length = Math.max(length, end ?? start)
  const runs = new Map(of.runs.map(({ id }, at) => [id, at]))
  const agents = new Map<string, number>()
  const agentOf = ({ run, task }: TraceRow) => JSON.stringify([run, task])
  for (const row of of.rows.filter(({ task }) => task === null)) agents.set(agentOf(row), 0)
  for (const row of of.rows) if (!agents.has(agentOf(row))) agents.set(agentOf(row), agents.size)
  const rows = [...of.rows].sort(
    (a, b) =>
      (runs.get(a.run) ?? 0) - (runs.get(b.run) ?? 0) ||
      (agents.get(agentOf(a)) ?? 0) - (agents.get(agentOf(b)) ?? 0) ||
      a.start - b.start
  )
  return { ...of, rows, length, slots: slotsOf(rows, length) }
}
