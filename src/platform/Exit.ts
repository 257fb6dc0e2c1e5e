/** The end of the process, whatever still hangs in it. base-protocol section 3, Closing: "At 2 s exit regardless". */
import { existsSync } from "node:fs"

const SHELL = "/bin/sh"

const ending = new Set<Promise<unknown>>()

/** Counts a thread that was told to end among those that `process.exit` would wait for, until it has. Gives the same end. */
export const threadEnding = <A>(end: Promise<A>): Promise<A> => {
  const over = () => ending.delete(end)
  ending.add(end)
  end.then(over, over)
  return end
}

/**
 * Ends the process with this code, or with `hanging` in place of 0 where a thread that was told to end has not.
 *
 * `process.exit` joins worker threads, and one that waits for a disk in the kernel does not come: then nothing short of
 * leaving this program's image keeps the promise, so after an unclean closing (no code 0) the process becomes a shell that
 * exits with the code. Where that is not possible, `process.exit` it is.
 */
export const exitNow = (code: number, hanging: number): never => {
  const final = code === 0 && ending.size > 0 ? hanging : code
  if (final !== 0 && typeof process.execve === "function" && existsSync(SHELL)) {
    try {
      process.execve(SHELL, ["sh", "-c", `exit ${final}`], {})
    } catch {
      // Not permitted here: the ordinary way is what is left.
    }
  }
  return process.exit(final)
}
