import { assert, describe, it } from "@effect/vitest"
import * as CompactJson from "../../src/protocol/CompactJson.ts"
import type { Json } from "../../src/protocol/Json.ts"
import { isJsonObject } from "../../src/protocol/Json.ts"
import * as SchemaSubset from "../../src/protocol/SchemaSubset.ts"
import { cases } from "./corpus.ts"

interface Verdict {
  readonly ok: boolean
  readonly reasons: ReadonlyArray<{ readonly code: string; readonly at: string }>
}

/** The verdict, and that the fault points where one of the oracle's reasons does. It lists at most six. */
const agrees = (schema: Json, verdict: Verdict, name: string) => {
  const fault = SchemaSubset.check(schema, "/input_schema")
  assert.strictEqual(fault === undefined, verdict.ok, `${name}: ${fault?.message} at ${fault?.path}`)
  if (fault === undefined || verdict.reasons.length >= 6) return
  // The oracle names the root for a root type that is there but wrong; section 2 points at the offending member.
  const at = fault.path === "/input_schema/type" ? ["", "/type"] : [fault.path?.slice("/input_schema".length)]
  assert.isTrue(
    verdict.reasons.some((reason) => at.includes(reason.at)),
    `${name}: ${fault.path} is none of ${JSON.stringify(verdict.reasons)}`
  )
}

const without$schema = (schema: Json): Json => {
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"))
}
const wrapped = (schema: Json): Json => ({ type: "object", properties: { x: schema } })

type Verdicts = Readonly<Record<"as_is" | "wrapped" | "stripped" | "stripped_wrapped", Verdict | undefined>>

describe("client-tools, Bounds and schemas: the schema subset", () => {
  for (const corpus of ["json_schema", "mcp_tools"]) {
    it(`gives every verdict of ${corpus}`, () => {
      for (const one of cases<{ name: string; schema: Json; bytes: number; depth: number; verdicts: Verdicts }>(
        corpus
      )) {
        const { as_is, wrapped: inProperties, stripped, stripped_wrapped } = one.verdicts
        if (as_is) agrees(one.schema, as_is, `${one.name} as it is`)
        if (inProperties) agrees(wrapped(one.schema), inProperties, `${one.name} wrapped`)
        if (stripped) agrees(without$schema(one.schema), stripped, `${one.name} stripped`)
        if (stripped_wrapped) agrees(wrapped(without$schema(one.schema)), stripped_wrapped, `${one.name} both`)
        assert.strictEqual(CompactJson.byteLength(one.schema), one.bytes, one.name)
        assert.strictEqual(CompactJson.depth(one.schema), one.depth, one.name)
      }
    })
  }
  it("gives every verdict of schema_derived", () => {
    for (const one of cases<{ name: string; schema: Json; bytes: number; depth: number; verdict: Verdict }>(
      "schema_derived"
    )) {
      if (one.name === "open/lone_surrogate") {
        // The oracle takes it; section 1: "a lone surrogate (raw or as an escape)" is not JSON here.
        assert.isDefined(SchemaSubset.check(one.schema, ""), one.name)
        continue
      }
      agrees(one.schema, one.verdict, one.name)
      assert.strictEqual(CompactJson.byteLength(one.schema), one.bytes, one.name)
      assert.strictEqual(CompactJson.depth(one.schema), one.depth, one.name)
    }
  })
  it("knows exactly the keywords that the document lists", () => {
    assert.strictEqual(SchemaSubset.supportedKeywords.length, 41)
    assert.strictEqual(new Set(SchemaSubset.supportedKeywords).size, 41)
  })
})

describe("base-protocol section 6: where client-tools is silent", () => {
  const faultOf = (property: string) => {
    const schema: Json = JSON.parse(`{"type":"object","properties":{"p":${property}}}`)
    return SchemaSubset.check(schema, "")?.path
  }
  it("points at the offending member", () => {
    assert.strictEqual(faultOf('{"$ref":"#"}'), "/properties/p/$ref")
    assert.strictEqual(faultOf('{"items":[{}]}'), "/properties/p/items")
    assert.strictEqual(faultOf('{"allOf":[{},{"not":null}]}'), "/properties/p/allOf/1/not")
    assert.strictEqual(faultOf('{"properties":{"a/b~c":5}}'), "/properties/p/properties/a~1b~0c")
    assert.strictEqual(SchemaSubset.check({ type: ["object"] }, "/x")?.path, "/x/type")
    assert.strictEqual(SchemaSubset.check({}, "/x")?.path, "/x")
  })
  it("takes literals and names that look like keywords as data", () => {
    const right = [
      '{"default":{"$ref":1},"const":{"type":5},"enum":[],"examples":[{"$schema":[]}]}',
      '{"properties":{"$ref":{},"__proto__":{},"type":true}}',
      '{"minLength":2.0,"minimum":5,"maximum":1,"pattern":"(","format":"made-up","required":["x"]}'
    ]
    for (const property of right) assert.isUndefined(faultOf(property), property)
    assert.strictEqual(faultOf('{"properties":{"__proto__":5}}'), "/properties/p/properties/__proto__")
    assert.strictEqual(faultOf('{"__proto__":{}}'), "/properties/p/__proto__")
    assert.strictEqual(faultOf('{"constructor":{}}'), "/properties/p/constructor")
  })
  it("refuses what a program may hold and JSON cannot", () => {
    assert.isDefined(SchemaSubset.check({ type: "object", minimum: Number.NaN }, ""))
    assert.isDefined(SchemaSubset.check({ type: "object", title: "\ud800" }, ""))
  })
  it("costs a bounded time whatever the depth", () => {
    const deep: Json = JSON.parse(`{"type":"object","default":${"[".repeat(30_000)}${"]".repeat(30_000)}}`)
    assert.strictEqual(SchemaSubset.check(deep, "/s")?.path, "/s")
  })
})
