/** Lines that come together, and what is looked at before what. docs/local-agent-protocol.md, sections 4, 7 and 13. */
import {
  activityOf,
  at,
  type Backend,
  type Case,
  c,
  cite,
  completed,
  type EventFrame,
  history,
  type JsonObject,
  messagesOf,
  oneCall,
  shown,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")
const models = cite("models")

const lineOrder = protocol("Requests take effect in the order of their lines.")
const behindVerdict = protocol("what stands behind a client.tool.result takes effect after the verdict on it.")
const members = ["instance_id", "session_id", "run_id", "call_id", "task_id", "subagent_id"]

/** The line of a reply. */
const reply = (b: Backend, e: EventFrame<"client.tool.call">, fields: JsonObject, id: string): string =>
  b.requestLine("client.tool.result", b.answer(e, fields), id)

/** The line of a `turn.cancel` of the run. */
const cancelLine = (b: Backend, id: string): string =>
  b.requestLine("turn.cancel", { session_id: b.session, run_id: b.run }, id)

export const order: ReadonlyArray<Case> = [
  c(
    "order.two-replies",
    [clientTools("The replies to one call are judged in the order of their lines."), lineOrder],
    function* (t) {
      const b = yield* t.ready()
      const [x, y] = yield* twoCalls(b)
      const replies = [
        reply(b, x, { text: "first" }, "x1"),
        reply(b, x, { text: "second" }, "x2"),
        reply(b, y, { text: "z".repeat(32_769) }, "y1"),
        reply(b, y, { text: "corrected" }, "y2")
      ]
      yield* b.raw(replies.join(""))
      const verdicts: Array<string> = []
      for (const id of ["x1", "x2", "y1", "y2"]) verdicts.push((yield* b.response(id)).error?.code ?? "accepted")
      yield* t.equal(verdicts, ["accepted", "stale_client_tool_call", "invalid_params", "accepted"], "answers")
      const seen = (yield* completed(b)).map(({ content }) => content)
      yield* t.equal(seen, [{ text: "first" }, { text: "corrected" }], "what the model saw")
      yield* t.equal(b.cancels().length, 0, "notices")
    }
  ),

  c(
    "order.result-then-cancel",
    [
      behindVerdict,
      clientTools(
        "A result accepted before the run was cancelled is recorded with its own status; the hooks are then skipped."
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      for (const [round, size] of [0, 15_000, 30_000].entries()) {
        const e = yield* oneCall(b)
        const fields = { structured: { s: "w".repeat(size) } }
        yield* b.raw(reply(b, e, fields, `r${round}`) + cancelLine(b, `c${round}`))
        yield* t.equal((yield* b.response(`r${round}`)).result, { accepted: true }, "reply")
        const { status } = (yield* b.finished()).data
        yield* t.expect(status !== "failed", `the run is cancelled, or was completed before, got ${status}`)
        const activity = activityOf(b, e)
        const got = [b.cancels().length, activity?.status, activity?.code]
        yield* t.equal(got, [0, "success", null], "notices, activity")
      }
      const statuses = (yield* history(b)).filter(({ kind }) => kind === "tool").map((entry) => entry.tool?.status)
      yield* t.equal(statuses, ["success", "success", "success"], "outcomes in the history")
    }
  ),

  c("order.cancel-then-result", lineOrder, function* (t) {
    const b = yield* t.ready()
    const e = yield* oneCall(b)
    yield* b.raw(cancelLine(b, "c") + reply(b, e, {}, "r"))
    yield* t.equal((yield* b.response("c")).result, { accepted: true }, "turn.cancel")
    yield* t.equal((yield* b.response("r")).error?.code, "stale_client_tool_call", "reply")
    yield* t.equal((yield* b.finished()).data.status, "cancelled", "status of the run")
    const reasons = b.cancels().map(({ data }) => data.reason)
    yield* t.equal(reasons, ["cancelled"], "notices")
  }),

  c(
    "order.eof-chunk",
    [
      protocol("Every complete frame that was read before the end of the input is carried out before closing begins."),
      protocol("A rest without an LF at the end of the input was never a frame and is not executed.")
    ],
    function* (t) {
      const b = yield* t.ready()
      const [x, y] = yield* twoCalls(b)
      // The end of the input right behind these bytes.
      yield* b.send(`${b.requestLine("status", {}, "s")}${reply(b, x, {}, "r")}{"version":1,"id":"cut"`)
      yield* b.eof
      yield* t.equal((yield* b.ended(2800)).code, 0, "exit code")
      yield* t.equal((yield* b.response("s")).result?.["state"], "ready", "state")
      yield* t.equal((yield* b.response("r")).result, { accepted: true }, "reply")
      const reasons = [x, y].map((e) => b.cancels(e.data.call_id).map(({ data }) => data.reason))
      yield* t.equal(reasons, [[], ["shutdown"]], "notices of the two calls")
      const others = b.frames.filter(({ event, id }) => event === undefined && (id === null || id === "cut"))
      yield* t.equal(others.length, 0, "answers to the rest without an LF")
    }
  ),

  c(
    "order.attached-session",
    [
      protocol("session.create and session.open replace the attached session if they succeed; if they fail, it stays."),
      protocol(
        "State errors come in this order, as far as a method has them: no_session, stale_session, run_active, then its own:"
      ),
      protocol("history.page | no_session, stale_session, run_active, stale_revision"),
      protocol("session.open | run_active, session_not_found, session_busy, workspace_mismatch, session_invalid")
    ],
    function* (t) {
      const b = yield* t.ready()
      const old = b.session
      yield* b.turn([{ text: "x" }])
      yield* b.finished()
      yield* b.refused("session_not_found", "session.open", { session_id: "none" })
      yield* t.equal((yield* b.ok("status")).session_id, old, "attached after a refusal")
      const e = yield* oneCall(b)
      const { history_revision: revision } = yield* b.ok("status")
      yield* b.refused("stale_session", "turn.start", { session_id: "other", prompt: "x" })
      yield* b.refused("stale_session", "history.page", { session_id: "other", revision })
      yield* b.refused("run_active", "history.page", { session_id: old, revision: "old" })
      yield* b.refused("run_active", "session.open", { session_id: "none" })
      yield* b.accepted(e)
      yield* completed(b)
      const fresh = yield* b.ok("session.create")
      yield* t.equal((yield* b.ok("status")).session_id, fresh.session_id, "attached after session.create")
      yield* b.refused("stale_session", "turn.start", { session_id: old, prompt: "x" })
      yield* t.equal((yield* b.ok("session.open", { session_id: old })).durable, true, "durable")
      yield* b.refused("stale_session", "turn.start", { session_id: fresh.session_id, prompt: "x" })
    }
  ),

  c(
    "order.identity-content",
    clientTools(
      "closed shape and types: identity members are strings of any content (task_id and subagent_id present, string or null) | invalid_params"
    ),
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const plain = ["", " ", "a b", "../x", "\u0000", "__proto__", "constructor", "é".repeat(300), "😀"]
      const id = e.data.call_id
      for (const odd of [...plain, "x".repeat(5000), `${id} `, `${id.toUpperCase()}\n`]) {
        for (const member of members) {
          const { error } = yield* b.reply(e, { [member]: odd })
          yield* t.equal(error?.code, "stale_client_tool_call", `${member} ${shown(odd, 40)}`)
        }
      }
      yield* b.accepted(e)
      yield* completed(b)
    }
  ),

  c(
    "order.raw-arguments",
    [
      clientTools(
        "client_tool_invalid_arguments | arguments that are not an object, or not JSON by the rules of the base protocol | no"
      ),
      models("Arguments that were not a JSON object are sent again as {}, with the failure as their result; never raw.")
    ],
    function* (t) {
      const bad = [
        '{"a":1,"a":2}',
        '{"n":9007199254740993}',
        '{"n":1e400}',
        "[1]",
        '"x"',
        "17",
        "null",
        '{"q":"\\ud800"}',
        '{"a":',
        '{"a":1} x'
      ]
      const calls = bad.map((text) => ({ name: "client__a", arguments: text }))
      const provider = yield* t.provider([{ calls }, { text: "ok" }])
      const b = yield* t.ready([tool("a")], { settings: provider.settings })
      yield* b.turn("go")
      yield* t.equal((yield* b.finished()).data.status, "completed", "status of the run")
      yield* t.equal(b.events("client.tool.call").length, 0, "call events")
      const messages = messagesOf(provider.requests[1])
      const again = messages.flatMap((message) => at(message, "tool_calls") ?? [])
      const texts = again.map((one) => at(one, "function", "arguments"))
      yield* t.equal(texts, Array(bad.length).fill("{}"), "arguments that are sent again")
      const told = messages.filter(({ role }) => role === "tool")
      yield* t.equal(told.length, bad.length, "results")
      for (const { content } of told) {
        const says = JSON.stringify(content).includes("client_tool_invalid_arguments")
        yield* t.expect(says, `a result without client_tool_invalid_arguments: ${shown(content)}`)
      }
    }
  )
]
