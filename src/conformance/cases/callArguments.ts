/** The arguments of a client tool call: bounds, shape, and what is left to the client. docs/client-tools.md, sections 3, 4 and 10. */
import { type Case, c, call, cite, completed, completedOne, failedWith, oneCall, runSteps, tool } from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")

const argumentsAre = clientTools(
  "Arguments are an object of at most 16384 compact bytes, after the hooks had their say."
)

export const callArguments: ReadonlyArray<Case> = [
  c(
    "calls.arguments-bound",
    [
      argumentsAre,
      clientTools(
        "client_tool_payload_limit | arguments over 16384 bytes, or an event over 65536 bytes or 32 containers deep | no"
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      const of = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) })
      const e = yield* oneCall(b, of(16_384))
      yield* t.equal(e.data.arguments, of(16_384), "arguments of 16384 bytes")
      yield* b.accepted(e)
      yield* completed(b)
      const [result] = yield* runSteps(b, [call("client__a", of(16_385))])
      yield* failedWith(result, "client_tool_payload_limit")
      const { pending_client_calls } = yield* b.ok("status")
      yield* t.equal([b.events("client.tool.call").length, pending_client_calls], [1, 0], "events, pending calls")
    }
  ),

  c(
    "calls.arguments-compact",
    protocol("Compact bytes of a value, here and in all bounds, are the UTF-8 bytes of its compact JSON."),
    function* (t) {
      const b = yield* t.ready()
      const raw = `{ "a" :${" ".repeat(9000)} "${"\\u00e9".repeat(2000)}" }`
      yield* b.turn([{ calls: [{ name: "client__a", arguments: raw, raw: true }] }, { text: "{{results}}" }])
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* t.equal(e.data.arguments, { a: "é".repeat(2000) }, "arguments")
      yield* b.accepted(e)
    }
  ),

  c(
    "calls.arguments-shape",
    clientTools(
      "client_tool_invalid_arguments | arguments that are not an object, or not JSON by the rules of the base protocol | no"
    ),
    function* (t) {
      const b = yield* t.ready()
      const bad = [[], "text", 5, null, true].map((args) => call("client__a", args))
      const raw = ['{"a":', "[1]"].map((text) => ({ name: "client__a", arguments: text, raw: true }))
      const results = yield* runSteps(b, [...bad, ...raw])
      yield* t.equal(results.length, 7, "results")
      for (const result of results) yield* failedWith(result, "client_tool_invalid_arguments")
      yield* t.equal(b.events("client.tool.call").length, 0, "events")
    }
  ),

  c(
    "calls.not-schema-checked",
    clientTools("the client validates the arguments and answers a mismatch with an error reply."),
    function* (t) {
      const input_schema = {
        type: "object",
        properties: { n: { type: "integer" } },
        required: ["n"],
        additionalProperties: false
      }
      const b = yield* t.ready([tool("a", { input_schema })])
      const e = yield* oneCall(b, { other: "x" })
      yield* t.equal(e.data.arguments, { other: "x" }, "arguments")
      yield* b.accepted(e, { status: "error", text: "n is missing" })
      const result = yield* completedOne(b)
      yield* t.equal([result.success, result.content], [false, { text: "n is missing" }], "what the model saw")
    }
  )
]
