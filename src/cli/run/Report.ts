/** How what went wrong is told: one clear line, and the tail of the agent's stderr where it ended abnormally. */
import { inspect } from "node:util"
import type { AgentEnd } from "../../client/AgentLink.ts"
import type { TransportLost } from "../../client/TransportLost.ts"
import { escapeLine, escapeText } from "./escapeText.ts"
import type { Streams } from "./Streams.ts"
import type { View } from "./View.ts"

export interface Report {
  readonly error: (message: string, thrown?: unknown) => void
  readonly lost: (error: TransportLost) => void
  /** The agent was closed in order and ended with something else than 0. */
  readonly ended: (end: AgentEnd) => void
  /** An error that should not be: told as such. */
  readonly defect: (thrown: unknown) => void
}

/** `debug`: stack traces, and no tail of a stderr that was shown live. */
export const makeReport = (streams: Streams, view: () => View, debug: boolean): Report => {
  const line = (text: string) => view().line(`magi-code run: ${escapeLine(text)}`)
  const trace = (thrown: unknown) => {
    if (debug && thrown !== undefined) view().line(escapeText(inspect(thrown)))
  }
  const tail = (text: string) => {
    if (debug || text.trim() === "") return
    view().line("the agent's stderr ended with:")
    streams.err.foreign(text.endsWith("\n") ? text : `${text}\n`)
  }
  return {
    error: (message, thrown) => {
      line(message)
      trace(thrown)
    },
    lost: (error) => {
      line(error.message)
      tail(error.stderrTail)
    },
    ended: ({ exitCode, signal, stderrTail }) => {
      if (signal !== null) line(`the agent did not end in time and was ended by ${signal}`)
      else if (exitCode !== null && exitCode !== 0) {
        line(`the agent ended with exit code ${exitCode}`)
        tail(stderrTail)
      }
    },
    defect: (thrown) => {
      line("internal error (run again with --log-level debug to see where)")
      trace(thrown)
    }
  }
}
