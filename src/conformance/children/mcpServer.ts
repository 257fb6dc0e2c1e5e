/**
 * An MCP server on stdio for cases, with the tools `echo` and `client__x`. Its argument is a plan in JSON, every member
 * optional:
 *
 * `die` ends at once with code 7 · `start_ms` waits before it answers initialize · `noise` a stray line on stdout and one
 * on stderr · `pid` file for its process id · `grandchild` file for the id of a process it leaves running · `env` file
 * for its environment · `lists` file that gets a line each time the tools are listed · `names` more tools · `hang` calls
 * are not answered · `structured` the structured value of each result.
 */
import { spawn } from "node:child_process"
import { appendFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

interface ServerPlan {
  readonly die?: boolean
  readonly start_ms?: number
  readonly noise?: boolean
  readonly pid?: string
  readonly grandchild?: string
  readonly env?: string
  readonly lists?: string
  readonly names?: ReadonlyArray<string>
  readonly hang?: boolean
  readonly structured?: unknown
}

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: unknown }
}

const plan: ServerPlan = JSON.parse(process.argv[2] ?? "{}")
if (plan.die) process.exit(7)
if (plan.env !== undefined) writeFileSync(plan.env, JSON.stringify(process.env))
if (plan.pid !== undefined) writeFileSync(plan.pid, String(process.pid))
if (plan.grandchild !== undefined) {
  writeFileSync(plan.grandchild, String(spawn("sleep", ["300"], { stdio: "ignore" }).pid))
}
if (plan.noise) {
  process.stderr.write("a line of the server's log\n")
  process.stdout.write("a stray line that is no JSON\n")
}

const anything = { type: "object" }
const tools = [
  {
    name: "echo",
    description: "Echo the words given.",
    inputSchema: { type: "object", properties: { words: { type: "string" } } }
  },
  { name: "client__x", description: "A name that must not reach the client.", inputSchema: anything },
  ...(plan.names ?? []).map((name) => ({
    name,
    description: `The ${name.slice(0, 20)} tool.`,
    inputSchema: anything
  }))
]

const send = (id: string | number, body: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`)
}

const answer = async (id: string | number, { method, params }: Message): Promise<void> => {
  switch (method) {
    case "initialize":
      if (plan.start_ms !== undefined) await sleep(plan.start_ms)
      return send(id, {
        result: {
          protocolVersion: params?.protocolVersion ?? "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "kit", version: "1" }
        }
      })
    case "tools/list":
      if (plan.lists !== undefined) appendFileSync(plan.lists, "list\n")
      return send(id, { result: { tools } })
    case "tools/call": {
      if (plan.hang) return
      const content = [{ type: "text", text: `mcp says ${JSON.stringify(params?.arguments ?? {})}` }]
      const structured = plan.structured === undefined ? {} : { structuredContent: plan.structured }
      return send(id, { result: { content, ...structured } })
    }
    case "ping":
      return send(id, { result: {} })
    default:
      return send(id, { error: { code: -32601, message: "no such method" } })
  }
}

const messageOf = (line: string): Message | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

// Lines end at LF alone, as the protocol of MCP has it.
let rest = ""
for await (const chunk of process.stdin.setEncoding("utf8")) {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) {
    const message = messageOf(line)
    if (message?.id !== undefined) await answer(message.id, message)
  }
}
