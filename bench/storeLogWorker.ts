/** What the store is measured against: a worker that writes texts to a file and makes all that wait durable at once. */
import { fdatasyncSync, openSync, writeSync } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"

const port = parentPort
const descriptor = openSync(String(workerData), "a")
let waiting: Array<readonly [id: number, text: string]> = []

port?.on("message", (texts: ReadonlyArray<readonly [id: number, text: string]>) => {
  waiting.push(...texts)
  if (waiting.length > texts.length) return
  setImmediate(() => {
    const batch = waiting
    waiting = []
    for (const [, text] of batch) writeSync(descriptor, text)
    fdatasyncSync(descriptor)
    port.postMessage(batch.map(([id]) => id))
  })
})
