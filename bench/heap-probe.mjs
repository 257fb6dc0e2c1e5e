// Loaded before an agent under measurement (`node --expose-gc --import heap-probe.mjs …`): on SIGUSR2 it forces collections
// and tells on stderr what the process still holds, one line of JSON. Its first line tells that it listens.
import { setImmediate } from "node:timers/promises"
import { codeBytes } from "./codeBytes.mjs"

const tell = (told) => process.stderr.write(`${JSON.stringify({ probe: process.pid, ...told })}\n`)

process.on("SIGUSR2", async () => {
  // What a first collection lets go of by finalizers, the next ones collect.
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await setImmediate()
  }
  globalThis.gc()
  tell({ heap: process.memoryUsage().heapUsed, code: codeBytes(), resources: process.getActiveResourcesInfo().sort() })
})
tell({})
