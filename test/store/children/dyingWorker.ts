/** The store's own worker, which dies of an uncaught error when it is asked to append a text `die`. */
import { parentPort } from "node:worker_threads"
import type { RequestMessage } from "../../../src/store/StoreMessages.ts"

parentPort?.on("message", (requests: ReadonlyArray<RequestMessage>) => {
  for (const { request } of requests) {
    if (request.op === "append" && request.rows.some((row) => row.body.includes('"text":"die"'))) {
      throw new Error("a defect")
    }
  }
})

await import("../../../src/store/storeWorker.ts")
