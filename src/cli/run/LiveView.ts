/**
 * The view on a terminal: the answer as it streams, and below it a line for each open call with its time against its
 * deadline, redrawn in place; an ended call leaves its line. product section 1 (`run`).
 */
import { CallLog, endedText, openText } from "./CallLog.ts"
import { answerTo } from "./PlainView.ts"
import type { Streams } from "./Streams.ts"
import type { View } from "./View.ts"

const HIDE_CURSOR = "\u001b[?25l"
const SHOW_CURSOR = "\u001b[?25h"
const CLEAR_LINE = "\u001b[2K"
const UP = "\u001b[1A"

export interface LiveView extends View {
  /** Draws the open calls anew; to be called several times a second. */
  readonly draw: () => void
}

export interface LiveOptions {
  readonly streams: Streams
  readonly now: () => bigint
  /** Print the answer; false under `--json`. */
  readonly answer: boolean
}

export const liveView = ({ answer: printsAnswer, now, streams }: LiveOptions): LiveView => {
  const { err, out } = streams
  const calls = new CallLog()
  /** Lines drawn below the text, to be taken away before anything else is written. */
  let drawn = 0
  let atLineStart = true
  let held = 0

  const erase = () => {
    if (drawn === 0) return
    err.raw(`${`${UP}${CLEAR_LINE}`.repeat(drawn)}${SHOW_CURSOR}`)
    drawn = 0
  }
  const draw = () => {
    if (held > 0) return
    const rows = calls.open
    if (rows.length === 0) return erase()
    erase()
    const width = Math.max(20, err.columns() - 1)
    const lines = rows.map((row) => `  ${openText(row, now())}`.slice(0, width))
    // Half a line of text stays where it is; the calls begin below it.
    err.raw(`${HIDE_CURSOR}${atLineStart ? "" : "\n"}${lines.join("\n")}\n`)
    atLineStart = true
    drawn = lines.length
  }
  const line = (text: string) => {
    erase()
    err.raw(`${atLineStart ? "" : "\n"}${text}\n`)
    atLineStart = true
  }
  const answer = answerTo((text) => {
    erase()
    out.foreign(text)
    // Only where both are one screen does the answer move the cursor of the calls.
    if (out.isTerminal) atLineStart = text.endsWith("\n")
  })

  return {
    draw,
    event: (event) => {
      if (printsAnswer) answer.event(event)
      const change = calls.take(event)
      if (change?._tag === "Ended") line(`${change.ended.ok ? "+" : "-"} ${endedText(change.ended)}`)
      if (change !== undefined) draw()
    },
    end: () => {
      erase()
      for (const ended of calls.endAll(now(), "not finished")) line(`- ${endedText(ended)}`)
      if (printsAnswer) answer.end()
    },
    line: (text) => {
      line(text)
      draw()
    },
    hold: () => {
      erase()
      held += 1
      return () => {
        held -= 1
        draw()
      }
    }
  }
}
