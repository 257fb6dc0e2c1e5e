/** A client tool call from the model to the client and back. docs/client-tools.md, sections 3 to 5. */
import {
  at,
  type Case,
  c,
  call,
  callAll,
  cite,
  completed,
  failedWith,
  type JsonObject,
  oneCall,
  runSteps,
  sleep,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")
const models = cite("models")

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const identity = clientTools(
  "Six members name a call: instance_id of the envelope, session_id, run_id, call_id, task_id, subagent_id."
)
const freshUuid = clientTools(
  "A call id is a fresh UUID: it is neither a request id nor the id that the model's provider gave, and it is never used twice."
)
const anyOrder = clientTools("Up to 16 calls are open at once and may be answered in any order.")

export const calls: ReadonlyArray<Case> = [
  c(
    "calls.event-shape",
    [identity, freshUuid, clientTools("timeout_ms is the full time of the descriptor.")],
    function* (t) {
      const b = yield* t.ready([tool("a", { timeout_ms: 4321 })])
      const given: JsonObject = { record_id: "example", n: [1, null, { x: "é" }] }
      const e = yield* oneCall(b, given)
      const members = "session_id run_id call_id task_id subagent_id name arguments timeout_ms".split(" ")
      yield* t.keys(e.data, members, "data")
      yield* t.equal(
        [e.instance_id, e.data.session_id, e.data.run_id],
        [b.init.instance_id, b.session, b.run],
        "identity"
      )
      yield* t.equal(
        [e.data.task_id, e.data.subagent_id, e.data.name, e.data.timeout_ms],
        [null, null, "client__a", 4321],
        "ids of the root agent are null; the full time"
      )
      yield* t.equal(e.data.arguments, given, "arguments")
      yield* t.expect(UUID.test(e.data.call_id), `call_id ${e.data.call_id} is a UUID`)
      yield* b.accepted(e)
      yield* completed(b)
    }
  ),

  c(
    "calls.default-timeout",
    clientTools("default_timeout_ms | 30000 | the time of a call whose descriptor names none"),
    function* (t) {
      const b = yield* t.ready()
      yield* t.equal((yield* oneCall(b)).data.timeout_ms, 30_000, "timeout_ms")
    }
  ),

  c("calls.fresh-ids", freshUuid, function* (t) {
    const b = yield* t.ready()
    const seen = new Set<string>()
    for (let round = 0; round < 3; round++) {
      for (const e of yield* callAll(b, [["client__a"], ["client__a"]])) {
        seen.add(e.data.call_id)
        yield* b.accepted(e)
      }
      yield* completed(b)
    }
    yield* t.equal(seen.size, 6, "different call ids")
  }),

  c(
    "calls.event-order",
    [
      protocol(
        "The response to turn.start stands before every event of its run; run.finished is the last of them and comes exactly once. The response to a client.tool.result stands before the events that it causes."
      ),
      protocol("durable: true, history_revision: the prompt is on disk, the model has not been asked yet")
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const answer = yield* b.accepted(e)
      const end = yield* b.finished()
      yield* sleep(100)
      const start = b.frames.find((frame) => frame.result?.["run_id"] === b.run)
      const [started] = b.events("run.started")
      const [saved] = b.events("input.saved")
      const [said] = b.events("message.reconcile")
      const order = [start, started, saved, e, answer, said, end].map((frame) => frame?.index ?? -1)
      yield* t.equal(
        order,
        [...new Set(order)].sort((one, other) => one - other),
        "order of turn.start's response, run.started, input.saved, call, reply's response, message, run.finished"
      )
      const late = b.frames.slice(end.index + 1).filter((frame) => frame.data?.run_id === b.run)
      yield* t.equal(late.length, 0, "events of the run behind run.finished")
      yield* t.equal(saved?.data.durable, true, "durable")
      yield* t.equal([end.data.persistence, end.data.error], ["complete", null], "run.finished")
    }
  ),

  c("calls.out-of-order", anyOrder, function* (t) {
    const b = yield* t.ready([tool("a"), tool("b")])
    const six = [0, 1, 2, 3, 4, 5]
    const names = six.map((i) => (i % 2 ? "client__b" : "client__a"))
    const events = yield* callAll(
      b,
      names.map((name, i) => [name, { i }] as const)
    )
    for (const e of [...events].reverse()) yield* b.accepted(e, { text: `answer ${e.data.arguments["i"]}` })
    const results = yield* completed(b)
    yield* t.equal(
      results.map(({ content }) => at(content, "text")),
      six.map((i) => `answer ${i}`),
      "results in the order of the calls"
    )
    yield* t.equal(
      results.map(({ name }) => name),
      names,
      "names"
    )
  }),

  c(
    "calls.case-sensitive",
    clientTools("client__ and 1 to 56 ASCII letters, digits or underscores; case counts; no two are equal"),
    function* (t) {
      const b = yield* t.ready([tool("A"), tool("a")])
      const events = yield* callAll(b, [["client__a"], ["client__A"]])
      yield* t.equal(events.map(({ data }) => data.name).sort(), ["client__A", "client__a"], "names")
      for (const e of events) yield* b.accepted(e, { text: e.data.name })
      const texts = (yield* completed(b)).map(({ content }) => at(content, "text"))
      yield* t.equal(texts, ["client__a", "client__A"], "results")
    }
  ),

  c(
    "calls.unknown-tool",
    clientTools(
      "client_tool_not_permitted | not allowed on this surface, or no registered tool of a client__ name | no"
    ),
    function* (t) {
      const b = yield* t.ready()
      const results = yield* runSteps(b, [call("client__nope"), call("client__A")])
      yield* t.equal(results.length, 2, "results")
      for (const result of results) yield* failedWith(result, "client_tool_not_permitted")
      yield* t.equal(b.events("client.tool.call").length, 0, "events")
    }
  ),

  c(
    "calls.sixteen",
    [
      anyOrder,
      clientTools(
        "A seventeenth is not queued: it fails at once with client_tool_busy, and the client never hears of it."
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      const seventeen = Array.from({ length: 17 }, (_, i) => ["client__a", { i }] as const)
      const events = yield* callAll(b, seventeen, 16)
      yield* sleep(250)
      const { pending_client_calls } = yield* b.ok("status")
      yield* t.equal([b.events("client.tool.call").length, pending_client_calls], [16, 16], "events, pending calls")
      for (const e of events) yield* b.accepted(e)
      const results = yield* completed(b)
      yield* t.equal(results.filter(({ success }) => success).length, 16, "successes")
      yield* failedWith(
        results.find(({ success }) => !success),
        "client_tool_busy"
      )
      yield* t.equal(b.events("client.tool.call").length, 16, "no call is published later")
      yield* t.equal(b.cancels().length, 0, "no notice for a call that was never published")
    }
  ),

  c(
    "calls.status-counts",
    protocol(
      "While a run is active these work: status, shutdown, turn.cancel, approval.answer, client.tool.result, session.list, model.catalog. The others get run_active."
    ),
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const s = yield* b.ok("status")
      yield* t.equal([s.run_id, s.session_id, s.pending_client_calls, s.durable], [b.run, b.session, 1, true], "status")
      yield* b.refused("run_active", "turn.start", { session_id: b.session, prompt: "x" })
      yield* b.refused("run_active", "session.create")
      yield* b.refused("run_active", "history.page", { session_id: b.session, revision: s.history_revision })
      yield* b.ok("session.list")
      yield* b.ok("model.catalog")
      yield* b.accepted(e)
      yield* completed(b)
      const after = yield* b.ok("status")
      yield* t.equal([after.run_id, after.pending_client_calls], [null, 0], "status after the run")
    }
  ),

  c(
    "calls.offline-rule",
    [
      models("It takes the tool whose name and description share most words with the prompt;"),
      models(
        "Quoted parts of the prompt fill its string properties in order, what else is required gets a value that its schema takes. It answers with what the tool said."
      )
    ],
    function* (t) {
      const b = yield* t.ready([
        tool("lookup_record", {
          description: "Look up a record by identifier.",
          input_schema: { type: "object", properties: { record_id: { type: "string" } }, required: ["record_id"] }
        }),
        tool("weather", { description: "Tomorrow in a city." })
      ])
      yield* b.turn('Please look up the record "R-17" by its identifier')
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* t.equal([e.data.name, e.data.arguments], ["client__lookup_record", { record_id: "R-17" }], "call")
      yield* b.accepted(e, { text: "Record found: blue." })
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      yield* t.expect(b.texts().at(-1)?.includes("Record found: blue."), "the answer says what the tool said")
    }
  )
]
