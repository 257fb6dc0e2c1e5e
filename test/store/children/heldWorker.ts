/**
 * The store's own worker on a disk that stands still: while the file `$home/../hold` exists, every statement waits, as a
 * hanging `fsync` makes it wait. What is stalled is the thread, in the middle of whatever it was doing.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { workerData } from "node:worker_threads"

const hold = join(dirname(String(workerData.home)), "hold")
const cell = new Int32Array(new SharedArrayBuffer(4))

const wait = (): void => {
  while (existsSync(hold)) Atomics.wait(cell, 0, 0, 5)
}

/** The same method, which first waits while the disk is held. */
const waiting = <F extends (...args: never) => unknown>(method: F): F =>
  new Proxy(method, {
    apply: (target, self, args) => {
      wait()
      return Reflect.apply(target, self, args)
    }
  })

DatabaseSync.prototype.exec = waiting(DatabaseSync.prototype.exec)
StatementSync.prototype.run = waiting(StatementSync.prototype.run)

await import("../../../src/store/storeWorker.ts")
