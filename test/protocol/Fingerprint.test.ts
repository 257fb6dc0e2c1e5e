import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { decodeDescriptor } from "../../src/protocol/Descriptor.ts"
import { canonical, fingerprint } from "../../src/protocol/Fingerprint.ts"
import { isJsonObject, type Json } from "../../src/protocol/Json.ts"
import * as StrictJson from "../../src/protocol/StrictJson.ts"
import { cases, fromBase64 } from "./corpus.ts"

const effective = (descriptor: Json) => {
  const decoded = decodeDescriptor(descriptor, "")
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.failure))
  return decoded.success
}

interface Case {
  readonly name: string
  readonly descriptor: Json
  readonly canonical: string
  readonly sha256: string
  readonly same: ReadonlyArray<Json>
  readonly different: ReadonlyArray<Json>
}

interface JcsCase {
  readonly name: string
  readonly kind: "document" | "number"
  readonly input_base64: string
  readonly canonical_base64: string
  readonly sha256: string
  readonly ieee754_hex: string
  readonly canonical: string
}

describe("base-protocol section 6: the fingerprint of an effective descriptor", () => {
  it("is the SHA-256 of the canonical form, default timeout included", () => {
    for (const one of cases<Case>("fingerprints")) {
      const descriptor = effective(one.descriptor)
      assert.strictEqual(canonical(descriptor), one.canonical, one.name)
      assert.strictEqual(fingerprint(descriptor), one.sha256, one.name)
      for (const same of one.same) assert.strictEqual(fingerprint(effective(same)), one.sha256, one.name)
      for (const other of one.different) assert.notStrictEqual(fingerprint(effective(other)), one.sha256, one.name)
    }
  })
})

describe("RFC 8785", () => {
  it("orders keys and writes numbers as the published cases do", () => {
    for (const one of cases<JcsCase>("jcs")) {
      if (one.kind === "number") {
        const value = Buffer.from(one.ieee754_hex, "hex").readDoubleBE()
        assert.strictEqual(canonical(value), one.canonical, one.name)
        continue
      }
      const parsed = StrictJson.parse(StrictJson.decodeUtf8(fromBase64(one.input_base64)) ?? "")
      if (parsed._tag === "Failure") throw new Error(`${one.name}: ${parsed.failure.message}`)
      const written = Buffer.from(canonical(parsed.success), "utf8")
      assert.deepStrictEqual(written, Buffer.from(one.canonical_base64, "base64"), one.name)
      assert.strictEqual(createHash("sha256").update(written).digest("hex"), one.sha256, one.name)
    }
  })
  it("does not depend on the order of keys, and keeps the order of arrays", () => {
    const shuffled = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (!isJsonObject(value)) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member)])
      )
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value: unknown) => {
        const json: Json = JSON.parse(JSON.stringify(value))
        assert.strictEqual(canonical(shuffled(json)), canonical(json))
        // Deep equality of its own and of a second reading: it is still that value.
        assert.deepStrictEqual(JSON.parse(canonical(json)), JSON.parse(JSON.stringify(json)))
      })
    )
    assert.notStrictEqual(canonical([1, 2]), canonical([2, 1]))
    const numeric: Json = JSON.parse('{"10":1,"9":2,"a":3,"\\ud83d\\ude00":4,"\\uffff":5,"":6}')
    assert.strictEqual(canonical(numeric), '{"":6,"10":1,"9":2,"a":3,"\u{1f600}":4,"\uffff":5}')
  })
})
