/**
 * The practical limit: the same five frames a call, written by hand over the same pipes, checking nothing.
 * It takes `turn.start` with the same prompt as bench/broker-child.ts.
 */
import { randomUUID } from "node:crypto"

const send = (frame: unknown) => process.stdout.write(`${JSON.stringify(frame)}\n`)
const waiting = new Map<string, () => void>()
let sequence = 0
let last = 0
const event = (name: string, data: unknown) =>
  send({ version: 1, event: name, instance_id: "i", sequence: ++sequence, data })

const turn = async (runId: string, load: { calls: number; atOnce: number; bytes: number }) => {
  const common = { session_id: "s", run_id: runId }
  const text = "x".repeat(Math.max(0, load.bytes - 11))
  let left = load.calls
  const worker = async () => {
    while (left-- > 0) {
      const activity_id = randomUUID()
      const call_id = randomUUID()
      event("activity.started", {
        ...common,
        activity_id,
        parent_id: null,
        kind: "tool",
        name: "client__echo",
        task_id: null
      })
      await new Promise<void>((resolve) => {
        waiting.set(call_id, resolve)
        event("client.tool.call", {
          ...common,
          call_id,
          task_id: null,
          subagent_id: null,
          name: "client__echo",
          arguments: { text },
          timeout_ms: 30000
        })
      })
      event("activity.finished", { ...common, activity_id, status: "success", call_id, code: null })
    }
  }
  await Promise.all(Array.from({ length: load.atOnce }, worker))
  event("run.finished", {
    ...common,
    status: "completed",
    error: null,
    persistence: "complete",
    history_revision: "r",
    usage: null
  })
}

let rest = ""
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (method === "client.tool.result") {
      send({ version: 1, id, result: { accepted: true } })
      waiting.get(params.call_id)?.()
      waiting.delete(params.call_id)
    } else if (method === "turn.start") {
      const run_id = `r${++last}`
      send({ version: 1, id, result: { run_id, accepted: true } })
      void turn(run_id, JSON.parse(params.prompt))
    } else send({ version: 1, id, result: { instance_id: "i", session_id: "s" } })
  }
})
process.stdin.on("end", () => process.exit(0))
