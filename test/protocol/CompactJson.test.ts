import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as CompactJson from "../../src/protocol/CompactJson.ts"
import type { Json } from "../../src/protocol/Json.ts"

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\ud800", "\udc00", '"', "\\", "\n", "\u0001", "é", "€", "\u{1f600}"),
    fc.string({ minLength: 1, maxLength: 1 })
  )
})
const text = anyText.map((one) => one.toWellFormed())
const utf8 = (one: string) => Buffer.byteLength(one, "utf8")

describe("section 1: compact JSON", () => {
  it("has no insignificant whitespace and does not escape non-ASCII", () => {
    assert.strictEqual(CompactJson.stringify({ a: ["é\u2028", 1, null] }), '{"a":["é\u2028",1,null]}')
    assert.strictEqual(CompactJson.byteLength({ a: "é" }), 10)
  })
  it("writes keys such as __proto__ as data", () => {
    const hostile: Json = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    assert.strictEqual(CompactJson.stringify(hostile), '{"__proto__":{"a":1},"constructor":2}')
  })
  it("is JSON.stringify for every encodable value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value: unknown) => {
        const copy: Json = JSON.parse(JSON.stringify(value))
        fc.pre(CompactJson.isEncodable(copy))
        assert.strictEqual(CompactJson.stringify(copy), JSON.stringify(copy))
        assert.strictEqual(CompactJson.byteLength(copy), utf8(JSON.stringify(copy)))
      })
    )
  })
  it("never writes a lone surrogate, raw or escaped", () => {
    assert.strictEqual(CompactJson.stringify(["\ud800", "\\ud800", "\\\udc00"]), '["\ufffd","\\\\ud800","\\\\\ufffd"]')
    fc.assert(
      fc.property(anyText, (one) => {
        const parsed: unknown = JSON.parse(CompactJson.stringify([one]))
        assert.deepStrictEqual(parsed, [one.toWellFormed()])
        assert.strictEqual(CompactJson.isEncodable([one]), one.isWellFormed())
        assert.strictEqual(CompactJson.isEncodable({ [one]: 1 }), one.isWellFormed())
      })
    )
    assert.isFalse(CompactJson.isEncodable([{ a: Number.POSITIVE_INFINITY }]))
  })
  it("takes any depth", () => {
    const nested = ['{"a":[1,{"b":"é"},'.repeat(20_000), "[]", "]}".repeat(20_000)].join("")
    const value: Json = JSON.parse(nested)
    assert.strictEqual(CompactJson.stringify(value), nested)
    assert.strictEqual(CompactJson.depth(value), 40_001)
    assert.isTrue(CompactJson.isEncodable(value))
  })
})

describe("depth", () => {
  it("counts containers, a scalar being 0", () => {
    const expected: ReadonlyArray<readonly [Json, number]> = [
      [1, 0],
      ["", 0],
      [null, 0],
      [[], 1],
      [{}, 1],
      [[1, [2]], 2],
      [{ a: {}, b: [[{}]] }, 4]
    ]
    for (const [value, levels] of expected) assert.strictEqual(CompactJson.depth(value), levels, JSON.stringify(value))
  })
})

describe("section 4: bounds on texts count compact bytes of the string without its quotes", () => {
  it("textBytes is what the wire needs", () => {
    fc.assert(
      fc.property(text, (one) => {
        assert.strictEqual(CompactJson.textBytes(one), utf8(CompactJson.stringify(one)) - 2)
      })
    )
  })
  it("textBytes is right for every character of one UTF-16 unit", () => {
    for (let code = 0; code <= 0xffff; code++) {
      const one = String.fromCharCode(code)
      if (!one.isWellFormed()) continue
      const expected = utf8(JSON.stringify(one)) - 2
      if (CompactJson.textBytes(one) !== expected) assert.fail(`U+${code.toString(16)}: ${expected} bytes`)
    }
  })
  it("splitText keeps every character whole and in order, within the bound", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 6, max: 40 }), (one, bound) => {
        const parts = CompactJson.splitText(one, bound)
        assert.strictEqual(parts.join(""), one)
        for (const part of parts) {
          assert.isAtMost(CompactJson.textBytes(part), bound)
          assert.isTrue(part.isWellFormed())
        }
        assert.isTrue(one === "" ? parts.length === 1 : parts.every((part) => part !== ""))
      })
    )
    assert.deepStrictEqual(CompactJson.splitText("", 16384), [""])
  })
  it("splitText fills its parts: no two neighbours would fit into one", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 6, max: 40 }), (one, bound) => {
        const parts = CompactJson.splitText(one, bound)
        for (const [index, part] of parts.entries()) {
          const first = [...(parts[index + 1] ?? "")][0]
          if (first !== undefined) assert.isAbove(CompactJson.textBytes(part + first), bound)
        }
      })
    )
  })
  it("truncateText is the longest prefix on a character boundary", () => {
    assert.strictEqual(CompactJson.truncateText("a\u{1f600}b", 4), "a")
    assert.strictEqual(CompactJson.truncateText("a\u{1f600}b", 5), "a\u{1f600}")
    assert.strictEqual(CompactJson.truncateText('""', 3), '"')
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 30 }), (one, bound) => {
        const cut = CompactJson.truncateText(one, bound)
        assert.isTrue(one.startsWith(cut))
        assert.isAtMost(CompactJson.textBytes(cut), bound)
        const next = [...one.slice(cut.length)][0]
        if (next !== undefined) assert.isAbove(CompactJson.textBytes(cut + next), bound)
      })
    )
  })
})
