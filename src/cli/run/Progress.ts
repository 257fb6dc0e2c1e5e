/** What is known of a run while it goes on, and how its end is told, once. */
import type { Turn, TurnOutcome } from "../../client/Turn.ts"
import type { Interrupts } from "./Interrupts.ts"
import type { RunOptions } from "./Options.ts"
import type { Report } from "./Report.ts"
import type { Streams } from "./Streams.ts"
import type { View } from "./View.ts"

export interface Progress {
  readonly options: RunOptions
  readonly streams: Streams
  readonly view: View
  readonly report: Report
  readonly interrupts: Interrupts
  /** Set when the agent has accepted the turn. */
  turn: Turn | undefined
  /** Set once, when the end is told. */
  exitCode: number | undefined
}

/** The last line about a run, whichever way it ended; and its exit code. */
export const tellEnd = (progress: Progress, outcome: Pick<TurnOutcome, "status" | "error" | "text">): void => {
  if (progress.exitCode !== undefined) return
  const interrupted = progress.interrupts.any()
  progress.exitCode = interrupted ? 130 : outcome.status === "completed" ? 0 : 1
  progress.view.end({
    status: outcome.status,
    error: outcome.error === null ? undefined : outcome.error,
    text: outcome.text
  })
  if (outcome.error !== null) progress.report.error(`the run failed: ${outcome.error.message} (${outcome.error.code})`)
  else if (interrupted) progress.report.error("interrupted")
  else if (outcome.status !== "completed") progress.report.error(`the run was ${outcome.status}`)
}

/** The run came to nothing: what is said of it on stderr has been said, or is said by `say`. */
export const tellFailure = (progress: Progress, code: string, message: string, say: () => void): void => {
  if (progress.exitCode !== undefined) return
  const interrupted = progress.interrupts.any()
  progress.exitCode = interrupted ? 130 : 1
  progress.view.end({
    status: interrupted ? "cancelled" : "failed",
    error: interrupted ? undefined : { code, message },
    text: ""
  })
  say()
}
