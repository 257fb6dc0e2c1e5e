/**
 * What tools are doing, from the events of a run: rows that begin, and lines about how they ended. product section 1
 * (`run`: name, elapsed time against its deadline, outcome).
 */
import type { TurnEvent } from "../../client/TurnEvents.ts"
import { escapeLine } from "./escapeText.ts"

export interface Row {
  readonly name: string
  /** Monotonic nanoseconds. */
  readonly since: bigint
  /** Milliseconds; `undefined` for what has no deadline that is known here. */
  readonly timeoutMs: number | undefined
}

export interface Ended {
  readonly row: Row
  readonly ok: boolean
  /** `success`, `error`, `cancelled (timeout)`, … */
  readonly outcome: string
  readonly elapsedMs: number
}

export type Change = { readonly _tag: "Began"; readonly row: Row } | { readonly _tag: "Ended"; readonly ended: Ended }

const CLIENT = "client__"

/** Follows a run. */
export class CallLog {
  readonly #rows = new Map<string, Row>()

  /** The rows that are open, oldest first. */
  get open(): ReadonlyArray<Row> {
    return [...this.#rows.values()]
  }

  /** Takes an event; tells what it changed. */
  take(event: TurnEvent): Change | undefined {
    if (event._tag === "Reply") return this.#end(event.callId, event.at, event.status === "success", event.status)
    if (event._tag !== "Event") return undefined
    const { at } = event
    switch (event.event) {
      case "client.tool.call":
        return this.#begin(event.data.call_id, { name: event.data.name, since: at, timeoutMs: event.data.timeout_ms })
      case "client.tool.cancel":
        return this.#end(event.data.call_id, at, false, cancelled(event.data.reason))
      case "activity.started":
        // A client tool's row is its call: that has the deadline.
        if (event.data.name.startsWith(CLIENT)) return undefined
        return this.#begin(event.data.activity_id, { name: event.data.name, since: at, timeoutMs: undefined })
      case "activity.finished": {
        const { activity_id, code, status } = event.data
        return this.#end(activity_id, at, status === "success", code === null ? status : `${status} (${code})`)
      }
      default:
        return undefined
    }
  }

  /** Ends every row: the run is over, or the transport is lost. */
  endAll(at: bigint, outcome: string): ReadonlyArray<Ended> {
    return [...this.#rows.keys()].flatMap((key) => {
      const change = this.#end(key, at, false, outcome)
      return change?._tag === "Ended" ? [change.ended] : []
    })
  }

  #begin(key: string, row: Row): Change | undefined {
    if (this.#rows.has(key)) return undefined
    this.#rows.set(key, row)
    return { _tag: "Began", row }
  }

  #end(key: string, at: bigint, ok: boolean, outcome: string): Change | undefined {
    const row = this.#rows.get(key)
    if (row === undefined) return undefined
    this.#rows.delete(key)
    return { _tag: "Ended", ended: { row, ok, outcome, elapsedMs: millis(at - row.since) } }
  }
}

const cancelled = (reason: string) => (reason === "cancelled" ? reason : `cancelled (${reason})`)

const millis = (nanos: bigint) => Math.max(0, Number(nanos) / 1_000_000)

/** `250 ms`, `3.2 s`, `2 min 5 s`. */
export const timeText = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")} s`
  const seconds = Math.round(ms / 1000)
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** One line about a row that is open. */
export const openText = (row: Row, now: bigint): string => {
  const elapsed = timeText(millis(now - row.since))
  const against = row.timeoutMs === undefined ? "" : ` of ${timeText(row.timeoutMs)}`
  return `${escapeLine(row.name)}: ${elapsed}${against}`
}

/** One line about a row that began. */
export const beganText = (row: Row): string =>
  `${escapeLine(row.name)}: started${row.timeoutMs === undefined ? "" : `, ${timeText(row.timeoutMs)} at most`}`

/** One line about how a row ended. */
export const endedText = ({ elapsedMs, outcome, row }: Ended): string =>
  `${escapeLine(row.name)}: ${escapeLine(outcome)} after ${timeText(elapsedMs)}`
