/** States, `initialize`, and how a process ends. docs/local-agent-protocol.md, sections 5, 6 and 13. */
import {
  type Case,
  CLIENT_TOOL_LIMITS,
  c,
  cite,
  type JsonObject,
  LIMITS,
  METHODS,
  oneCall,
  sleep,
  tool
} from "../dsl.ts"

const protocol = cite("local-agent-protocol")
const clientTools = cite("client-tools")

const alreadyInitialized = protocol("ready | every method | a further initialize: already_initialized")
const exitZero = protocol("0 | shutdown, the end of the input, SIGTERM, SIGINT")
const endInOneStep = protocol(
  "All pending client calls end in one step, each with client.tool.cancel and reason shutdown; then the run is cancelled."
)
const settingsInvalid = protocol("configuration_invalid | a settings file cannot be used; path points into it")

export const lifecycle: ReadonlyArray<Case> = [
  c(
    "lifecycle.new",
    [
      protocol("new | initialize, status, shutdown | not_initialized"),
      protocol(
        "Result: state, instance_id, session_id or null, durable, run_id or null, history_revision or null, selection or null, pending_approvals, pending_client_calls, requests_used."
      )
    ],
    function* (t) {
      const b = yield* t.spawn()
      const s = yield* b.ok("status")
      yield* t.keys(
        s,
        "state instance_id session_id durable run_id history_revision selection pending_approvals pending_client_calls requests_used".split(
          " "
        ),
        "status"
      )
      yield* t.equal(
        [s.state, s.session_id, s.run_id, s.history_revision, s.pending_approvals, s.pending_client_calls],
        ["new", null, null, null, 0, 0],
        "status"
      )
      for (const method of METHODS.slice(3)) yield* b.refused("not_initialized", method)
      yield* t.equal(yield* b.ok("shutdown"), { accepted: true }, "shutdown")
      yield* t.equal((yield* b.ended()).code, 0, "exit code")
    }
  ),

  c(
    "lifecycle.initialize-plain",
    [
      protocol(
        "Result, exactly these members: protocol, version, instance_id, server (name, version), workspace, capabilities, limits, selection (provider, model, revision), extensions; and client_tools only if negotiated."
      ),
      protocol("client.tool.result is unsupported_method until it has been negotiated, in the state new too.")
    ],
    function* (t) {
      const b = yield* t.spawn()
      const r = yield* b.initialized(null)
      const members = "protocol version instance_id server workspace capabilities limits selection extensions".split(
        " "
      )
      yield* t.keys(r, members, "result")
      yield* t.equal(
        [r.protocol, r.version, r.workspace],
        ["magi-code.local-agent", 1, t.workspace],
        "protocol, version, workspace"
      )
      yield* t.keys(r.server, ["name", "version"], "server")
      yield* t.keys(r.selection, ["provider", "model", "revision"], "selection")
      yield* t.equal([r.selection.provider, r.selection.model], ["offline", "offline"], "default model")
      yield* t.equal(r.capabilities, METHODS, "capabilities")
      yield* t.equal(r.limits, LIMITS, "limits")
      yield* t.equal(r.extensions, {}, "extensions")
      yield* t.equal((yield* b.ok("status")).instance_id, r.instance_id, "instance_id")
      yield* b.refused("unsupported_method", "client.tool.result")
    }
  ),

  c(
    "lifecycle.initialize-tools",
    clientTools(
      "The result of initialize then has client.tools last among its capabilities, and the names in the order of registration, with the bounds, in two places:"
    ),
    function* (t) {
      const b = yield* t.spawn()
      const tools = ["client__z", "client__A", "client__a", "client__m"]
      const r = yield* b.initialized(
        tools.map((name) => tool(name)),
        ["turn.start"]
      )
      yield* t.equal(r.capabilities, [...METHODS, "client.tools"], "capabilities")
      const announced = { tools, limits: CLIENT_TOOL_LIMITS }
      yield* t.equal(r.client_tools, announced, "client_tools")
      const extension = { schema_version: 1, registration: "startup_only", ...announced }
      yield* t.equal(r.extensions, { "client.tools": extension }, "extensions")
    }
  ),

  c(
    "lifecycle.initialize-cards",
    protocol(
      "capabilities lists the base methods in the order above, then tool.cards and client.tools, each only if required."
    ),
    function* (t) {
      const cards = { schema_version: 1, event: "tool.card", history_field: "tool_card" }
      const alone = yield* (yield* t.spawn()).initialized(null, ["tool.cards"])
      yield* t.equal(
        [alone.capabilities, alone.extensions],
        [[...METHODS, "tool.cards"], { "tool.cards": cards }],
        "cards alone"
      )
      const both = yield* (yield* t.spawn()).initialized([], ["tool.cards"])
      yield* t.equal(both.capabilities, [...METHODS, "tool.cards", "client.tools"], "cards, then client.tools")
      yield* t.equal(both.client_tools?.tools, [], "an empty array is valid")
    }
  ),

  c(
    "lifecycle.once",
    [
      alreadyInitialized,
      protocol("Once the preflight has passed, initialize is admitted: it cannot be repeated in this process.")
    ],
    function* (t) {
      const b = yield* t.spawn()
      yield* b.initialized([tool("a")])
      yield* b.refused("already_initialized", "initialize", { required_capabilities: [] })
      const other: JsonObject = { required_capabilities: ["client.tools"], client_tools: [tool("b")] }
      yield* b.refused("already_initialized", "initialize", other)
      yield* t.equal((yield* b.ok("status")).state, "ready", "state")
    }
  ),

  c("lifecycle.failed", [settingsInvalid, protocol("failed | status, shutdown | not_ready")], function* (t) {
    yield* t.settings({ modle: {} })
    const b = yield* t.spawn()
    const { error } = yield* b.initialize([tool("a")])
    yield* t.equal(error?.code, "configuration_invalid", "code")
    yield* t.expect(`${error?.path} ${error?.message}`.includes("modle"), "the error names the key")
    yield* t.equal((yield* b.ok("status")).state, "failed", "state")
    for (const method of ["session.create", "turn.start", "model.catalog"]) yield* b.refused("not_ready", method)
    yield* b.ok("shutdown")
    yield* t.equal((yield* b.ended()).code, 0, "exit code")
  }),

  c("lifecycle.settings", settingsInvalid, function* (t) {
    const bad = [
      "{",
      "[]",
      '{"schema_version":2,"limits":{"turn_steps":"many"}}',
      '{"schema_version":2,"capabilities":{"tools":{"disabled":"bash"}}}',
      '{"schema_version":2,"approvals":{"bash":"maybe"}}'
    ]
    for (const text of bad) {
      yield* t.settings(text)
      const { error } = yield* (yield* t.spawn()).initialize(null)
      yield* t.equal(error?.code, "configuration_invalid", text)
    }
  }),

  c(
    "lifecycle.initializing",
    protocol("initializing | status, shutdown | initializing; a second initialize: already_initialized"),
    function* (t) {
      yield* t.settings({ mcp: t.mcp({ start_ms: 1200 }) })
      const b = yield* t.spawn()
      yield* b.raw(b.requestLine("initialize", { required_capabilities: [] }, "init"))
      yield* t.equal((yield* b.ok("status")).state, "initializing", "state")
      yield* b.refused("initializing", "session.create")
      yield* b.refused("already_initialized", "initialize", { required_capabilities: [] })
      yield* t.expect((yield* b.response("init")).result, "initialize is answered")
      yield* t.equal((yield* b.ok("status")).state, "ready", "state")
    }
  ),

  c(
    "lifecycle.shutdown",
    [endInOneStep, protocol("The answer comes before anything else that closing brings."), exitZero],
    function* (t) {
      const b = yield* t.ready()
      const call = yield* oneCall(b)
      const started = performance.now()
      const answer = yield* b.request("shutdown")
      yield* t.equal(answer.result, { accepted: true }, "answer")
      const end = yield* b.ended(2600)
      yield* t.expect(end.at - started < 2300, `the exit took ${Math.round(end.at - started)} ms`)
      yield* t.equal(end.code, 0, "exit code")
      const [cancel] = b.cancels(call.data.call_id)
      const [finish] = b.events("run.finished")
      yield* t.equal([cancel?.data.reason, finish?.data.status], ["shutdown", "cancelled"], "notice and run")
      const order = [answer.index, cancel?.index, finish?.index]
      yield* t.equal(
        order,
        [...order].sort((one, other) => Number(one) - Number(other)),
        "order: answer, notice, run.finished"
      )
    }
  ),

  c("lifecycle.shutting-down", protocol("closing | nothing | shutting_down"), function* (t) {
    const b = yield* t.ready()
    yield* oneCall(b)
    yield* b.raw(["shutdown", "status", "session.create"].map((m, i) => b.requestLine(m, {}, `s${i}`)).join(""))
    yield* t.expect((yield* b.response("s0")).result, "shutdown")
    yield* t.equal((yield* b.response("s1")).error?.code, "shutting_down", "status")
    yield* t.equal((yield* b.response("s2")).error?.code, "shutting_down", "session.create")
    yield* b.ended()
  }),

  c("lifecycle.eof", [endInOneStep, exitZero], function* (t) {
    const b = yield* t.ready()
    const call = yield* oneCall(b)
    yield* b.eof
    yield* t.equal((yield* b.ended(2600)).code, 0, "exit code")
    yield* t.equal(
      b.cancels(call.data.call_id).map(({ data }) => data.reason),
      ["shutdown"],
      "notices"
    )
    yield* t.equal(
      b.events("run.finished").map(({ data }) => data.status),
      ["cancelled"],
      "run.finished"
    )
  }),

  c(
    "lifecycle.sigterm",
    [
      protocol(
        "shutdown, the end of the input, SIGTERM, SIGINT, an oversized frame and a failed transport lead to closing"
      ),
      exitZero
    ],
    function* (t) {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const b = yield* t.ready()
        const call = yield* oneCall(b)
        yield* b.kill(signal)
        yield* t.equal((yield* b.ended(2600)).code, 0, `exit code after ${signal}`)
        const reasons = b.cancels(call.data.call_id).map(({ data }) => data.reason)
        yield* t.equal(reasons, ["shutdown"], `notices after ${signal}`)
      }
    }
  ),

  c("lifecycle.eof-at-once", exitZero, function* (t) {
    const b = yield* t.spawn()
    yield* b.eof
    yield* t.equal((yield* b.ended()).code, 0, "exit code")
    yield* t.equal([b.frames.length, t.exists(t.home)], [0, false], "frames, MC_HOME")
  }),

  c(
    "lifecycle.partial-at-eof",
    protocol("A rest without an LF at the end of the input was never a frame and is not executed."),
    function* (t) {
      const b = yield* t.spawn()
      yield* b.raw(b.requestLine("status", {}, "cut").trimEnd())
      yield* sleep(200)
      yield* b.eof
      yield* t.equal((yield* b.ended()).code, 0, "exit code")
      yield* t.equal(b.frames.length, 0, "frames")
    }
  ),

  c(
    "lifecycle.flags",
    protocol("A terminal on either of the two is refused with exit code 1, and so is any argument beside --stdio."),
    function* (t) {
      const b = yield* t.spawn({ args: ["--bogus"] })
      b.expectExit(1)
      yield* b.ended()
      yield* t.equal(b.frames.length, 0, "frames")
      yield* t.expect(
        b.stderr.trim() !== "" && !/\n\s+at /.test(b.stderr),
        "one clear message on stderr, no stack trace"
      )
    }
  )
]
