// An MCP server that misbehaves by plan (argv[2], JSON). Plain Node, no dependencies, so that it can break every rule.
//   version: the revision it answers with; silent: initialize is never answered; die: it ends before anything
//   pages: arrays of raw tool entries, one a page; loop: the cursor never ends
//   before: raw lines written before the answer to a call; call: what a call does (see below); result: a raw result
//   deaf: ignores the end of stdin and SIGTERM; children: a file that gets the pids of a child and of one that left the group
//   file: where the plan is instead; pid: a file; log: a file that gets every line it reads
import { spawn } from "node:child_process"
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"

const given = JSON.parse(process.argv[2] ?? "{}")
const plan = given.file ? JSON.parse(readFileSync(given.file, "utf8")) : given
if (plan.pid) writeFileSync(plan.pid, String(process.pid))
if (plan.children) {
  const pids = [false, true].map((detached) => spawn("sleep", ["300"], { stdio: "ignore", detached }).pid)
  writeFileSync(plan.children, pids.join(" "))
}
if (plan.deaf) {
  process.on("SIGTERM", () => {})
  process.on("SIGINT", () => {})
  setInterval(() => {}, 1000)
}
if (plan.die !== undefined) process.exit(plan.die)

const raw = (text) => process.stdout.write(text)
const send = (message) => raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const pages = plan.pages ?? [[{ name: "tool", description: "A tool.", inputSchema: { type: "object" } }]]

const actions = {
  answer: (id, params) =>
    send({
      id,
      result: plan.result ?? { content: [{ type: "text", text: `called ${JSON.stringify(params.arguments)}` }] }
    }),
  hang: () => {},
  exit: () => process.exit(9),
  partial: (id) => {
    raw(`{"jsonrpc":"2.0","id":${id},"res`)
    setTimeout(() => process.exit(0), 20)
  },
  refuse: (id) => send({ id, error: { code: -32602, message: "no such tool here" } }),
  nonsense: (id) => send({ id, answer: 1 }),
  twice: (id, params) => {
    actions.answer(id, params)
    actions.answer(id, params)
  },
  others: (id, params) => {
    send({ id: id + 1000, result: {} })
    send({ id: null, error: { code: 1, message: "x" } })
    actions.answer(id, params)
  },
  line: () => {
    const block = "x".repeat(1024 * 1024)
    const more = () => process.stdout.write(block, more)
    more()
  },
  flood: () => {
    const block =
      `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(1000) } })}\n`.repeat(
        100
      )
    const more = () => process.stdout.write(block, more)
    more()
  },
  close: () => process.stdout.end(),
  pings: (id, params) => {
    for (let ping = 0; ping < 3; ping++) send({ id: `ping-${ping}`, method: "ping" })
    send({ id: "roots", method: "roots/list" })
    setTimeout(() => actions.answer(id, params), 100)
  },
  change: (id, params) => {
    send({ method: "notifications/tools/list_changed" })
    send({ method: "notifications/tools/list_changed" })
    actions.answer(id, params)
  }
}

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop()
  for (const line of lines) {
    if (plan.log) appendFileSync(plan.log, `${line}\n`)
    const { id, method, params } = JSON.parse(line)
    if (method === "initialize" && !plan.silent) {
      const result = {
        protocolVersion: plan.version ?? params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "nasty", version: "1" }
      }
      send({ id, result })
    } else if (method === "tools/list") {
      const page = Number(params?.cursor ?? 0)
      const isMore = plan.loop || page + 1 < pages.length
      send({ id, result: { tools: pages[page % pages.length], ...(isMore ? { nextCursor: String(page + 1) } : {}) } })
    } else if (method === "tools/call") {
      if (plan.before) raw(Buffer.from(plan.before, "latin1"))
      actions[plan.call ?? "answer"](id, params)
    }
  }
})
if (!plan.deaf) process.stdin.on("end", () => process.exit(0))
