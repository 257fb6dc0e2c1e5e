/**
 * The entry of the store's worker thread. The driver is synchronous, and a slow disk or another process's lock must
 * never keep the thread that speaks the protocol, so every file of every session is opened here and nowhere else.
 */
import { parentPort, workerData } from "node:worker_threads"
import { type PackedRequests, packAnswers, unpackRequests } from "./StoreWire.ts"
import { StoreEngine } from "./sqlite/StoreEngine.ts"

const port = parentPort
const home: unknown = workerData?.home
if (port !== null && typeof home === "string") {
  const engine = new StoreEngine(home, (answers) => port.postMessage(packAnswers(answers)))
  port.on("message", (packed: PackedRequests) => {
    const { more, requests } = unpackRequests(packed)
    engine.receive(requests, more)
  })
}
