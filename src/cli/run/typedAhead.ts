/** What was typed before a question was shown is no answer to it. */
import { closeSync, constants, openSync, readSync } from "node:fs"

const CTRL_C = 3
/** Bytes that a terminal holds at most, several times over. */
const MOST_READS = 64

/** Takes all that was typed so far off the terminal of stdin, half a line too. A Ctrl-C among it is sent on. */
export const discardTypedAhead = (): void => {
  const { stdin } = process
  let terminal: number
  try {
    // A descriptor of its own: reading never waits, and stdin's stays as it is.
    terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // A process without a terminal of its own: nobody can have typed ahead.
    return
  }
  const bytes = new Uint8Array(4096)
  let interrupted = false
  stdin.setRawMode(true)
  try {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const count = readSync(terminal, bytes)
      if (count === 0) break
      interrupted ||= bytes.subarray(0, count).includes(CTRL_C)
    }
  } catch {
    // EAGAIN: that was all.
  } finally {
    stdin.setRawMode(false)
    closeSync(terminal)
  }
  if (interrupted) process.kill(process.pid, "SIGINT")
}
