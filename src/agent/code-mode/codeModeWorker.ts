/** The thread of one script: it loads an engine, says so, runs one script, and is ended from outside. */
import { parentPort, workerData } from "node:worker_threads"
import type { FromThread, ToThread } from "./Messages.ts"
import { ScriptEngine } from "./ScriptEngine.ts"

const port = parentPort
if (!port) throw new Error("this module is the entry of a worker thread")

const { heapBytes }: { heapBytes: number } = workerData
const send = (message: FromThread) => port.postMessage(message)
const engine = await ScriptEngine.load(heapBytes, send)

let isUsed = false
port.on("message", (message: ToThread) => {
  if (message.type === "settled") return engine.settle(message)
  if (isUsed) return
  isUsed = true
  engine.run(message)
})
send({ type: "ready" })
