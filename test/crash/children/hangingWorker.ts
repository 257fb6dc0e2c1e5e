/**
 * The store's own worker on a disk that does not answer: at the point named in the file `$home/../hangs` (`commit` or
 * `close`) it waits in the kernel as for an `fsync` that never returns, beyond the reach of everything but the end of the
 * process. What it waits for is the other end of the FIFO `$home/../disk`.
 */
import { openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { workerData } from "node:worker_threads"
import { isSession, tell } from "../points.ts"

const root = dirname(String(workerData.home))
const hang = readFileSync(join(root, "hangs"), "utf8")

const wait = (): void => {
  tell({ hangs: true })
  openSync(join(root, "disk"), "r")
}

// The first commit of a session, which makes its file, is made by `exec`; this is each later one.
StatementSync.prototype.run = new Proxy(StatementSync.prototype.run, {
  apply: (target, self: StatementSync, args) => {
    if (hang === "commit" && self.sourceSQL === "COMMIT") wait()
    return Reflect.apply(target, self, args)
  }
})
// Closing a session's file syncs it once more.
DatabaseSync.prototype.close = new Proxy(DatabaseSync.prototype.close, {
  apply: (target, self: DatabaseSync, args) => {
    if (hang === "close" && isSession(self)) wait()
    return Reflect.apply(target, self, args)
  }
})

await import("../../../src/store/storeWorker.ts")
