import { assert, describe, it } from "@effect/vitest"
import * as CompactJson from "../../src/protocol/CompactJson.ts"
import { decodeDescriptor, decodeRegistry } from "../../src/protocol/Descriptor.ts"
import * as Envelope from "../../src/protocol/Envelope.ts"
import { preflight } from "../../src/protocol/Initialize.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { bytes, cases } from "./corpus.ts"

interface Case {
  readonly name: string
  readonly client_tools?: Json
  readonly client_tools_raw?: string
  readonly ok: boolean
}

/** Registers over the wire, as a client does. */
const register = (clientTools: string) => {
  const params = `{"required_capabilities":["client.tools"],"client_tools":${clientTools}}`
  const line = Envelope.decodeRequest(bytes(`{"version":1,"id":"r","method":"initialize","params":${params}}`))
  assert.strictEqual(line._tag, "Request")
  if (line._tag !== "Request") throw new Error(line.message)
  if (line.fault) return line.fault
  const admitted = preflight(line.params, ["client.tools"])
  return admitted._tag === "Success" ? undefined : admitted.failure
}

const tool = (more: JsonObject = {}): JsonObject => ({
  name: "client__a",
  description: "d",
  input_schema: { type: "object" },
  ...more
})
const faultOf = (...tools: ReadonlyArray<Json>) => {
  const decoded = decodeRegistry(tools, "/client_tools")
  return decoded._tag === "Failure" ? decoded.failure : undefined
}

describe("client-tools, Negotiate once and Bounds: the registry", () => {
  // Base-protocol section 6: "blank" is what `String.prototype.trim` empties, and it empties U+FEFF.
  const settled: Readonly<Record<string, boolean>> = { "description/open/bom_only": false }

  it("gives every verdict of the corpus", () => {
    for (const one of cases<Case>("registry")) {
      const fault = register(one.client_tools_raw ?? JSON.stringify(one.client_tools))
      assert.strictEqual(fault === undefined, settled[one.name] ?? one.ok, `${one.name}: ${fault?.message}`)
    }
  })
  it("fills the default timeout in, members in the order of the document, and keeps registration order", () => {
    const decoded = decodeRegistry([tool({ timeout_ms: 1000 }), { ...tool(), name: "client__A" }])
    assert.strictEqual(decoded._tag, "Success")
    if (decoded._tag !== "Success") return
    assert.strictEqual(
      CompactJson.stringify(decoded.success),
      '[{"name":"client__a","description":"d","input_schema":{"type":"object"},"timeout_ms":1000},' +
        '{"name":"client__A","description":"d","input_schema":{"type":"object"},"timeout_ms":30000}]'
    )
  })
  it("measures registry_bytes over the effective array, defaulted timeouts included", () => {
    const tools = (count: number, last: number) =>
      Array.from({ length: count }, (_, index) =>
        tool({ name: `client__t${index}`, description: "x".repeat(index === count - 1 ? last : 2048) })
      )
    const size = (last: number) => {
      const decoded = decodeRegistry(tools(16, last))
      return decoded._tag === "Success" ? CompactJson.byteLength(decoded.success) : undefined
    }
    const least = size(1) ?? 0
    assert.strictEqual(size(32_768 - least + 1), 32_768)
    assert.isUndefined(size(32_768 - least + 2))
    assert.strictEqual(faultOf(...tools(16, 32_768 - least + 2))?.path, "/client_tools")
  })
  it("points at the offending member", () => {
    assert.strictEqual(faultOf(tool(), tool({ name: "client__b", timeout_ms: 5 }))?.path, "/client_tools/1/timeout_ms")
    assert.strictEqual(faultOf(tool({ name: "lookup" }))?.path, "/client_tools/0/name")
    assert.strictEqual(faultOf(tool(), tool())?.path, "/client_tools/1/name")
    assert.strictEqual(faultOf(tool({ strict: true }))?.path, "/client_tools/0/strict")
    assert.strictEqual(faultOf({ name: "client__a" })?.path, "/client_tools/0")
    assert.strictEqual(faultOf("client__a")?.path, "/client_tools/0")
    assert.strictEqual(
      faultOf(tool({ input_schema: { type: "object", properties: { "a/b~c": { $ref: "#" } } } }))?.path,
      "/client_tools/0/input_schema/properties/a~1b~0c/$ref"
    )
    const many = Array.from({ length: 33 }, (_, index) => tool({ name: `client__t${index}` }))
    assert.isUndefined(faultOf(...many.slice(1)))
    assert.strictEqual(faultOf(...many)?.path, "/client_tools")
  })
  it("refuses names, descriptions and timeouts beyond their rules", () => {
    const wrong: ReadonlyArray<JsonObject> = [
      ...["client__", `client__${"x".repeat(57)}`, "Client__a", "client__a-b", "client__é", "client__a\n", ""].map(
        (name) => ({ name })
      ),
      ...[
        "",
        " \n\t ",
        "\ufeff",
        "a\rb",
        "a\u0085b",
        "a\u007f",
        "a\ud800",
        "x".repeat(2049),
        `${"é".repeat(1024)}x`,
        5
      ].map((description) => ({ description })),
      ...[999, 300_001, 1000.5, "1000", null, true].map((timeout_ms) => ({ timeout_ms })),
      ...[null, true, [], {}, { type: "string" }].map((input_schema) => ({ input_schema }))
    ]
    for (const more of wrong) assert.strictEqual(decodeDescriptor(tool(more), "")._tag, "Failure", JSON.stringify(more))
    const right: ReadonlyArray<JsonObject> = [
      { name: `client__${"x".repeat(56)}` },
      { name: "client__client__0" },
      { description: "é".repeat(1024) },
      { description: "line\n\tline \u2028" },
      { timeout_ms: 1000 },
      { timeout_ms: 300_000 }
    ]
    for (const more of right) assert.strictEqual(decodeDescriptor(tool(more), "")._tag, "Success", JSON.stringify(more))
  })
  it("never repeats a value in its message", () => {
    const wrong = [{ name: "SENTINEL" }, { description: "SENTINEL\u0000" }, { SENTINEL: 1 }, { timeout_ms: "SENTINEL" }]
    for (const more of wrong) assert.notInclude(faultOf(tool(more))?.message, "SENTINEL")
    const schema = { type: "object", SENTINEL: "SENTINEL", properties: { SENTINEL: "SENTINEL" } }
    assert.notInclude(faultOf(tool({ input_schema: schema }))?.message, "SENTINEL")
  })
})
