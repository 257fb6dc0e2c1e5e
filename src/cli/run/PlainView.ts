/** The answer on stdout and a plain line for each call on stderr: for pipes, and for terminals that cannot draw. */
import type { TurnEvent } from "../../client/TurnEvents.ts"
import { AnswerPrinter } from "./AnswerPrinter.ts"
import { CallTree } from "./CallTree.ts"
import { beganText, endedText, overruledText, withChildren } from "./rowText.ts"
import type { Streams } from "./Streams.ts"
import type { View } from "./View.ts"

/** Plain lines about calls on stderr, and nothing on stdout. */
export const callLines = (streams: Streams, now: () => bigint): View => {
  const calls = new CallTree()
  const line = (text: string) => streams.err.raw(`${text}\n`)
  return {
    event: (event) => {
      const change = calls.take(event)
      if (change?._tag === "Began") line(beganText(change.row))
      if (change?._tag === "Ended") line(endedText(change.row))
      if (change?._tag === "Overruled") line(overruledText(change.row, change.outcome))
      calls.takeEnded()
    },
    end: () => {
      const open = calls.roots.flatMap(withChildren).filter(({ ending }) => ending === undefined)
      calls.endAll(now(), "not finished")
      for (const row of open) line(endedText(row))
    },
    line
  }
}

/** Prints the answer of a run to stdout as it streams. */
export const answerTo = (write: (text: string) => void) => {
  const printer = new AnswerPrinter(write)
  return {
    event: (event: TurnEvent) => {
      if (event._tag !== "Event") return
      if (event.event === "message.delta") printer.delta(event.data)
      if (event.event === "message.reconcile") printer.reconcile(event.data)
    },
    end: () => printer.end()
  }
}

export const plainView = (streams: Streams, now: () => bigint): View => {
  const calls = callLines(streams, now)
  const answer = answerTo(streams.out.foreign)
  return {
    ...calls,
    event: (event) => {
      answer.event(event)
      calls.event(event)
    },
    end: (end) => {
      answer.end()
      calls.end(end)
    }
  }
}
