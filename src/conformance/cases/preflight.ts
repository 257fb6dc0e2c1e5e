/** What `initialize` is refused for, before anything is touched. docs/local-agent-protocol.md, section 6. */
import { type Backend, type Case, c, cite, type Json, type JsonObject, refusesAll, tool } from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")

const capabilities = protocol(
  "that required_capabilities is an array of different strings, at most 16, or at most 18 if client.tools is one of them;"
)
const known = protocol("that each name is known (else unsupported_capability);")
const beforeEffects = protocol(
  "Before the agent touches a file, a setting, a key, the network or an MCP server it checks, in this order: the shape of the params;"
)
const refusalKeepsNew = protocol("A refusal leaves the state new, and a corrected request with a fresh id may follow.")
const wholeRegistry = clientTools("The registry is checked as a whole before start-up touches anything.")

/** So many names: the first ones, then unknown ones. */
const fill = (count: number, ...first: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...first,
  ...Array.from({ length: count - first.length }, (_, i) => `x.unknown${i}`)
]

/** The code that `initialize` is refused with, or `admitted`. */
function* verdict(b: Backend, required_capabilities: Json, more: JsonObject = {}) {
  const { error } = yield* b.request("initialize", { required_capabilities, ...more })
  return error?.code ?? "admitted"
}

export const preflight: ReadonlyArray<Case> = [
  c(
    "preflight.capability-shape",
    [
      capabilities,
      protocol("The params of every method are closed too: a member that the method does not know is invalid_params.")
    ],
    function* (t) {
      const b = yield* t.spawn()
      for (const names of [null, "status", {}, [1], [null], ["status", "status"], [["status"]]]) {
        yield* t.equal(yield* verdict(b, names), "invalid_params", JSON.stringify(names))
      }
      yield* t.equal(yield* verdict(b, ["status"], { nonsense: 1 }), "invalid_params", "an unknown member")
      yield* t.equal(yield* verdict(b, []), "admitted", "an empty list")
    }
  ),

  c("preflight.sixteen", capabilities, function* (t) {
    const b = yield* t.spawn()
    yield* t.equal(yield* verdict(b, fill(17)), "invalid_params", "17 names")
    yield* t.equal(yield* verdict(b, fill(16)), "unsupported_capability", "16 names, unknown")
    yield* t.equal(yield* verdict(b, fill(18)), "invalid_params", "18 names")
  }),

  c(
    "preflight.eighteen",
    [capabilities, clientTools("18 capabilities may then be required instead of 16.")],
    function* (t) {
      const b = yield* t.spawn()
      const asking = (count: number) => verdict(b, fill(count, "client.tools"), { client_tools: [] })
      yield* t.equal(yield* asking(18), "unsupported_capability", "18 names, some unknown")
      yield* t.equal(yield* asking(19), "invalid_params", "19 names")
    }
  ),

  c(
    "preflight.unknown",
    [known, protocol("unsupported_capability | a required capability is not known"), beforeEffects],
    function* (t) {
      const b = yield* t.spawn()
      for (const name of ["client.tool.result", "Client.tools", "tools", "__proto__", "constructor", ""]) {
        yield* t.equal(yield* verdict(b, [name]), "unsupported_capability", JSON.stringify(name))
      }
      const early = yield* verdict(b, ["client.tools", "x"])
      yield* t.equal(early, "unsupported_capability", "before the missing client_tools is looked at")
    }
  ),

  c(
    "preflight.client-tools-member",
    [
      protocol("that client_tools is there exactly if it was negotiated, and not null;"),
      clientTools(
        "client_tools holds the descriptors: an array, which may be empty but not null. Without the capability the member is forbidden, with it required."
      )
    ],
    function* (t) {
      const b = yield* t.spawn()
      for (const more of [{}, { client_tools: null }, { client_tools: {} }, { client_tools: "x" }]) {
        yield* t.equal(yield* verdict(b, ["client.tools"], more), "invalid_params", JSON.stringify(more))
      }
      for (const more of [{ client_tools: [] }, { client_tools: null }, { client_tools: [tool("a")] }]) {
        const got = yield* verdict(b, ["turn.start"], more)
        yield* t.equal(got, "invalid_params", `not negotiated, ${JSON.stringify(more)}`)
      }
      yield* t.equal(yield* verdict(b, ["client.tools"], { client_tools: [] }), "admitted", "an empty array")
    }
  ),

  c(
    "preflight.fresh-id",
    [refusalKeepsNew, protocol("A request id is used once in the life of a process, whatever became of its request.")],
    function* (t) {
      const b = yield* t.spawn()
      const good: JsonObject = { required_capabilities: ["client.tools"], client_tools: [tool("a")] }
      yield* b.refused("invalid_params", "initialize", { ...good, client_tools: null }, { id: "init" })
      yield* b.refused("duplicate_id", "initialize", good, { id: "init", from: b.frames.length })
      yield* t.equal((yield* b.ok("status")).state, "new", "state")
      yield* b.ok("initialize", good, { id: "init2" })
    }
  ),

  c("preflight.no-effects", [beforeEffects, wholeRegistry], function* (t) {
    const b = yield* t.spawn()
    const twice = { client_tools: [tool("a"), tool("a")] }
    yield* t.equal(yield* verdict(b, ["client.tools"], twice), "invalid_params", "two equal names")
    yield* t.equal(yield* verdict(b, ["nope"]), "unsupported_capability", "an unknown capability")
    yield* b.ok("status")
    yield* t.expect(!t.exists(t.home), "a refused preflight must not create MC_HOME")
    yield* t.equal(t.names, [], "files of the workspace")
  }),

  c(
    "preflight.before-settings",
    [
      beforeEffects,
      wholeRegistry,
      protocol("configuration_invalid | a settings file cannot be used; path points into it")
    ],
    function* (t) {
      yield* t.settings("{ not json")
      const b = yield* t.spawn()
      const faulty = { client_tools: [tool("ok"), tool("bad", { timeout_ms: 1 })] }
      yield* t.equal(yield* verdict(b, ["client.tools"], faulty), "invalid_params", "both are wrong")
      yield* t.equal((yield* b.ok("status")).state, "new", "state")
      const got = yield* verdict(b, ["client.tools"], { client_tools: [tool("ok")] })
      yield* t.equal(got, "configuration_invalid", "only the settings are wrong")
    }
  ),

  c(
    "preflight.descriptor-fields",
    [
      clientTools("A descriptor has exactly these members:"),
      clientTools("client__ and 1 to 56 ASCII letters, digits or underscores; case counts; no two are equal"),
      protocol("no object has two equal keys, after escapes are resolved | invalid_request | invalid_params")
    ],
    function* (t) {
      const without = (member: string): JsonObject =>
        Object.fromEntries(Object.entries(tool("a")).filter(([key]) => key !== member))
      const schema = '"input_schema":{"type":"object"}'
      yield* refusesAll(t, {
        "an unknown member": [tool("a", { strict: true })],
        "no name": [without("name")],
        "no description": [without("description")],
        "no schema": [without("input_schema")],
        "a null timeout": [tool("a", { timeout_ms: null })],
        "a string": ["client__a"],
        null: [null],
        "an array": [[]],
        "two equal keys": `[{"name":"client__a","name":"client__a","description":"d",${schema}}]`,
        "two equal names": [tool("a"), tool("b"), tool("a")]
      })
    }
  )
]
