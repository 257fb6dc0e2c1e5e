/** Whether processes are gone. */
import { readFileSync } from "node:fs"

/** True when there is no such process, or it only waits to be collected. */
export const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return true
  }
}
