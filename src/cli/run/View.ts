/** What the user sees of a run. One of three: lines of JSON, plain text with plain lines, or a live view on a terminal. */
import type { TurnOutcome } from "../../client/Turn.ts"
import type { TurnEvent } from "../../client/TurnEvents.ts"

/** The end of a run as it is told. */
export interface RunEnd {
  readonly status: TurnOutcome["status"]
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly text: string
}

/** Everything is synchronous. */
export interface View {
  readonly event: (event: TurnEvent) => void
  /** The run is over, well or not. Called once, if a turn was asked for. */
  readonly end: (end: RunEnd) => void
  /** Puts a whole line on stderr, above anything live. `line` is safe to show. */
  readonly line: (line: string) => void
}
