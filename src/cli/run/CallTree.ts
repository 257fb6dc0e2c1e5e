/**
 * What tools are doing, from the events of a run: a row for each activity and call, those of subagents and scripts under the
 * one that they belong to. product section 1 (`run`: name, elapsed time against its deadline, outcome).
 */

import type { TurnEvent } from "../../client/TurnEvents.ts"
import type { ActivityStarted } from "../../protocol/Event.ts"

/** How a row ended. */
export interface Ending {
  readonly as: "good" | "bad" | "cancelled"
  /** `success`, `error`, `cancelled (timeout)`, … */
  readonly outcome: string
  readonly elapsedMs: number
}

export interface Row {
  readonly name: string
  /** How many rows it stands under. */
  readonly depth: number
  /** Monotonic nanoseconds. */
  readonly since: bigint
  /** Milliseconds; `undefined` for what has no deadline that is known here. */
  readonly timeoutMs: number | undefined
  /** The agent has begun it but not called the client yet. */
  readonly waits: boolean
  readonly ending: Ending | undefined
  readonly children: ReadonlyArray<Row>
}

type OpenRow = { -readonly [Key in keyof Row]: Row[Key] } & {
  readonly children: Array<OpenRow>
  readonly taskId: string | null
}

export type Change =
  | { readonly _tag: "Began" | "Ended"; readonly row: Row }
  /** The reply was sent, but something else had ended the call already. */
  | { readonly _tag: "Overruled"; readonly row: Row; readonly outcome: string }

const CLIENT = "client__"

/** Follows a run. */
export class CallTree {
  readonly #roots: Array<OpenRow> = []
  readonly #activities = new Map<string, OpenRow>()
  readonly #calls = new Map<string, OpenRow>()
  #subagents = 0

  /** What stands under nothing and was not taken away, oldest first. */
  get roots(): ReadonlyArray<Row> {
    return this.#roots
  }

  /** Takes away the roots that are over, with all that is under them. */
  takeEnded(): ReadonlyArray<Row> {
    const ended = this.#roots.filter(isOver)
    for (const root of ended) this.#roots.splice(this.#roots.indexOf(root), 1)
    return ended
  }

  /** Takes an event; tells what it changed. */
  take(event: TurnEvent): Change | undefined {
    if (event._tag === "Reply") {
      return this.#end(
        this.#calls.get(event.callId),
        event.at,
        event.status === "success" ? "good" : "bad",
        event.status
      )
    }
    if (event._tag !== "Event") return undefined
    const { at } = event
    switch (event.event) {
      case "client.tool.call":
        return this.#called(event.data, at)
      case "client.tool.cancel":
        return this.#end(this.#calls.get(event.data.call_id), at, "cancelled", cancelled(event.data.reason))
      case "activity.started":
        return this.#started(event.data, at)
      case "activity.finished": {
        const { activity_id, code, status } = event.data
        const row = this.#activities.get(activity_id)
        this.#activities.delete(activity_id)
        const outcome = code === null ? status : `${status} (${code})`
        if (row?.ending?.as === "good" && status !== "success") return { _tag: "Overruled", row, outcome }
        return this.#end(row, at, status === "success" ? "good" : status === "failure" ? "bad" : "cancelled", outcome)
      }
      default:
        return undefined
    }
  }

  /** Ends every row: the run is over, or the transport is lost. */
  endAll(at: bigint, outcome: string): void {
    const endRow = (row: OpenRow) => {
      this.#end(row, at, "cancelled", outcome)
      row.children.forEach(endRow)
    }
    this.#roots.forEach(endRow)
  }

  #started({ activity_id, kind, name, parent_id, task_id }: ActivityStarted, at: bigint): Change | undefined {
    if (this.#activities.has(activity_id)) return undefined
    if (kind === "subagent") this.#subagents += 1
    const shown = kind === "subagent" ? `${name} ${this.#subagents}` : name
    // A client tool's row begins with its call: that has the deadline.
    const waits = name.startsWith(CLIENT)
    const row = this.#add(parent_id === null ? undefined : this.#activities.get(parent_id), {
      name: shown,
      since: at,
      timeoutMs: undefined,
      waits,
      taskId: task_id
    })
    this.#activities.set(activity_id, row)
    return waits ? undefined : { _tag: "Began", row }
  }

  /** The call of an activity that waits. Which of several of one name and agent it is makes no difference to who looks on. */
  #called(
    data: {
      readonly call_id: string
      readonly name: string
      readonly task_id: string | null
      readonly timeout_ms: number
    },
    at: bigint
  ): Change | undefined {
    const { call_id, name, task_id, timeout_ms } = data
    if (this.#calls.has(call_id)) return undefined
    const waiting = [...this.#activities.values()].find(
      (row) => row.waits && row.name === name && row.taskId === task_id && row.ending === undefined
    )
    const row =
      waiting ?? this.#add(undefined, { name, since: at, timeoutMs: timeout_ms, waits: false, taskId: task_id })
    row.waits = false
    row.since = at
    row.timeoutMs = timeout_ms
    this.#calls.set(call_id, row)
    return { _tag: "Began", row }
  }

  #add(parent: OpenRow | undefined, row: Pick<OpenRow, "name" | "since" | "taskId" | "timeoutMs" | "waits">): OpenRow {
    const added = { ...row, depth: parent === undefined ? 0 : parent.depth + 1, ending: undefined, children: [] }
    if (parent === undefined) this.#roots.push(added)
    else parent.children.push(added)
    return added
  }

  #end(row: OpenRow | undefined, at: bigint, as: Ending["as"], outcome: string): Change | undefined {
    if (row === undefined || row.ending !== undefined) return undefined
    row.ending = { as, outcome, elapsedMs: millisBetween(row.since, at) }
    return { _tag: "Ended", row }
  }
}

const isOver = (row: Row): boolean => row.ending !== undefined && row.children.every(isOver)

const cancelled = (reason: string) => (reason === "cancelled" ? reason : `cancelled (${reason})`)

/** Of monotonic nanoseconds; never negative. */
export const millisBetween = (from: bigint, to: bigint): number => Math.max(0, Number(to - from) / 1_000_000)
