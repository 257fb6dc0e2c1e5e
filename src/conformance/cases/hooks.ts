/** Commands around calls. docs/tools.md, Hooks. */
import {
  at,
  type Backend,
  type Case,
  c,
  call,
  cite,
  completed,
  completedOne,
  failedWith,
  type Json,
  type JsonObject,
  oneCall,
  sleep,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const tools = cite("tools")

const firstDenial = tools(
  "The first denial ends the call with hook_denied and the hook's reason; no further hook runs, nothing is executed or published, and the run goes on."
)

/** Settings with these `before_tool` hooks. */
const before = (...before_tool: ReadonlyArray<JsonObject>): { readonly settings: JsonObject } => ({
  settings: { hooks: { before_tool, after_tool: [] } }
})

/** What a hook reads of a call of `client__a` by the root agent. */
const inputOf = (b: Backend, hook: string, args: JsonObject): JsonObject => ({
  hook,
  session_id: b.session,
  run_id: b.run,
  tool: "client__a",
  arguments: args,
  task_id: null,
  subagent_id: null
})

export const hooks: ReadonlyArray<Case> = [
  c(
    "hooks.allow",
    [
      tools(
        "It reads one JSON object on stdin: hook (its kind), session_id, run_id, tool, arguments, task_id, subagent_id."
      ),
      tools("a hook that prints nothing allows.")
    ],
    function* (t) {
      const b = yield* t.ready([tool("a")], before(t.hook({ log: t.file("hook.log"), noise: true })))
      const e = yield* oneCall(b, { q: "x" })
      const wanted = inputOf(b, "before_tool", { q: "x" })
      yield* t.equal(JSON.parse(t.read("hook.log")), wanted, "what the hook read")
      yield* b.accepted(e)
      yield* completed(b)
    }
  ),

  c("hooks.deny", firstDenial, function* (t) {
    const hook = t.hook({ print: { decision: "deny", reason: "not today" } }, { tools: ["client__a"] })
    const b = yield* t.ready([tool("a"), tool("b")], before(hook))
    yield* b.turn([{ calls: [call("client__a"), call("client__b")] }, { text: "{{results}}" }])
    const [e] = yield* b.calls()
    if (e === undefined) return yield* t.fail("no call")
    yield* t.equal(e.data.name, "client__b", "the tool that is called all the same")
    yield* b.accepted(e)
    const [denied, other] = yield* completed(b)
    yield* failedWith(denied, "hook_denied")
    yield* failedWith(denied, "not today")
    yield* t.equal([other?.success, b.events("client.tool.call").length], [true, 1], "success of the other, events")
  }),

  c("hooks.replace", tools("arguments replace those of the call, and everything is checked again."), function* (t) {
    const hook = t.hook({ print: { decision: "allow", arguments: { q: "changed" } } })
    const b = yield* t.ready([tool("a")], before(hook))
    yield* t.equal((yield* oneCall(b, { q: "x" })).data.arguments, { q: "changed" }, "arguments")
  }),

  c(
    "hooks.failure",
    [
      tools("Failures are another exit code than 0, a hook that has not ended after timeout_ms,"),
      tools("warn goes on with the arguments as they were, block ends the call with hook_failed.")
    ],
    function* (t) {
      const b = yield* t.ready(
        [tool("a"), tool("b"), tool("c")],
        before(
          t.hook({ exit: 3 }, { tools: ["client__a"], on_failure: "warn" }),
          t.hook({ exit: 3 }, { tools: ["client__b"], on_failure: "block" }),
          t.hook({ sleep: 20_000 }, { tools: ["client__c"], on_failure: "block", timeout_ms: 300 })
        )
      )
      const names = ["client__a", "client__b", "client__c"]
      yield* b.turn([{ calls: names.map((name) => call(name, { as: "it was" })) }, { text: "{{results}}" }])
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* t.equal([e.data.name, e.data.arguments], ["client__a", { as: "it was" }], "the call that goes on")
      yield* b.accepted(e)
      const [warned, blocked, late] = yield* completed(b)
      yield* t.equal(warned?.success, true, "success under warn")
      for (const result of [blocked, late]) yield* failedWith(result, "hook_failed")
      yield* t.equal(b.events("client.tool.call").length, 1, "events")
    }
  ),

  c(
    "hooks.after",
    tools(
      "after_tool observes: it reads a redacted copy of the same members, with status and result besides, and changes nothing."
    ),
    function* (t) {
      const after_tool = [t.hook({ log: t.file("after.log"), print: { decision: "deny", arguments: {} } })]
      const b = yield* t.ready([tool("a")], { settings: { hooks: { before_tool: [], after_tool } } })
      const e = yield* oneCall(b, { q: "x", password: "SENTINEL" })
      yield* b.accepted(e, { text: "fine password=SENTINEL", structured: { api_key: "SENTINEL", ok: 1 } })
      const result = yield* completedOne(b)
      yield* t.equal([result.success, at(result.content, "ok")], [true, 1], "what the model saw")
      const read: Json = JSON.parse(t.read("after.log"))
      const wanted = inputOf(b, "after_tool", { q: "x", password: "[redacted]" })
      const members = Object.keys(wanted).map((name) => [name, at(read, name)])
      yield* t.equal(Object.fromEntries(members), wanted, "what the hook read")
      yield* t.expect(
        at(read, "status") !== undefined && at(read, "result") !== undefined,
        "it reads status and result"
      )
      yield* t.expect(!JSON.stringify(read).includes("SENTINEL"), "what it reads is redacted")
    }
  ),

  c(
    "hooks.other-tools",
    tools(
      "A hook is a command around the calls of the tools that its patterns name; * stands for any run of characters, and without patterns it is every tool."
    ),
    function* (t) {
      const deny = { print: { decision: "deny" } }
      const b = yield* t.ready([tool("a")], before(t.hook(deny, { tools: ["mcp__*", "client__other*", "read"] })))
      yield* b.accepted(yield* oneCall(b))
      yield* t.equal((yield* completedOne(b)).success, true, "success of a tool that no pattern names")
    }
  ),

  c(
    "hooks.not-cancelled-deadline",
    clientTools(
      "timeout_ms is the full time of the descriptor. The deadline is an absolute point of a monotonic clock, fixed just before the event takes its place among the output."
    ),
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 2000 })], before(t.hook({ sleep: 1400 })))
      const e = yield* oneCall(b)
      yield* t.equal(e.data.timeout_ms, 2000, "timeout_ms after a hook of 1400 ms")
      yield* sleep(1000)
      yield* b.accepted(e)
      yield* t.equal((yield* completedOne(b)).success, true, "success of a reply 2400 ms after the hook began")
    }
  )
]
