/** How a call ends without an accepted reply. docs/client-tools.md, sections 5 and 6. */
import {
  type Backend,
  type Case,
  c,
  callAll,
  cancelTurn,
  cite,
  completed,
  completedOne,
  failedWith,
  history,
  oneCall,
  sleep,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")

const oneNotice = clientTools(
  "A published call that ends without an accepted reply is followed by exactly one client.tool.cancel; an accepted one by none."
)
const deadlineStays = clientTools("Receiving the call does not restart it, and neither does a refused reply.")
const repeatable = protocol("Cancelling may be repeated while the run is active.")
const ended = protocol("stale_run | no such run is active")
const oneWinner = clientTools("Exactly one of reply, deadline, cancellation, end of run and closing ends a call;")
const finalRefusal = clientTools(
  "stale_client_tool_call is final. The call is unknown, answered, timed out, cancelled, or another's."
)

/** Milliseconds that a busy machine may add to a deadline of 1000. */
const LATE = 400

/**
 * When 16 replies are sent: milliseconds from where this side sees the deadline. It lies a little before that, more on a
 * busy machine, by the way of the event.
 */
const AROUND = [-200, -140, -90, -60, -40, -25, -15, -10, -7, -5, -3, -2, -1, 0, 2, 5]

const sixteen = Array.from({ length: 16 }, (_, i) => ["client__a", { i }] as const)

const runOf = (b: Backend) => ({ session_id: b.session, run_id: b.run })

export const cancel: ReadonlyArray<Case> = [
  c(
    "cancel.turn",
    [
      oneNotice,
      clientTools("The notice repeats the call's identity, says why, and wants no answer."),
      clientTools(
        "cancelled | the run, the subagent or the script that made the call was cancelled, or the script ran out of time"
      ),
      finalRefusal,
      ended
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b, { a: 1 })
      yield* cancelTurn(b)
      const end = yield* b.finished()
      yield* t.equal(end.data.status, "cancelled", "status of the run")
      const [notice, ...more] = b.cancels()
      yield* t.equal(more.length, 0, "further notices")
      const { arguments: _, name, timeout_ms, ...identity } = e.data
      yield* t.equal(notice?.data, { ...identity, reason: "cancelled" }, "data of the notice")
      yield* t.expect(notice && notice.index < end.index, "the notice stands before run.finished")
      yield* b.replyRefused("stale_client_tool_call", e)
      yield* b.refused("stale_run", "turn.cancel", runOf(b))
    }
  ),

  c(
    "cancel.twice",
    [repeatable, protocol("turn.cancel | session_id, run_id | accepted: true | no_session, stale_session, stale_run")],
    function* (t) {
      const b = yield* t.ready()
      yield* oneCall(b)
      yield* b.refused("stale_run", "turn.cancel", { ...runOf(b), run_id: "other" })
      yield* b.refused("stale_session", "turn.cancel", { ...runOf(b), session_id: "other" })
      const from = b.frames.length
      yield* b.raw(["c1", "c2"].map((id) => b.requestLine("turn.cancel", runOf(b), id)).join(""))
      yield* t.equal((yield* b.response("c1", { from })).result, { accepted: true }, "first")
      const second = yield* b.response("c2", { from })
      const end = yield* b.finished()
      const late = second.error?.code === "stale_run" && end.index < second.index
      if (!late) yield* t.equal(second.result, { accepted: true }, "second, while the run is active")
      yield* t.equal(b.cancels().length, 1, "notices")
    }
  ),

  c(
    "cancel.turn-goes-on",
    protocol("After a cancelled run the session takes the next turn like any other."),
    function* (t) {
      const b = yield* t.ready()
      yield* oneCall(b)
      yield* cancelTurn(b)
      yield* b.finished()
      yield* b.accepted(yield* oneCall(b), { text: "again" })
      yield* t.equal((yield* completedOne(b)).content, { text: "again" }, "what the model saw")
    }
  ),

  c(
    "cancel.timeout",
    [
      oneNotice,
      clientTools("timeout | the deadline passed"),
      clientTools("client_tool_timeout | the deadline passed | yes"),
      finalRefusal
    ],
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 1000 })])
      const before = performance.now()
      const e = yield* oneCall(b)
      const notice = yield* b.event("client.tool.cancel", () => true, { timeout: 3000 })
      yield* t.equal([notice.data.call_id, notice.data.reason], [e.data.call_id, "timeout"], "notice")
      const early = Math.round(notice.at - before)
      yield* t.expect(early >= 1000, `the notice came ${early} ms after turn.start was sent, before the deadline`)
      const late = Math.round(notice.at - e.at)
      yield* t.expect(late <= 1000 + LATE, `the notice came ${late} ms after the call`)
      yield* b.replyRefused("stale_client_tool_call", e)
      yield* failedWith(yield* completedOne(b), "client_tool_timeout")
      yield* t.equal(b.cancels().length, 1, "notices")
    },
    { serial: true }
  ),

  c(
    "cancel.deadline-absolute",
    deadlineStays,
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 1000 })])
      const e = yield* oneCall(b)
      for (let round = 0; round < 2; round++) {
        yield* sleep(140)
        yield* b.replyRefused("stale_client_tool_call", e, { run_id: "other" })
        yield* sleep(140)
        yield* b.replyRefused("invalid_params", e, { status: "no" })
      }
      yield* b.replyRefused("invalid_params", e, { text: "x".repeat(32_769) })
      const notice = yield* b.event("client.tool.cancel", () => true, { timeout: 3000 })
      yield* t.equal(notice.data.reason, "timeout", "reason")
      const late = Math.round(notice.at - e.at)
      yield* t.expect(late <= 1000 + LATE, `the notice came ${late} ms after the call`)
    },
    { serial: true }
  ),

  c(
    "cancel.last-moment",
    clientTools("all six members are those of an open call whose deadline has not passed | stale_client_tool_call"),
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 1000 })])
      const e = yield* oneCall(b)
      yield* sleep(e.at + 850 - performance.now())
      yield* b.accepted(e, { text: "just in time" })
      yield* t.equal((yield* completedOne(b)).content, { text: "just in time" }, "what the model saw")
      yield* sleep(300)
      yield* t.equal(b.cancels().length, 0, "notices")
    },
    { serial: true }
  ),

  c(
    "cancel.invalid-then-valid-in-time",
    [
      clientTools(
        "invalid_params leaves the call open. Correct the reply, give it a fresh id, and keep the deadline in mind: it goes on."
      ),
      oneNotice
    ],
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 1500 })])
      const e = yield* oneCall(b)
      yield* b.replyRefused("invalid_params", e, { status: "no" })
      yield* sleep(300)
      yield* b.accepted(e)
      yield* t.equal((yield* completedOne(b)).success, true, "success")
      yield* sleep(1400)
      yield* t.equal(b.cancels().length, 0, "notices, past the deadline")
    }
  ),

  c("cancel.never-after-accept", oneNotice, function* (t) {
    const b = yield* t.ready()
    const [x, y] = yield* twoCalls(b)
    yield* b.accepted(x)
    yield* cancelTurn(b)
    yield* t.equal((yield* b.finished()).data.status, "cancelled", "status of the run")
    const told = b.cancels().map(({ data }) => data.call_id)
    yield* t.equal(told, [y.data.call_id], "calls with a notice")
  }),

  c("cancel.all-sixteen", [oneNotice, clientTools("The slot is free in the moment of the settlement.")], function* (t) {
    const b = yield* t.ready()
    const first = yield* callAll(b, sixteen)
    yield* cancelTurn(b)
    yield* b.finished()
    yield* t.equal(
      b
        .cancels()
        .map(({ data }) => data.call_id)
        .sort(),
      first.map(({ data }) => data.call_id).sort(),
      "calls with a notice"
    )
    yield* t.equal((yield* b.ok("status")).pending_client_calls, 0, "pending calls")
    for (const e of yield* callAll(b, sixteen)) yield* b.accepted(e)
    const successes = (yield* completed(b)).filter(({ success }) => success)
    yield* t.equal(successes.length, 16, "successes of the next turn")
  }),

  c(
    "cancel.storm-deadline",
    [oneWinner, oneNotice, finalRefusal],
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 1000 })])
      const events = yield* callAll(b, sixteen)
      for (const [i, e] of events.entries()) {
        yield* sleep(Math.max(0, e.at + 1000 + (AROUND[i] ?? 0) - performance.now()))
        yield* b.send(b.requestLine("client.tool.result", b.answer(e, { text: `won ${i}` }), `storm${i}`))
      }
      const results = yield* completed(b)
      for (const [i, e] of events.entries()) {
        const answer = yield* b.response(`storm${i}`)
        const reasons = b.cancels(e.data.call_id).map(({ data }) => data.reason)
        const result = results[i]
        if (answer.result) {
          yield* t.equal([answer.result, reasons], [{ accepted: true }, []], `call ${i}, accepted`)
          yield* t.equal(
            [result?.success, result?.content],
            [true, { text: `won ${i}` }],
            `call ${i}, accepted: result`
          )
        } else {
          yield* t.equal([answer.error?.code, reasons], ["stale_client_tool_call", ["timeout"]], `call ${i}, late`)
          yield* failedWith(result, "client_tool_timeout")
        }
      }
    },
    { serial: true }
  ),

  c("cancel.history", clientTools("cancelled, run finished | cancelled | cancelled"), function* (t) {
    const b = yield* t.ready()
    yield* oneCall(b)
    yield* cancelTurn(b)
    yield* b.finished()
    const statuses = (yield* history(b)).filter(({ kind }) => kind === "tool").map((entry) => entry.tool?.status)
    yield* t.equal(statuses, ["cancelled"], "outcomes of the call in the history")
  })
]
