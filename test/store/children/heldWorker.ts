/**
 * The store's own worker on a disk that stands still: while the file `$home/../hold` exists, every statement waits, as a
 * hanging `fsync` makes it wait. What is stalled is the thread, in the middle of whatever it was doing.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { workerData } from "node:worker_threads"

const hold = join(dirname(String(workerData.home)), "hold")
const cell = new Int32Array(new SharedArrayBuffer(4))
const exec = DatabaseSync.prototype.exec

DatabaseSync.prototype.exec = function (sql: string): void {
  while (existsSync(hold)) Atomics.wait(cell, 0, 0, 5)
  exec.call(this, sql)
}

await import("../../../src/store/storeWorker.ts")
