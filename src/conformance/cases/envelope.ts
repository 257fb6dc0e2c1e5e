/** Envelopes, ids, and the order of checks. docs/local-agent-protocol.md, sections 3 and 4. */
import { type Case, c, cite, type JsonObject, sleep } from "../dsl.ts"

const protocol = cite("local-agent-protocol")

const members = protocol("Four kinds of frame, each with exactly these members.")
const request = protocol(
  "request | version (1), id, method (at most 64 bytes), params (always an object) | client to agent"
)
const envelopeChecked = protocol(
  "2 | UTF-8, JSON, an object, the envelope; another version than 1 | invalid_request, unsupported_version | the request's if it is valid, or null"
)

export const envelope: ReadonlyArray<Case> = [
  c("envelope.closed", members, function* (t) {
    const b = yield* t.spawn()
    for (const [i, extra] of ['"jsonrpc":"2.0"', '"__proto__":{}', '"Method":"status"'].entries()) {
      yield* b.line(`{"version":1,"id":"c${i}","method":"status","params":{},${extra}}`)
      yield* t.equal((yield* b.response(`c${i}`)).error?.code, "invalid_request", extra)
    }
  }),

  c("envelope.params", request, function* (t) {
    const b = yield* t.spawn()
    for (const [i, params] of ["", ',"params":null', ',"params":[]', ',"params":"x"'].entries()) {
      yield* b.line(`{"version":1,"id":"p${i}","method":"status"${params}}`)
      yield* t.equal((yield* b.response(`p${i}`)).error?.code, "invalid_request", params || "absent")
    }
  }),

  c(
    "envelope.id",
    [
      protocol("Every id, revision and cursor is a string of 1 to 128 characters out of A-Z a-z 0-9 . _ : -."),
      protocol("Where the id itself is ill-formed, or stands in the envelope twice, the error's id is null.")
    ],
    function* (t) {
      const b = yield* t.spawn()
      const bad = ["1", "null", '""', `"${"x".repeat(129)}"`, '"a b"', '"é"', '"a/b"', '"a\\n"', '["a"]', "true"]
      for (const [from, id] of bad.entries()) {
        yield* b.line(`{"version":1,"id":${id},"method":"status","params":{}}`)
        const answer = yield* b.next("an answer", { from })
        yield* t.equal([answer.id, answer.error?.code], [null, "invalid_request"], `id ${id}`)
      }
      for (const id of ["x".repeat(128), "A.z_0:9-", "__proto__", "toString"]) yield* b.ok("status", {}, { id })
    }
  ),

  c("envelope.version", [envelopeChecked, protocol("unsupported_version | another version than 1")], function* (t) {
    const b = yield* t.spawn()
    yield* b.line('{"version":2,"id":"v2","method":"status","params":{}}')
    yield* t.equal((yield* b.response("v2")).error?.code, "unsupported_version", "version 2")
    yield* b.line('{"id":"v0","method":"status","params":{}}')
    yield* t.equal((yield* b.response("v0")).error?.code, "invalid_request", "no version")
    yield* b.line('{"version":1.0,"id":"v1","method":"status","params":{}}')
    yield* t.expect((yield* b.response("v1")).result, "1.0 is 1")
  }),

  c("envelope.method", [request, protocol("unsupported_method | no such method, or not negotiated")], function* (t) {
    const b = yield* t.spawn()
    yield* b.refused("unsupported_method", "x".repeat(64))
    yield* b.refused("invalid_request", "x".repeat(65))
    yield* b.refused("invalid_request", "é".repeat(33))
    for (const method of ["", "Status", "status ", "__proto__", "constructor", "toString"]) {
      yield* b.refused("unsupported_method", method)
    }
    yield* b.line('{"version":1,"id":"m9","method":1,"params":{}}')
    yield* t.equal((yield* b.response("m9")).error?.code, "invalid_request", "a number")
  }),

  c(
    "envelope.id-spent",
    protocol("A request id is used once in the life of a process, whatever became of its request."),
    function* (t) {
      const b = yield* t.spawn()
      yield* b.refused("unsupported_method", "nope", {}, { id: "one" })
      yield* b.refused("duplicate_id", "status", {}, { id: "one", from: b.frames.length })
      yield* b.refused("duplicate_id", "nope", {}, { id: "one", from: b.frames.length })
      yield* b.ok("status", {}, { id: "One" })
    }
  ),

  c("envelope.order", protocol("In this order; the first check that fails gives the answer."), function* (t) {
    const b = yield* t.spawn()
    yield* b.refused("unsupported_method", "nope", { x: 1 })
    yield* b.refused("not_initialized", "session.open", { nonsense: true })
    yield* b.refused("not_initialized", "turn.start", {})
    yield* b.initialized(null)
    yield* b.refused("invalid_params", "turn.start", { session_id: "x", prompt: "" })
    yield* b.refused("no_session", "turn.start", { session_id: "x", prompt: "hello" })
  }),

  c(
    "envelope.params-closed",
    protocol("The params of every method are closed too: a member that the method does not know is invalid_params."),
    function* (t) {
      const b = yield* t.ready(null)
      const session_id = b.session
      const bad: ReadonlyArray<readonly [string, JsonObject]> = [
        ["status", { x: 1 }],
        ["session.create", { x: 1 }],
        ["session.open", {}],
        ["session.open", { session_id: 5 }],
        ["session.open", { session_id: "a/../b" }],
        ["session.list", { limit: 0 }],
        ["session.list", { limit: 101 }],
        ["session.list", { limit: 1.5 }],
        ["session.list", { cursor: "c" }],
        ["session.list", { revision: "r" }],
        ["turn.start", { session_id, prompt: " \n\t " }],
        ["turn.start", { session_id }],
        ["turn.start", { session_id, prompt: "x", model: "y" }],
        ["turn.start", { session_id, prompt: 7 }],
        ["turn.cancel", { session_id }],
        ["approval.answer", { session_id, run_id: "r", approval_id: "a", allow: "yes" }],
        ["history.page", { session_id }],
        ["model.catalog", { all: true }],
        ["selection.set", { session_id, provider: "offline", model: "offline" }],
        ["shutdown", { now: true }]
      ]
      for (const [method, params] of bad) yield* b.refused("invalid_params", method, params)
    }
  ),

  c(
    "envelope.error-path",
    protocol("error.path is a JSON Pointer (RFC 6901) into params at the member that is wrong;"),
    function* (t) {
      const b = yield* t.spawn()
      const descriptor = (more: JsonObject = {}): JsonObject => ({
        name: "client__a",
        description: "x",
        input_schema: { type: "object" },
        ...more
      })
      const odd = { type: "object", properties: { "a/b~c": { $ref: "#" } } }
      const wrong: ReadonlyArray<readonly [ReadonlyArray<JsonObject>, string]> = [
        [[descriptor(), descriptor({ name: "client__b", timeout_ms: 5 })], "/client_tools/1/timeout_ms"],
        [[descriptor({ input_schema: odd })], "/client_tools/0/input_schema/properties/a~1b~0c/$ref"],
        [[descriptor({ name: "lookup" })], "/client_tools/0/name"]
      ]
      for (const [client_tools, path] of wrong) {
        const params = { required_capabilities: ["client.tools"], client_tools }
        yield* t.equal((yield* b.refused("invalid_params", "initialize", params)).path, path, "path")
      }
    }
  ),

  c(
    "envelope.quota",
    [
      protocol(
        "Every line that reaches check 2 uses one of 4096, also a malformed line and a repeated id. From the 4097th on every line gets request_limit, whatever is in it, and nothing is executed any more."
      )
    ],
    function* (t) {
      const b = yield* t.ready(null) // two are used
      for (let i = 0; i < 4092; i += 341) {
        yield* b.raw("x\n".repeat(341))
        yield* b.until((frame) => frame.index === i + 342, "answers to bad lines", { from: i })
      }
      yield* t.equal((yield* b.ok("status")).state, "ready", "frame 4095")
      yield* b.ok("status")
      yield* b.refused("request_limit", "status")
      yield* b.refused("request_limit", "shutdown")
      yield* b.refused("request_limit", "turn.start", { session_id: b.session, prompt: "x" })
      yield* b.refused("request_limit", "status", {}, { id: "k1", from: b.frames.length })
      for (const line of ["garbage", '{"version":1,"id":"odd id","method":"status","params":{}}']) {
        const from = b.frames.length
        yield* b.line(line)
        yield* t.equal((yield* b.response(null, { from })).error?.code, "request_limit", line)
      }
      yield* b.line('{"version":2,"id":"v2","method":"status","params":{}}')
      yield* t.equal((yield* b.response("v2")).error?.code, "request_limit", "another version")
      yield* sleep(100)
      yield* t.equal([b.exit, b.events("run.started").length], [undefined, 0], "what was executed after the limit")
    },
    { limit: 30_000 }
  )
]
