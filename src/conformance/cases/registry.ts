/** Descriptors and the bounds of the registry. docs/client-tools.md, sections 1 and 3. */
import {
  admits,
  type Case,
  c,
  cite,
  compactBytes,
  type Json,
  type JsonObject,
  nested,
  refusesAll,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")

/** `depth` schemas in one another. */
const deep = (depth: number): JsonObject => (depth <= 1 ? { type: "object" } : { type: "object", not: deep(depth - 1) })

/** A schema of exactly so many compact bytes. */
const sized = (bytes: number): JsonObject => {
  const description = "x".repeat(bytes - compactBytes({ type: "object", description: "" }))
  return { type: "object", description }
}

/** A schema that holds `depth` arrays in one another as data. */
const holding = (keyword: "const" | "default", depth: number): JsonObject => ({
  type: "object",
  [keyword]: JSON.parse(nested(depth))
})

/** Tools whose effective descriptors have exactly so many compact bytes, the times filled in. */
const registryOf = (bytes: number): ReadonlyArray<JsonObject> => {
  const tools = (description: string) => [
    ...["t0", "t1", "t2", "t3"].map((name) => tool(name, { input_schema: sized(8000) })),
    tool("last", { description })
  ]
  const effective = tools("").map((one) => ({ ...one, timeout_ms: 30_000 }))
  return tools("x".repeat(bytes - compactBytes(effective)))
}

const ofBytes = (bytes: number): ReadonlyArray<JsonObject> => [tool("a", { input_schema: sized(bytes) })]

/** Registries by what is wrong with them: each value in a registry of its own. */
const each = (values: ReadonlyArray<Json>, registry: (value: Json) => Json): { readonly [what: string]: Json } =>
  Object.fromEntries(values.map((value) => [JSON.stringify(value), registry(value)]))

export const registry: ReadonlyArray<Case> = [
  c("registry.count", clientTools("tools | 32 | descriptors in one process"), function* (t) {
    const many = (count: number) => Array.from({ length: count }, (_, i) => tool(`t${i}`))
    const b = yield* refusesAll(t, { "33 tools": many(33) })
    yield* b.eof
    const { client_tools } = yield* (yield* t.spawn()).initialized(many(32))
    yield* t.equal(client_tools?.tools.length, 32, "tools")
  }),

  c(
    "registry.names",
    [
      clientTools("client__ and 1 to 56 ASCII letters, digits or underscores; case counts; no two are equal"),
      clientTools("name_bytes | 64 | a name, its prefix included")
    ],
    function* (t) {
      const bad = [
        "client__",
        `client__${"x".repeat(57)}`,
        "client_a",
        "Client__a",
        "client__a-b",
        "client__a.b",
        "client__é",
        "client__a ",
        " client__a",
        "client__a\n",
        "client__\u0661",
        "mcp__a__b",
        "bash",
        ""
      ]
      const b = yield* refusesAll(
        t,
        each(bad, (name) => [tool("a", { name })])
      )
      yield* b.eof
      const good = [
        "client__a",
        "client__A",
        "client__0",
        "client___",
        `client__${"x".repeat(56)}`,
        "client__client__a"
      ]
      const { client_tools } = yield* (yield* t.spawn()).initialized(good.map((name) => tool(name)))
      yield* t.equal(client_tools?.tools, good, "names")
    }
  ),

  c(
    "registry.description",
    [
      clientTools("at most 2048 bytes of UTF-8, not blank, no control characters (Unicode Cc) but LF and tab"),
      clientTools("description_bytes | 2048 | a description, in UTF-8")
    ],
    function* (t) {
      const of = (description: Json) => [tool("a", { description })]
      yield* refusesAll(t, {
        empty: of(""),
        blank: of(" \n\t "),
        "2049 bytes": of("x".repeat(2049)),
        "2049 bytes in UTF-8": of(`${"é".repeat(1024)}x`),
        CR: of("a\rb"),
        NUL: of("a\0b"),
        BEL: of("a\u0007"),
        ESC: of("\u001b[1m"),
        DEL: of("a\u007f"),
        "a number": of(5)
      })
      yield* admits(t, [
        tool("a", { description: "x".repeat(2048) }),
        tool("b", { description: "é".repeat(1024) }),
        tool("c", { description: "line\n\tline \u2028" })
      ])
    }
  ),

  c(
    "registry.timeout",
    [
      clientTools("an integer from 1000 to 300000; 30000 if left out"),
      clientTools("min_timeout_ms | 1000 | the shortest time, inclusive"),
      clientTools("max_timeout_ms | 300000 | the longest time, inclusive")
    ],
    function* (t) {
      const bad = [999, 300_001, 0, -1000, 1000.5, "1000", true, []]
      yield* refusesAll(
        t,
        each(bad, (timeout_ms) => [tool("a", { timeout_ms })])
      )
      yield* admits(t, [tool("a", { timeout_ms: 1000 }), tool("b", { timeout_ms: 300_000 })])
    }
  ),

  c(
    "registry.schema-bytes",
    [
      clientTools("schema_bytes | 8192 | one input schema, compact"),
      cite("local-agent-protocol")(
        "Compact bytes of a value, here and in all bounds, are the UTF-8 bytes of its compact JSON."
      )
    ],
    function* (t) {
      yield* refusesAll(t, { "8193 bytes": ofBytes(8193) })
      yield* (yield* admits(t, ofBytes(8192))).eof
      // White space and escapes count on the wire alone.
      const schema = `{"type":"object",${" ".repeat(9000)}"description":"${"\\u00e9".repeat(2000)}"}`
      yield* admits(t, `[{"name":"client__a","description":"d","input_schema":${schema}}]`)
    }
  ),

  c(
    "registry.schema-depth",
    [
      clientTools("schema_depth | 16 | containers in one input schema, its root being the first"),
      clientTools(
        "What stands in enum, const, default and examples is data and not looked at as a schema; it counts for depth and bytes."
      )
    ],
    function* (t) {
      yield* refusesAll(t, {
        "depth 17": [tool("a", { input_schema: deep(17) })],
        "depth 17 with its data": [tool("a", { input_schema: holding("default", 16) })]
      })
      yield* admits(t, [tool("a", { input_schema: deep(16) }), tool("b", { input_schema: holding("const", 15) })])
    }
  ),

  c(
    "registry.bytes",
    [
      clientTools("registry_bytes | 32768 | the array of effective descriptors, compact"),
      clientTools(
        "With the default filled in, and the members in this order, it is the effective descriptor: its compact bytes count against the bound of the registry,"
      )
    ],
    function* (t) {
      yield* refusesAll(t, { "32769 bytes with the times filled in": registryOf(32_769) })
      yield* admits(t, registryOf(32_768))
    }
  )
]
