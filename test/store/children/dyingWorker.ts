/** The store's own worker, which dies of an uncaught error when it is asked to append a text `die`. */
import { parentPort } from "node:worker_threads"
import { type PackedRequests, unpackRequests } from "../../../src/store/StoreWire.ts"

parentPort?.on("message", (packed: PackedRequests) => {
  for (const { request } of unpackRequests(packed).requests) {
    if (request.op === "append" && request.rows.some((row) => row.body.includes('"text":"die"'))) {
      throw new Error("a defect")
    }
  }
})

await import("../../../src/store/storeWorker.ts")
