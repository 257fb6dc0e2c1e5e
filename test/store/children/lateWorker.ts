/** The store's own worker on a machine that gives it no time: it has closed everything, and is another half second late. */
import { execFileSync } from "node:child_process"
import { parentPort } from "node:worker_threads"
import { type PackedRequests, unpackRequests } from "../../../src/store/StoreWire.ts"

await import("../../../src/store/storeWorker.ts")

parentPort?.on("message", (packed: PackedRequests) => {
  if (unpackRequests(packed).some(({ request }) => request.op === "stop")) execFileSync("sleep", ["0.5"])
})
