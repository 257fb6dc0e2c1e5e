// A small agent as a process: `node processAgent.mjs LOG [MODE…]`. It notes what happens to it in LOG, one JSON line each.
// A prompt that is a JSON array of {name, arguments} makes it call these tools, one after the other, and answer with their results.
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"

const [log, ...modes] = process.argv.slice(2)
const has = (mode) => modes.includes(mode)
const note = (kind, more = {}) => appendFileSync(log, `${JSON.stringify({ t: Date.now(), kind, ...more })}\n`)
note("start", { pid: process.pid })

let sequence = 0
let tools = []
const send = (frame) => process.stdout.write(`${JSON.stringify({ version: 1, ...frame })}\n`)
const event = (name, data) => {
  sequence += 1
  const of = { session_id: "s-1", run_id: "r-1" }
  send({ event: name, instance_id: "i-1", sequence, data: { ...of, ...data } })
}
const limits = {
  input_frame_bytes: 65536,
  output_frame_bytes: 65536,
  json_depth: 32,
  request_ids: 4096,
  pending_output_frames: 32,
  output_deadline_ms: 2000,
  cleanup_ms: 2000,
  prompt_bytes: 32768,
  page_entries: 100,
  page_bytes: 32768,
  pending_approvals: 16
}
const toolLimits = {
  tools: 32,
  name_bytes: 64,
  description_bytes: 2048,
  registry_bytes: 32768,
  schema_bytes: 8192,
  schema_depth: 16,
  arguments_bytes: 16384,
  result_bytes: 32768,
  pending_calls: 16,
  default_timeout_ms: 30000,
  min_timeout_ms: 1000,
  max_timeout_ms: 300000
}
const waiting = new Map()

const finish = (status = "completed", error = null) =>
  event("run.finished", { status, error, persistence: "complete", history_revision: "h-1", usage: null })

const run = async (prompt) => {
  if (has("silent")) return
  if (has("floods"))
    for (let n = 0; n < 20; n += 1) event("message.delta", { message_id: "f", text: "x".repeat(40_000) })
  const results = []
  for (const [n, { name, arguments: args }] of (prompt.startsWith("[") ? JSON.parse(prompt) : []).entries()) {
    const call_id = `c-${n}`
    const result = new Promise((resolve) => waiting.set(call_id, resolve))
    event("client.tool.call", { call_id, task_id: null, subagent_id: null, name, arguments: args, timeout_ms: 30000 })
    const { status, text, structured } = await result
    results.push({ status, text, structured })
  }
  event("message.reconcile", { message_id: "m", part: 0, parts: 1, text: JSON.stringify(results) })
  finish()
}

const answers = {
  initialize: ({ client_tools = [] }) => {
    tools = client_tools
    return {
      protocol: "magi-code.local-agent",
      version: 1,
      instance_id: "i-1",
      server: { name: "process", version: "1" },
      workspace: process.cwd(),
      capabilities: ["initialize", "session.create", "turn.start", "turn.cancel", "client.tools"],
      limits,
      selection: { provider: "p", model: "m", revision: "v" },
      extensions: {},
      ...(tools.length > 0 ? { client_tools: { tools: tools.map((tool) => tool.name), limits: toolLimits } } : {})
    }
  },
  "session.create": () => ({ session_id: "s-1", durable: false, history_revision: "h-0" }),
  "turn.start": () => ({ run_id: "r-1", accepted: true })
}

const receive = ({ id, method, params }) => {
  note("request", { method })
  send({ id, result: answers[method]?.(params) ?? { accepted: true } })
  if (method === "turn.start") run(params.prompt)
  if (method === "client.tool.result") waiting.get(params.call_id)?.(params)
}

let held = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (text) => {
  const lines = (held + text).split("\n")
  held = lines.pop()
  for (const line of lines) receive(JSON.parse(line))
})
process.stdin.on("end", () => {
  note("eof")
  if (!has("ignores-eof")) process.exit(has("bad-exit") ? 4 : 0)
})
process.on("SIGTERM", () => {
  note("SIGTERM")
  if (!has("ignores-term")) process.exit(0)
})
if (has("ignores-eof")) setInterval(() => note("beat"), 20)
if (has("chatters")) process.stderr.write("chatter of the agent\n")
for (const [mode, detached] of [
  ["grandchild", false],
  ["hidden-grandchild", true]
]) {
  if (!has(mode)) continue
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], {
    stdio: "ignore",
    detached
  })
  note("grandchild", { pid: child.pid })
}
if (has("exits")) setTimeout(() => process.exit(7), 300)
