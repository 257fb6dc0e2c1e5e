/** Child processes, and a reader that is slow or gone. docs/local-agent-protocol.md, sections 1, 12 and 13; docs/tools.md. */
import { Effect } from "effect"
import {
  alive,
  type Backend,
  type Case,
  type CaseContext,
  c,
  call,
  cancelTurn,
  cite,
  oneCall,
  pidIn,
  runSteps,
  shown,
  sleep,
  tool
} from "../dsl.ts"

const protocol = cite("local-agent-protocol")
const tools = cite("tools")
const clientTools = cite("client-tools")

const endWithAll = protocol(
  "Sessions are released; MCP servers, shell commands and hooks end with everything they started; the writer is drained."
)
const allowed = { approvals: { bash: "allow", write: "allow" } }

/** None of these processes may be there any more, within so many milliseconds. */
const gone = (t: CaseContext, pids: ReadonlyArray<number>, within: number) =>
  Effect.gen(function* () {
    const until = performance.now() + within
    while (pids.some(alive) && performance.now() < until) yield* sleep(20)
    yield* t.equal(pids.filter(alive).length, 0, "processes left")
  })

/** Waits for the end of a process whose output nobody takes. */
const exited = (b: Backend, millis: number) =>
  Effect.gen(function* () {
    const until = performance.now() + millis
    while (b.exit === undefined && performance.now() < until) yield* sleep(20)
    return b.exit
  })

export const processes: ReadonlyArray<Case> = [
  c("process.grandchildren", endWithAll, function* (t) {
    const b = yield* t.ready([tool("a")], { settings: allowed })
    yield* b.turn([
      { calls: [call("bash", { command: "sleep 300 & echo $! > grand.pid; echo $$ > child.pid; wait" })] }
    ])
    const pids = [yield* pidIn(t, "child.pid"), yield* pidIn(t, "grand.pid")]
    yield* b.eof
    yield* t.equal((yield* b.ended(2600)).code, 0, "exit code")
    yield* gone(t, pids, 200)
  }),

  c(
    "process.cancel-bash",
    tools("Every process that the command starts ends with the call, also when it was put into the background;"),
    function* (t) {
      const b = yield* t.ready([tool("a")], { settings: allowed })
      yield* b.turn([{ calls: [call("bash", { command: "sleep 300 & echo $! > grand.pid; wait" })] }])
      const pid = yield* pidIn(t, "grand.pid")
      yield* cancelTurn(b)
      yield* t.equal((yield* b.finished()).data.status, "cancelled", "status")
      yield* gone(t, [pid], 2000)
    }
  ),

  c(
    "process.mcp",
    [
      tools("MCP | mcp__server__tool | src/tools/mcp/startMcp.ts"),
      tools("Lines that are no messages are passed over."),
      protocol("Stdout is for frames alone; everything it has to say to people goes to stderr."),
      endWithAll
    ],
    function* (t) {
      const plan = { noise: true, pid: t.file("mcp.pid"), grandchild: t.file("mcp-grand.pid") }
      const b = yield* t.ready([tool("a")], { settings: { ...allowed, mcp: t.mcp(plan) } })
      const [result] = yield* runSteps(b, [call("mcp__kit__echo", { words: "hi" })])
      yield* t.expect(
        result?.success && JSON.stringify(result.content).includes("mcp says"),
        `the MCP tool should answer, the model saw ${shown(result)}`
      )
      const pids = [yield* pidIn(t, "mcp.pid"), yield* pidIn(t, "mcp-grand.pid")]
      yield* b.ok("shutdown")
      yield* t.equal((yield* b.ended(2600)).code, 0, "exit code")
      yield* gone(t, pids, 200)
    }
  ),

  c(
    "process.never-reading",
    [
      protocol(
        "A frame must be written within 2000 ms of the moment its producer asked for a place. Waiting counts, and bytes that trickle do not extend it."
      ),
      protocol("3 | the transport failed: a broken pipe, or a frame that was not taken in time")
    ],
    function* (t) {
      const b = yield* t.ready(null)
      b.expectExit(3)
      b.allowPartialLine()
      yield* b.pause
      const started = performance.now()
      yield* b.send(Array.from({ length: 3500 }, () => b.requestLine("status", {}, b.id())).join(""))
      const end = yield* exited(b, 9000)
      if (end === undefined) return yield* t.fail("the process should end when nobody takes its output")
      const took = Math.round(end.at - started)
      yield* t.expect(took > 1900 && took < 6500, `the process ended after ${took} ms`)
      yield* b.resume
      yield* b.ended()
    },
    { serial: true, limit: 25_000 }
  ),

  c(
    "process.slow-reader",
    protocol(
      "At most 32 frames are queued. Responses and critical events are never lost: whoever produces one while 32 are queued waits, in order."
    ),
    function* (t) {
      const b = yield* t.ready([tool("a")])
      const refused = { text: "{{results}}", calls: [call("client__none")] }
      const four = { calls: Array.from({ length: 4 }, () => call("client__a")) }
      yield* b.turn([four, refused, refused, refused, refused, { text: "end" }])
      const ids: Array<string> = []
      for (const e of yield* b.calls(4)) {
        const id = b.id()
        ids.push(id)
        const reply = b.answer(e, { text: "", structured: "w".repeat(30_000) })
        yield* b.send(b.requestLine("client.tool.result", reply, id))
      }
      for (let sip = 0; sip < 15; sip++) {
        yield* b.pause
        yield* sleep(40)
        yield* b.resume
        yield* sleep(5)
      }
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      yield* t.equal(b.texts().at(-1), "end", "last text")
      for (const id of ids)
        yield* t.equal((yield* b.response(id)).result, { accepted: true }, `response to reply ${id}`)
    }
  ),

  c(
    "process.hook-noise",
    [
      protocol("Stdout is for frames alone; everything it has to say to people goes to stderr."),
      clientTools(
        "Hooks are commands that the settings name; on a failure they either let the call go on (warn) or end it (block, hook_failed)."
      )
    ],
    function* (t) {
      const hook = t.hook({ noise: true, print: "this is no JSON" })
      const b = yield* t.ready([tool("a")], { settings: { hooks: { before_tool: [hook], after_tool: [] } } })
      yield* b.accepted(yield* oneCall(b))
      yield* t.equal((yield* b.finished()).data.status, "completed", "status, after a hook that failed")
    }
  )
]
