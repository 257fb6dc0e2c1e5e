/** What a process answers before it is ready, and `initialize`. docs/local-agent-protocol.md, sections 5 and 6. */
import { type Case, CLIENT_TOOL_LIMITS, c, cite, type JsonObject, LIMITS, METHODS, tool } from "../dsl.ts"

const protocol = cite("local-agent-protocol")
const clientTools = cite("client-tools")

const alreadyInitialized = protocol("ready | every method | a further initialize: already_initialized")
const settingsInvalid = protocol("configuration_invalid | a settings file cannot be used; path points into it")

export const initialize: ReadonlyArray<Case> = [
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
  )
]
