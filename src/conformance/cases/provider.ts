/** The model's provider: what it is sent, and what its answers and failures become. docs/models.md. */
import {
  at,
  type Case,
  c,
  call,
  cancelTurn,
  cite,
  type JsonObject,
  messagesOf,
  type ProviderStep,
  sleep,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const models = cite("models")
const protocol = cite("local-agent-protocol")

const input_schema: JsonObject = {
  type: "object",
  properties: { id: { type: "string", description: "An id." } },
  required: ["id"],
  additionalProperties: false
}
const first = tool("first")
const second = tool("second", { input_schema })
const two = [first, second]

/** What a request says of this tool. */
const offered = (body: Parameters<typeof at>[0], name: string) => {
  const all = at(body, "tools")
  return Array.isArray(all)
    ? at(
        all.find((one) => at(one, "function", "name") === name),
        "function"
      )
    : undefined
}

/** A backend may try again before it gives up. */
const withRetries = { timeout: 12_000 }

export const provider: ReadonlyArray<Case> = [
  c(
    "provider.round-trip",
    [
      models("Deltas may be cut anywhere, also inside a character;"),
      models("Results only as tool-result messages, directly after the response whose calls they answer."),
      clientTools("it is neither a request id nor the id that the model's provider gave, and it is never used twice.")
    ],
    function* (t) {
      const steps: ReadonlyArray<ProviderStep> = [
        {
          text: "Let me look. ",
          calls: [{ name: "client__second", arguments: { id: "é😀-17" }, id: "call_X" }],
          cut: true
        },
        { text: "It is blue 😀.", cut: true }
      ]
      const model = yield* t.provider(steps)
      const b = yield* t.ready(two, { settings: model.settings })
      yield* b.turn("what colour is it?")
      const e = yield* b.event("client.tool.call")
      yield* t.equal(e.data.arguments, { id: "é😀-17" }, "arguments")
      yield* t.expect(e.data.call_id !== "call_X", "the call's id is not the provider's")
      yield* b.accepted(e, { text: "blue as the sea" })
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      yield* t.equal(b.texts(), ["Let me look. ", "It is blue 😀."], "texts of the messages")
      const messages = messagesOf(model.requests[1])
      const asked = messages.findIndex((one) => at(one, "tool_calls") !== undefined)
      yield* t.equal(at(messages[asked], "tool_calls", 0, "id"), "call_X", "the call in the next request")
      const answer = messages[asked + 1]
      yield* t.equal(
        [answer?.["role"], answer?.["tool_call_id"]],
        ["tool", "call_X"],
        "role and tool_call_id of the message behind the call"
      )
      yield* t.expect(JSON.stringify(answer).includes("blue as the sea"), "that message holds the client's text")
    }
  ),

  c(
    "provider.schema-unchanged",
    [
      models("Tools in catalogue order, their schemas unchanged."),
      clientTools(
        "The agent checks that it is within this subset of JSON Schema, hands it to the provider as it is, and never evaluates it:"
      )
    ],
    function* (t) {
      const model = yield* t.provider([{ text: "hi" }])
      const b = yield* t.ready(two, { settings: model.settings })
      yield* b.turn("hello")
      yield* b.finished()
      const names = model.tools().filter((name) => name.startsWith("client__"))
      yield* t.equal(names, ["client__first", "client__second"], "names, in the order of registration")
      const sent = offered(model.requests[0]?.body, "client__second")
      yield* t.equal(at(sent, "parameters"), input_schema, "schema")
      yield* t.equal(at(sent, "description"), second["description"], "description")
    }
  ),

  c(
    "provider.rejected-tool",
    [
      models(
        "A schema that a provider refuses is never widened or left out: the run fails with provider_rejected_tool, which names the tool and its place."
      ),
      models("400 that names a tool or its index | no | provider_rejected_tool"),
      protocol("provider_rejected_tool | it does not take the schema of a tool; the message names the tool")
    ],
    function* (t) {
      const error = {
        message: "Invalid schema for function 'client__second': bad keyword",
        type: "invalid_request_error",
        param: "tools[1].function.parameters",
        code: "invalid_function_parameters"
      }
      const model = yield* t.provider(() => ({ status: 400, error }))
      const b = yield* t.ready(two, { settings: model.settings })
      yield* b.turn("hello")
      const { data } = yield* b.finished()
      yield* t.equal([data.status, data.error?.code], ["failed", "provider_rejected_tool"], "run.finished")
      const message = data.error?.message ?? ""
      yield* t.expect(
        message.includes("client__second") && !message.includes("client__first"),
        `the message should name client__second alone, got ${message}`
      )
      yield* t.expect(model.requests.length > 0, "the provider was asked")
      for (const { body } of model.requests) {
        yield* t.equal(at(offered(body, "client__second"), "parameters"), input_schema, "schema of each request")
      }
    }
  ),

  c(
    "provider.errors",
    [
      models("401, 403, other statuses, redirects, what is no stream of events | no | provider_failed"),
      models("A failed run leaves its session as it is: the next turn asks anew.")
    ],
    function* (t) {
      let status = 0
      const model = yield* t.provider(() => (status === 0 ? { text: "fine" } : { status }))
      const b = yield* t.ready(two, { settings: model.settings })
      for (status of [401, 400]) {
        yield* b.turn("hello")
        const { data } = yield* b.finished(b.run, withRetries)
        yield* t.equal([data.status, data.error?.code], ["failed", "provider_failed"], `run.finished after ${status}`)
      }
      status = 0
      yield* b.turn("hello")
      yield* t.equal((yield* b.finished()).data.status, "completed", "status of the next turn")
      yield* t.equal(b.texts(), ["fine"], "its text")
    }
  ),

  c(
    "provider.cancel-stream",
    [
      models("Interrupting a run aborts the HTTP request at once."),
      protocol("run.finished has its place within 1500 ms of the accepted turn.cancel;")
    ],
    function* (t) {
      const model = yield* t.provider(() => ({ hang: true }))
      const b = yield* t.ready(two, { settings: model.settings })
      yield* b.turn("hello")
      while (model.requests.length === 0) yield* sleep(10)
      yield* cancelTurn(b)
      const { data } = yield* b.finished(b.run, { timeout: 2500 })
      yield* t.equal(data.status, "cancelled", "status")
    }
  ),

  c(
    "provider.offline-errors",
    [
      models("provider_unavailable for unavailable, with provider_failed for rejected."),
      protocol("provider_unavailable | it could not be reached, was overloaded or failed, also after the retries")
    ],
    function* (t) {
      const b = yield* t.ready()
      const wanted = { unavailable: "provider_unavailable", rejected: "provider_failed" }
      for (const [error, errorCode] of Object.entries(wanted)) {
        yield* b.turn([{ error }])
        const { data } = yield* b.finished(b.run, withRetries)
        yield* t.equal([data.status, data.error?.code], ["failed", errorCode], `run.finished after ${error}`)
      }
    }
  ),

  c(
    "provider.turn-limit",
    protocol("turn_limit | the run has had as many model responses as the settings allow (limits.turn_steps)"),
    function* (t) {
      const b = yield* t.ready([tool("a")], { settings: { limits: { turn_steps: 2 } } })
      const step = { calls: [call("client__none")] }
      yield* b.turn([step, step, step, { text: "x" }])
      const { data } = yield* b.finished()
      yield* t.equal([data.status, data.error?.code], ["failed", "turn_limit"], "run.finished")
      const made = b.events("activity.finished").length
      yield* t.expect(made <= 2, `two responses with a call each, but ${made} calls were made`)
    }
  )
]
