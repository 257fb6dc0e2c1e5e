/** The end of the process, whatever still hangs in it. base-protocol section 3, Closing: "At 2 s exit regardless". */
import { existsSync } from "node:fs"

const SHELL = "/bin/sh"

/**
 * Ends the process with this code. `process.exit` joins worker threads, and one that waits for a disk in the kernel does not
 * come: then nothing short of leaving this program's image keeps the promise, so after an unclean closing the process
 * becomes a shell that exits with the code. Where that is not possible, `process.exit` it is.
 */
export const exitNow = (code: number): never => {
  if (code !== 0 && typeof process.execve === "function" && existsSync(SHELL)) {
    try {
      process.execve(SHELL, ["sh", "-c", `exit ${code}`], {})
    } catch {
      // Not permitted here: the ordinary way is what is left.
    }
  }
  return process.exit(code)
}
