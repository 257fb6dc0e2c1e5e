/** Tools of real MCP servers as client tools, each and by whole servers. client-tools, Bounds and schemas. */
import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { adaptServer, adaptTool, type McpTool } from "../../src/client/McpToolAdapter.ts"
import { decodeRegistry, type JsonObject } from "../../src/protocol/index.ts"

interface Case {
  readonly server: string
  readonly tool: string
  readonly description: string
  readonly schema: JsonObject
}

const file = new URL("../corpora/mcp_tools.json.gz", import.meta.url)
const { cases }: { readonly cases: ReadonlyArray<Case> } = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"))
const tools = cases.map((one) => ({
  server: one.server,
  tool: { name: one.tool, description: one.description, inputSchema: one.schema } satisfies McpTool
}))
const toolOf = (name: string, inputSchema: JsonObject): McpTool => ({ name, description: "A tool.", inputSchema })

describe("the corpus of MCP tools", () => {
  it("nearly every tool can be registered by itself, and what cannot says why", () => {
    const refused = tools.flatMap(({ tool }) => {
      const adapted = adaptTool(tool)
      return Result.isFailure(adapted) ? [adapted.failure] : []
    })
    console.log(`tools: ${tools.length - refused.length} of ${tools.length}`, refused)
    for (const { reason } of refused) assert.isNotEmpty(reason)
    assert.isAtLeast((tools.length - refused.length) / tools.length, 0.95)
  })

  it("every whole server becomes a registry that the broker takes, and every tool is in it or named", () => {
    for (const [server, listed] of Map.groupBy(tools, (one) => one.server)) {
      const adapted = adaptServer(listed.map(({ tool }) => tool))
      const registry = adapted.tools.map(({ descriptor }) => ({ ...descriptor }))
      console.log(`${server}: ${registry.length} of ${listed.length}`)
      assert.isTrue(Result.isSuccess(decodeRegistry(registry)), server)
      const told = [...adapted.tools, ...adapted.leftOut].map(({ mcpName }) => mcpName)
      assert.deepStrictEqual(told.toSorted(), listed.map(({ tool }) => tool.name).toSorted())
    }
  })
})

describe("schemas and names", () => {
  it("$schema goes and local references are written out; data under enum and default stays", () => {
    const schema: JsonObject = {
      $schema: "x",
      type: "object",
      properties: { a: { $ref: "#/$defs/A~1B", description: "d" }, b: { default: { $ref: "data" } } },
      $defs: { "A/B": { type: "string" } }
    }
    assert.deepStrictEqual(Result.getOrThrow(adaptTool(toolOf("t", schema))).descriptor.input_schema, {
      type: "object",
      properties: { a: { type: "string", description: "d" }, b: { default: { $ref: "data" } } }
    })
  })

  it("a schema that contains itself, and a reference to elsewhere, are refused with their place", () => {
    const of = (ref: string): JsonObject => ({
      type: "object",
      properties: { a: { $ref: ref } },
      $defs: { L: { type: "object", properties: { next: { $ref: "#/$defs/L" } } } }
    })
    const paths = ["#/$defs/L", "#", "http://x/y", "#/$defs/none"].map((ref) => {
      const adapted = adaptTool(toolOf("t", of(ref)))
      return Result.isFailure(adapted) ? adapted.failure.path : undefined
    })
    assert.deepStrictEqual(paths, [
      "/input_schema/properties/a/properties/next/$ref",
      "/input_schema/properties/a/$ref",
      "/input_schema/properties/a/$ref",
      "/input_schema/properties/a/$ref"
    ])
  })

  it("names are mapped, and of two that collide neither is taken", () => {
    const listed = ["get-it", "get.it", "other"].map((name) => toolOf(name, { type: "object" }))
    const adapted = adaptServer(listed, { prefix: "s" })
    assert.deepStrictEqual(
      adapted.tools.map(({ descriptor }) => descriptor.name),
      ["client__s__other"]
    )
    assert.deepStrictEqual(
      adapted.leftOut.map(({ mcpName }) => mcpName),
      ["get-it", "get.it"]
    )
  })
})
