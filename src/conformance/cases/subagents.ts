/** Calls of subagents: who calls, and how such a call ends. docs/subagents.md; docs/client-tools.md, section 9. */
import {
  agents,
  at,
  type Case,
  c,
  call,
  cancelTurn,
  cite,
  completed,
  completedOne,
  endsWithoutCall,
  type JsonObject,
  shown,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const subagentsPage = cite("subagents")

const ID = /^[A-Za-z0-9._:-]{1,128}$/

const oneCallOfSub: ReadonlyArray<JsonObject> = [
  { calls: [call("client__a", { from: "sub" })] },
  { text: "sub says {{results}}" }
]

const ownIds = subagentsPage("Both are made by the agent, never taken from the model, and no other task has them.")

export const subagents: ReadonlyArray<Case> = [
  c(
    "subagents.ids",
    [
      clientTools("Session and run are those of the root, whoever calls."),
      clientTools("Calls of this subagent carry that task_id, and that activity_id as their subagent_id."),
      ownIds
    ],
    function* (t) {
      const b = yield* t.ready()
      yield* b.turn([{ calls: [agents([oneCallOfSub])] }, { text: "{{results}}" }])
      const e = yield* b.event("client.tool.call")
      const { data } = e
      yield* t.equal([data.session_id, data.run_id], [b.session, b.run], "session and run of the call")
      const ids = [data.task_id, data.subagent_id]
      yield* t.expect(
        ids.every((id) => id !== null && ID.test(id)),
        `task_id and subagent_id should be ids, got ${shown(ids)}`
      )
      const activity = b.events("activity.started").find((one) => one.data.kind === "subagent")?.data
      yield* t.equal([activity?.task_id, activity?.activity_id], ids, "task and id of the subagent's activity")
      yield* b.accepted(e, { text: "for the subagent" })
      const result = yield* completedOne(b)
      yield* t.equal([result.name, result.success], ["subagents", true], "result")
      yield* t.equal(at(result.content, 0, "task_id"), data.task_id, "task_id of the result")
      yield* t.expect(
        JSON.stringify(result.content).includes("for the subagent"),
        `what the subagent saw should come back in its output, got ${shown(result)}`
      )
    }
  ),

  c(
    "subagents.parallel-ids",
    [
      ownIds,
      clientTools("all six members are those of an open call whose deadline has not passed | stale_client_tool_call")
    ],
    function* (t) {
      const b = yield* t.ready()
      yield* b.turn([{ calls: [agents([oneCallOfSub], [oneCallOfSub], [oneCallOfSub])] }, { text: "{{results}}" }])
      const events = yield* b.calls(3)
      const [one, other] = events
      if (one === undefined || other === undefined) return yield* t.fail("three calls should be pending")
      const different = (ids: ReadonlyArray<string | null>) => new Set(ids).size
      yield* t.equal(
        [different(events.map(({ data }) => data.task_id)), different(events.map(({ data }) => data.subagent_id))],
        [3, 3],
        "different task ids, different subagent ids"
      )
      const { subagent_id, task_id } = other.data
      for (const wrong of [{ task_id }, { subagent_id }, { task_id: null, subagent_id: null }]) {
        yield* b.replyRefused("stale_client_tool_call", one, wrong)
      }
      for (const e of events) yield* b.accepted(e)
      yield* completed(b)
    }
  ),

  c(
    "subagents.inspect",
    [
      clientTools("In mode inspect it can call no client tool at all, also none that is described as reading only."),
      subagentsPage(
        "a client tool, Code Mode, a write or anything that would ask for approval is refused, whatever its name, its description, the profile or the prompt say."
      )
    ],
    function* (t) {
      const b = yield* t.ready([tool("a", { description: "Read-only lookup." })])
      yield* b.turn([{ calls: [agents([oneCallOfSub, "inspect"])] }, { text: "{{results}}" }])
      yield* endsWithoutCall(b)
      const result = yield* completedOne(b)
      yield* t.expect(
        JSON.stringify(result).includes("client_tool_not_permitted"),
        `the subagent should see client_tool_not_permitted, got ${shown(result)}`
      )
    }
  ),

  c(
    "subagents.cancel",
    [
      subagentsPage("each pending client call gets one client.tool.cancel."),
      clientTools("The notice repeats the call's identity, says why, and wants no answer.")
    ],
    function* (t) {
      const b = yield* t.ready()
      yield* b.turn([{ calls: [agents([oneCallOfSub], [oneCallOfSub])] }])
      const events = yield* b.calls(2)
      yield* cancelTurn(b)
      yield* t.equal((yield* b.finished()).data.status, "cancelled", "status")
      for (const { data } of events) {
        const { arguments: _, name, timeout_ms, ...identity } = data
        yield* t.equal(
          b.cancels(data.call_id).map((notice) => notice.data),
          [{ ...identity, reason: "cancelled" }],
          "notices for a subagent's call"
        )
      }
    }
  ),

  c("subagents.failing", subagentsPage("A task that fails loses nothing of the others;"), function* (t) {
    const b = yield* t.ready()
    yield* b.turn([{ calls: [agents([[{ error: "unavailable" }]], [oneCallOfSub])] }, { text: "{{results}}" }])
    yield* b.accepted(yield* b.event("client.tool.call"))
    const { content } = yield* completedOne(b)
    yield* t.equal(
      [at(content, 0, "status"), at(content, 1, "status")],
      ["failed", "completed"],
      "statuses of a task whose model fails, and of the other"
    )
  })
]
