/** What a subagent may call, also when its session is reopened. docs/subagents.md; docs/client-tools.md, section 9. */
import {
  agents,
  at,
  type Case,
  c,
  call,
  cite,
  completed,
  completedOne,
  endsWithoutCall,
  failedWith,
  type JsonObject,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const subagents = cite("subagents")

const profile = (...tools: ReadonlyArray<string>): JsonObject => ({ instructions: "x", tools })
const approvals = { bash: "allow", write: "allow" }
const touch = call("bash", { command: "echo x > ran" })
const oneCallOfSub: ReadonlyArray<JsonObject> = [
  { calls: [call("client__a", { from: "sub" })] },
  { text: "{{results}}" }
]

export const scopes: ReadonlyArray<Case> = [
  c(
    "scopes.intersection",
    [
      subagents(
        "Its tools are its parent's, intersected with its profile, on each surface (direct calls and Code Mode) for itself, at every depth."
      ),
      subagents("agent | a profile from the settings (agents); without one the subagent has what its parent has")
    ],
    function* (t) {
      const b = yield* t.ready([tool("a"), tool("b")], {
        settings: {
          approvals,
          agents: {
            narrow: profile("subagents", "client__b"),
            wide: profile("client__*", "bash", "code_mode")
          }
        }
      })
      const inner = (n: number): ReadonlyArray<JsonObject> => [
        { calls: [call("client__a", { n }), call("client__b", { n }), touch] },
        { text: "{{results}}" }
      ]
      const outer = [
        { calls: [agents([inner(1), "standard", { agent: "wide" }], [inner(2)])] },
        { text: "{{results}}" }
      ]
      yield* b.turn([{ calls: [agents([outer, "standard", { agent: "narrow" }])] }, { text: "{{results}}" }])
      for (const e of yield* b.calls(2)) yield* b.accepted(e)
      yield* completed(b)
      yield* t.equal(
        b
          .events("client.tool.call")
          .map(({ data }) => [data.name, data.arguments["n"]])
          .sort(),
        [
          ["client__b", 1],
          ["client__b", 2]
        ],
        "calls of a subagent with a wide profile, and of one with none, below a narrow one"
      )
      yield* t.equal(t.read("ran"), "", "what bash would have written")
    }
  ),

  c(
    "scopes.unknown-agent",
    subagents(
      "The result is an array in the order of the tasks, [{task_id, status, output, error?}] with status completed, failed or cancelled. A task that fails loses nothing of the others; an agent that is not configured fails its task alone."
    ),
    function* (t) {
      const b = yield* t.ready()
      const tasks = agents([oneCallOfSub, "standard", { agent: "nobody" }], [oneCallOfSub], [[{ text: "third" }]])
      yield* b.turn([{ calls: [tasks] }, { text: "{{results}}" }])
      const e = yield* b.event("client.tool.call")
      yield* b.accepted(e)
      yield* endsWithoutCall(b, e.index + 1)
      const { content } = yield* completedOne(b)
      const each = [0, 1, 2]
      yield* t.equal(
        each.map((i) => at(content, i, "status")),
        ["failed", "completed", "completed"],
        "statuses of the tasks"
      )
      yield* t.expect(at(content, 0, "error"), "the failed task has an error")
      yield* t.equal(
        [at(content, 1, "task_id"), at(content, 2, "output")],
        [e.data.task_id, "third"],
        "id of the task that called, output of the last"
      )
      yield* t.equal(new Set(each.map((i) => at(content, i, "task_id"))).size, 3, "different task ids")
    }
  ),

  c(
    "scopes.delegated-run",
    [
      clientTools(
        "It is not listed; session.open takes it. It stays a subagent then: each run has an activity of kind subagent without a parent, and calls carry the attached session's id as session_id and task_id, and the new activity's id as subagent_id."
      ),
      clientTools(
        "Reopened, it may call what was saved and is registered now with the same fingerprint and is allowed by today's settings. A new, removed or changed tool is not available."
      )
    ],
    function* (t) {
      const settings = {
        agents: { narrow: profile("read", "code_mode", "client__a", "client__b") },
        approvals
      }
      const first = yield* t.ready([tool("a"), tool("b")], { settings })
      yield* first.turn([{ calls: [agents([oneCallOfSub, "standard", { agent: "narrow" }])] }, { text: "x" }])
      const before = yield* first.event("client.tool.call")
      yield* first.accepted(before)
      yield* first.finished()
      yield* first.eof
      yield* first.ended()
      const { task_id } = before.data
      if (task_id === null) return yield* t.fail("a subagent's call should have a task_id")

      const changed = tool("b", { timeout_ms: 30_001 })
      const b = yield* t.ready([tool("a"), changed, tool("c")], { session: task_id })
      yield* t.equal(b.session, task_id, "session attached")
      const { entries } = yield* b.ok("session.list")
      yield* t.equal(
        entries.map(({ session_id }) => session_id),
        [first.session],
        "sessions listed"
      )
      yield* b.turn([
        { calls: [call("client__a"), call("client__b"), call("client__c"), touch] },
        { text: "{{results}}" }
      ])
      const e = yield* b.event("client.tool.call")
      const activity = b.events("activity.started").find(({ data }) => data.kind === "subagent")?.data
      yield* t.equal([activity?.parent_id, activity?.task_id], [null, task_id], "parent and task of the activity")
      yield* t.equal(
        [e.data.name, e.data.session_id, e.data.task_id, e.data.subagent_id],
        ["client__a", task_id, task_id, activity?.activity_id],
        "name and identity of the call"
      )
      yield* t.expect(e.data.subagent_id !== before.data.subagent_id, "the subagent's activity is a new one")
      yield* b.accepted(e)
      yield* endsWithoutCall(b, e.index + 1)
      const results = yield* completed(b)
      yield* t.equal(
        results.map(({ success }) => success),
        [true, false, false, false],
        "the tool as it was, a changed one, a new one, one outside the profile: success"
      )
      for (const result of results.slice(1, 3)) yield* failedWith(result, "client_tool_not_permitted")
      yield* t.equal(t.read("ran"), "", "what bash would have written")
    }
  )
]
