/** Replies to calls: their shape, bounds, identity. docs/client-tools.md, sections 3 and 5. */
import {
  type Case,
  c,
  callAll,
  cite,
  completed,
  completedOne,
  type JsonObject,
  oneCall,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")

const leavesOpen = clientTools("invalid_params leaves the call open.")
const identityChecked = clientTools(
  "all six members are those of an open call whose deadline has not passed | stale_client_tool_call"
)

export const results: ReadonlyArray<Case> = [
  c(
    "results.text-and-structured",
    clientTools(
      "text is a string and may be empty. structured is any JSON value; null is a value, leaving the member out is none."
    ),
    function* (t) {
      const b = yield* t.ready()
      const replies: ReadonlyArray<JsonObject> = [
        { text: "only text" },
        { text: "" },
        { text: "x", structured: null },
        { text: "x", structured: { found: true } },
        { text: "", structured: [1, "two", null] },
        { text: "x", structured: 0 },
        { text: "x", structured: false },
        { text: "x", structured: "" },
        { text: "x", structured: {} }
      ]
      const events = yield* callAll(
        b,
        replies.map(() => ["client__a"] as const)
      )
      for (const [i, e] of events.entries()) yield* b.accepted(e, replies[i])
      const seen = (yield* completed(b)).map(({ content, name, success }) => ({ content, name, success }))
      const wanted = replies.map((reply) => ({
        content: "structured" in reply ? reply["structured"] : { text: reply["text"] },
        name: "client__a",
        success: true
      }))
      yield* t.equal(seen.length, wanted.length, "results")
      for (const [i, one] of wanted.entries()) yield* t.equal(seen[i], one, `result ${i}`)
    }
  ),

  c(
    "results.error-status",
    [
      clientTools(
        "An error is output for the model like any other, with the failure code client_tool_error; it says nothing about the agent. Both may have a structured value."
      ),
      clientTools("client_tool_error | the client replied error | yes")
    ],
    function* (t) {
      const b = yield* t.ready()
      const [x, y] = yield* twoCalls(b)
      yield* b.accepted(x, { status: "error", text: "no such record" })
      yield* b.accepted(y, { status: "error", text: "", structured: { why: "denied" } })
      const seen = yield* completed(b)
      yield* t.equal(
        seen.map(({ content, error, success }) => [success, content, error?.code]),
        [
          [false, { text: "no such record" }, "client_tool_error"],
          [false, { why: "denied" }, "client_tool_error"]
        ],
        "what the model saw"
      )
    }
  ),

  c(
    "results.bound",
    [
      clientTools("text and structured value have at most 32768 bytes together | invalid_params"),
      clientTools(
        "result_bytes | 32768 | the text of a reply in UTF-8, plus its structured value, compact, if it has one"
      ),
      leavesOpen
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const z = (n: number) => "z".repeat(n)
      const over: { readonly [what: string]: JsonObject } = {
        "32769 bytes of text": { text: z(32_769) },
        "32769 bytes of text in UTF-8": { text: `${"é".repeat(16_384)}z` },
        "32760 bytes of text and 9 of structured": { text: z(32_760), structured: z(7) },
        "32769 bytes of structured": { text: "", structured: z(32_767) }
      }
      for (const [what, fields] of Object.entries(over)) {
        yield* t.equal((yield* b.reply(e, fields)).error?.code, "invalid_params", what)
      }
      yield* t.equal((yield* b.ok("status")).pending_client_calls, 1, "pending calls")
      yield* b.accepted(e, { text: z(32_768) })
      yield* t.equal((yield* completedOne(b)).content, { text: z(32_768) }, "the whole text reaches the model")
    }
  ),

  c(
    "results.invalid-then-valid",
    [
      clientTools(
        "closed shape and types: identity members are strings of any content (task_id and subagent_id present, string or null) | invalid_params"
      ),
      clientTools("All members are required but structured."),
      clientTools("status is success or error."),
      leavesOpen
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const good = b.answer(e)
      for (const left of Object.keys(good)) {
        const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== left))
        const { error } = yield* b.request("client.tool.result", rest)
        yield* t.equal(error?.code, "invalid_params", `without ${left}`)
      }
      const wrong: ReadonlyArray<JsonObject> = [
        { status: "ok" },
        { status: "Success" },
        { status: null },
        { text: null },
        { text: 5 },
        { text: ["x"] },
        { extra: 1 },
        { name: "client__a" },
        { task_id: 5 },
        { subagent_id: false },
        { call_id: 7 },
        { session_id: null },
        { instance_id: null },
        { run_id: {} }
      ]
      for (const fields of wrong) {
        yield* t.equal((yield* b.reply(e, fields)).error?.code, "invalid_params", JSON.stringify(fields))
      }
      yield* t.equal([(yield* b.ok("status")).pending_client_calls, b.cancels().length], [1, 0], "pending, notices")
      yield* b.accepted(e)
      yield* t.equal((yield* completedOne(b)).success, true, "success")
    }
  ),

  c(
    "results.raw-invalid-params",
    [
      protocol(
        "a reply whose result has a duplicate key is answered under its own id, and the call it answers stays open."
      ),
      protocol("no object has two equal keys, after escapes are resolved | invalid_request | invalid_params"),
      protocol("no half of a surrogate pair, neither raw nor as an escape | invalid_request | invalid_params"),
      protocol(
        "integers survive as an IEEE-754 double (9007199254740993 does not), no number is infinite | invalid_request | invalid_params"
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const good = JSON.stringify(b.answer(e))
      const adding = (more: string) => good.replace(/}$/, `,${more}}`)
      const bad = [
        good.replace('"status"', '"call_id":"other","status"'),
        good.replace('"ok"', '"\\ud800"'),
        adding('"te\\u0078t":"twice"'),
        adding('"structured":{"a":1,"a":1}'),
        adding('"structured":{"\\udc00":1}'),
        adding('"structured":1e999')
      ]
      for (const params of bad) {
        const { error } = yield* b.requestText("client.tool.result", params)
        yield* t.equal(error?.code, "invalid_params", params)
      }
      yield* b.accepted(e)
      yield* completed(b)
    }
  ),

  c("results.stale-identity", identityChecked, function* (t) {
    const b = yield* t.ready()
    const e = yield* oneCall(b)
    const other = "00000000-0000-4000-8000-000000000000"
    const members = ["call_id", "instance_id", "run_id", "task_id", "subagent_id", "session_id"]
    for (const fields of [...members.map((member) => ({ [member]: other })), { task_id: "null" }]) {
      yield* t.equal((yield* b.reply(e, fields)).error?.code, "stale_client_tool_call", JSON.stringify(fields))
    }
    yield* t.equal((yield* b.ok("status")).pending_client_calls, 1, "pending calls")
    yield* b.accepted(e)
    yield* t.equal((yield* completedOne(b)).success, true, "success")
  }),

  c(
    "results.repeat",
    [
      clientTools("A reply sent again under a fresh id is stale; under the same id it is duplicate_id."),
      clientTools("There is no list of finished calls that could tell which.")
    ],
    function* (t) {
      const b = yield* t.ready()
      const [x, y] = yield* twoCalls(b)
      yield* b.accepted(x, { text: "first" }, { id: "same" })
      const crossed = b.answer(y, { text: "crossed" })
      yield* b.refused("duplicate_id", "client.tool.result", crossed, { id: "same", from: b.frames.length })
      yield* b.replyRefused("stale_client_tool_call", x, { text: "second" })
      yield* b.accepted(y, { text: "third" })
      const seen = (yield* completed(b)).map(({ content }) => content)
      yield* t.equal(seen, [{ text: "first" }, { text: "third" }], "what the model saw")
      yield* b.replyRefused("stale_client_tool_call", y)
      yield* t.equal(b.cancels().length, 0, "notices")
    }
  ),

  c(
    "results.before-any-call",
    [
      clientTools("client.tools was negotiated; the process is ready | unsupported_method; the readiness codes"),
      protocol("client.tool.result is unsupported_method until it has been negotiated, in the state new too."),
      identityChecked,
      clientTools("The session errors of the base protocol do not apply.")
    ],
    function* (t) {
      const b = yield* t.spawn()
      const ids = { instance_id: "i", session_id: "s", run_id: "r", call_id: "c", task_id: null, subagent_id: null }
      const params: JsonObject = { ...ids, status: "success", text: "" }
      yield* b.refused("unsupported_method", "client.tool.result", params)
      const { instance_id } = yield* b.initialized([tool("a")])
      yield* b.refused("stale_client_tool_call", "client.tool.result", params)
      const { session_id } = yield* b.ok("session.create")
      yield* b.refused("stale_client_tool_call", "client.tool.result", { ...params, instance_id, session_id })
    }
  ),

  c(
    "results.whole-frame",
    [
      clientTools(
        "What is too large in the agent fails the call there; what is too large in a reply is invalid_params; a line that is too long closes the process."
      ),
      clientTools("shutdown | the process is closing"),
      protocol("2 | an oversized frame")
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      b.expectExit(2)
      yield* b.raw(b.requestLine("client.tool.result", b.answer(e, { text: "x".repeat(65_536) }), "huge"))
      yield* b.ended(2600)
      const errors = b.frames.flatMap(({ error, id }) => (error === undefined ? [] : [[id, error.code]]))
      yield* t.equal(errors, [[null, "frame_too_large"]], "errors")
      const reasons = b.cancels(e.data.call_id).map(({ data }) => data.reason)
      yield* t.equal(reasons, ["shutdown"], "notices")
      yield* t.expect(!b.frames.some(({ id }) => id === "huge"), "the reply must not be answered")
    }
  )
]
