/** `--json`: every event and reply as a line on stdout, the outcome last. product section 1. */
import type { TurnEvent } from "../../client/TurnEvents.ts"
import type { Streams } from "./Streams.ts"
import type { RunEnd, View } from "./View.ts"

/** Monotonic time in milliseconds since the runner started. */
export type RunClock = (at?: bigint) => number

/** Adds the lines to a view that shows the calls on stderr. */
export const jsonView = (streams: Streams, clock: RunClock, calls: View): View => {
  let last = 0
  // An event is stamped when its bytes were read, a reply when it was sent: the lines are in their order, and so is `t`.
  const t = (at?: bigint) => {
    last = Math.max(last, Math.round(clock(at) * 1000) / 1000)
    return last
  }
  const put = (line: object) => streams.out.raw(`${JSON.stringify(line)}\n`)
  return {
    ...calls,
    event: (event: TurnEvent) => {
      if (event._tag === "Reply") put({ type: "reply", t: t(event.at), call_id: event.callId, status: event.status })
      else {
        put({ type: "event", t: t(event.at), sequence: event.sequence, event: event.event, data: event.data })
      }
      calls.event(event)
    },
    end: ({ error, status, text }: RunEnd) => {
      calls.end({ error, status, text })
      put({ type: "outcome", t: t(), status, ...(error === undefined ? {} : { error }), text })
    }
  }
}
