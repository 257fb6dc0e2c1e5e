/** What the ending of a call becomes in activities and history, and of a run. docs/client-tools.md, section 7. */

import { Effect } from "effect"
import {
  activityOf,
  agents,
  type Backend,
  type Case,
  type CaseContext,
  c,
  call,
  callAll,
  cancelTurn,
  cite,
  code,
  completed,
  type EventFrame,
  history,
  sleep,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")

const failureCode = protocol("code is the failure code of any tool (client-tools.md), null on success.")

/** Status and code of the activities of these calls. */
const activitiesOf = (b: Backend, calls: ReadonlyArray<EventFrame<"client.tool.call">>) =>
  calls.map((one) => [activityOf(b, one)?.status, activityOf(b, one)?.code])

/** The status of each tool in the history, in its order. */
const recorded = (b: Backend, name = "") =>
  Effect.map(history(b), (entries) =>
    entries.flatMap(({ tool }) => (tool === undefined || !tool.name.includes(name) ? [] : [tool.status]))
  )

/** The run of a call that hangs must be cancelled in its time. */
const cancelsInTime = (t: CaseContext, b: Backend, name: string, args: { readonly [name: string]: string }) =>
  Effect.gen(function* () {
    yield* b.turn([{ calls: [call(name, args)] }, { text: "x" }])
    yield* b.event("activity.started", ({ data }) => data.run_id === b.run)
    yield* sleep(300)
    const answer = yield* b.request("turn.cancel", { session_id: b.session, run_id: b.run })
    const end = yield* b.finished(b.run, { timeout: 4000 })
    yield* t.equal([answer.result, end.data.status], [{ accepted: true }, "cancelled"], name)
    const took = Math.round(end.at - answer.at)
    yield* t.expect(took < 1600, `${name}: run.finished came ${took} ms after the accepted turn.cancel`)
  })

export const outcomes: ReadonlyArray<Case> = [
  c(
    "outcomes.activities",
    [
      clientTools(
        "reply error, timeout, busy, payload limit, invalid arguments, not permitted, denied by a hook | failure | failure"
      ),
      protocol("call_id is the id of the client.tool.call that this activity published, null if none was."),
      failureCode
    ],
    function* (t) {
      const b = yield* t.ready([tool("a"), tool("t", { timeout_ms: 1000 })])
      const events = yield* callAll(b, [["client__a"], ["client__a"], ["client__t"], ["client__none"]], 3)
      const [good, bad] = events
      if (good === undefined || bad === undefined) return yield* t.fail("three calls should be pending")
      yield* b.accepted(good)
      yield* b.accepted(bad, { status: "error", text: "no" })
      yield* completed(b)
      yield* t.equal(
        activitiesOf(b, events),
        [
          ["success", null],
          ["failure", "client_tool_error"],
          ["failure", "client_tool_timeout"]
        ],
        "activities of the calls published"
      )
      const refused = b.events("activity.finished").find(({ data }) => data.code === "client_tool_not_permitted")
      yield* t.equal([refused?.data.status, refused?.data.call_id], ["failure", null], "activity of the call refused")
      yield* t.equal(yield* recorded(b), ["success", "failure", "failure", "failure"], "history")
      const seventeen = Array.from({ length: 17 }, () => ["client__a"] as const)
      for (const e of yield* callAll(b, seventeen, 16)) yield* b.accepted(e)
      yield* b.finished()
      const busy = b.events("activity.finished").filter(({ data }) => data.code === "client_tool_busy")
      yield* t.equal(
        busy.map(({ data }) => [data.status, data.call_id]),
        [["failure", null]],
        "activity of the call that was one too many"
      )
    }
  ),

  c(
    "outcomes.cancelled",
    [
      clientTools("cancelled, run finished | cancelled | cancelled"),
      clientTools("client_tool_cancelled | cancelled, or its run ended | maybe"),
      clientTools("A result accepted before the run was cancelled is recorded with its own status;")
    ],
    function* (t) {
      const b = yield* t.ready()
      const [answered, open] = yield* twoCalls(b)
      yield* b.accepted(answered, { status: "error" })
      yield* cancelTurn(b)
      yield* b.finished()
      yield* t.equal(
        activitiesOf(b, [answered, open]),
        [
          ["failure", "client_tool_error"],
          ["cancelled", "client_tool_cancelled"]
        ],
        "activities"
      )
      yield* t.equal(yield* recorded(b), ["failure", "cancelled"], "history")
    }
  ),

  c(
    "outcomes.shutdown",
    [
      clientTools("closing | interrupted | cancelled"),
      clientTools("client_tool_unavailable | the process is closing | maybe"),
      protocol(
        "All pending client calls end in one step, each with client.tool.cancel and reason shutdown; then the run is cancelled."
      ),
      protocol("What can be appended is appended, and run.finished with status cancelled is placed.")
    ],
    function* (t) {
      const first = yield* t.ready()
      yield* first.turn([
        {
          calls: [
            call("client__a", { way: "root" }),
            agents([[{ calls: [call("client__a", { way: "sub" })] }]]),
            code('return await tools.call("client__a", { way: "code" })')
          ]
        }
      ])
      const events = yield* first.calls(3)
      yield* first.ok("shutdown")
      yield* t.equal((yield* first.ended(2600)).code, 0, "exit code")
      for (const e of events) {
        const way = `the call of ${e.data.arguments["way"]}`
        const reasons = first.cancels(e.data.call_id).map(({ data }) => data.reason)
        yield* t.equal(reasons, ["shutdown"], `notices for ${way}`)
        yield* t.equal(activitiesOf(first, [e]), [["cancelled", "client_tool_unavailable"]], `activity of ${way}`)
      }
      const end = yield* first.finished()
      yield* t.equal(end.data.status, "cancelled", "status of the run")
      yield* t.expect(
        first.cancels().every(({ index }) => index < end.index),
        "run.finished stands behind every notice"
      )
      const b = yield* t.ready([tool("a")], { session: first.session })
      const statuses = yield* recorded(b, "client__a")
      yield* t.expect(statuses.length > 0, "the history has the client calls of the root agent")
      yield* t.equal([...new Set(statuses)], ["interrupted"], "their status in the history")
    }
  ),

  c(
    "outcomes.usage",
    protocol(
      "usage is input_tokens and output_tokens, summed over all model responses of the run, those of subagents included; null if no provider told any."
    ),
    function* (t) {
      const usage = (prompt_tokens: number, completion_tokens: number) => ({
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens + completion_tokens
      })
      const provider = yield* t.provider([
        { calls: [{ name: "client__none" }], usage: usage(11, 7) },
        { text: "hi", usage: usage(20, 5) }
      ])
      const b = yield* t.ready([tool("a")], { settings: provider.settings })
      yield* b.turn("hello")
      yield* t.equal((yield* b.finished()).data.usage, { input_tokens: 31, output_tokens: 12 }, "usage")
      yield* b.eof
      const silent = yield* t.ready([tool("a")], { settings: (yield* t.provider([{ text: "hi" }])).settings })
      yield* silent.turn("hello")
      yield* t.equal((yield* silent.finished()).data.usage, null, "usage where the provider told none")
    }
  ),

  c(
    "outcomes.cancel-in-time",
    protocol(
      "run.finished has its place within 1500 ms of the accepted turn.cancel; what still runs then is killed or abandoned."
    ),
    function* (t) {
      const approvals = { bash: "allow", write: "allow" }
      const b = yield* t.ready([tool("a")], { settings: { approvals, mcp: t.mcp({ hang: true }) } })
      const command = 'trap "" TERM INT HUP; while :; do sleep 1; done'
      yield* cancelsInTime(t, b, "bash", { command })
      yield* cancelsInTime(t, b, "mcp__kit__echo", { words: "x" })
    },
    { serial: true }
  )
]
