/**
 * The view on a terminal: the answer as it streams, and below it a line for each open call with its time against its
 * deadline, redrawn in place; what has ended leaves its lines. product section 1 (`run`).
 */
import { CallTree } from "./CallTree.ts"
import { answerTo } from "./PlainView.ts"
import type { Region } from "./Region.ts"
import { endedLine, idleLines, liveLines, overruledText, withChildren } from "./rowText.ts"
import type { OutStream } from "./Streams.ts"
import type { Style } from "./Style.ts"
import type { View } from "./View.ts"

export interface LiveView extends View {
  /** Draws the open calls anew; to be called several times a second. */
  readonly draw: () => void
}

export interface LiveOptions {
  readonly region: Region
  readonly style: Style
  /** Where the answer goes; `undefined` under `--json`. */
  readonly out: OutStream | undefined
  readonly now: () => bigint
}

export const liveView = ({ now, out, region, style }: LiveOptions): LiveView => {
  const calls = new CallTree()
  let over = false
  /** What is waited for where no call is open, and since when. Nothing in the middle of a message: it would be torn apart. */
  let idle: { readonly text: string; readonly since: bigint } | undefined = { text: "starting the agent", since: now() }

  const lines = () => {
    const rows = liveLines(calls.roots, now(), region.size, style)
    return rows.length > 0 || idle === undefined ? rows : idleLines(idle.text, idle.since, now(), style)
  }
  const draw = () => {
    if (!over) region.draw(lines())
  }
  /** What is over leaves the live lines and stays above them. */
  const leave = () => {
    const ended = calls.takeEnded().flatMap(withChildren)
    if (ended.length > 0) draw()
    for (const row of ended) region.printLine(endedLine(row, style))
  }
  const answer = answerTo((text) => {
    // Lines about calls ended the line of the message before: one empty line separates the two all the same.
    const separated = out?.isTerminal === true && region.atLineStart && text.startsWith("\n\n")
    out?.foreign(separated ? text.slice(1) : text)
  })

  return {
    draw,
    event: (event) => {
      const inMessage = event._tag === "Event" && event.event === "message.delta"
      idle = inMessage ? undefined : { text: "waiting for the model", since: now() }
      if (inMessage) draw()
      if (out !== undefined) answer.event(event)
      const change = calls.take(event)
      if (change === undefined) return
      if (change._tag === "Overruled") {
        region.printLine(`  ${style.paint("warn", style.bad)} ${overruledText(change.row, change.outcome)}`)
      }
      leave()
      draw()
    },
    end: () => {
      calls.endAll(now(), "not finished")
      leave()
      over = true
      region.close()
      if (out !== undefined && !(out.isTerminal && region.atLineStart)) answer.end()
    },
    line: (text) => region.printLine(text)
  }
}
