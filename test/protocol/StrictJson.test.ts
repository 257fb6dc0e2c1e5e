import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as CompactJson from "../../src/protocol/CompactJson.ts"
import * as StrictJson from "../../src/protocol/StrictJson.ts"
import { cases, fromBase64 } from "./corpus.ts"

/** `ok`, or the broken rule and where. */
const verdict = (text: string, maxDepth?: number) => {
  const parsed = StrictJson.parse(text, maxDepth === undefined ? {} : { maxDepth })
  return parsed._tag === "Success" ? "ok" : `${parsed.failure.rule} ${parsed.failure.path}`.trimEnd()
}

describe("section 1: UTF-8", () => {
  it("takes exactly the valid sequences of the corpus", () => {
    for (const one of cases<{ name: string; base64: string; valid: boolean }>("utf8")) {
      const bytes = fromBase64(one.base64)
      const text = StrictJson.decodeUtf8(bytes)
      assert.strictEqual(text !== undefined, one.valid, one.name)
      if (text !== undefined) assert.deepStrictEqual(Buffer.from(text, "utf8"), Buffer.from(bytes), one.name)
    }
  })
  it("keeps a byte order mark, which is then no JSON", () => {
    const text = StrictJson.decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d))
    assert.strictEqual(text, "\ufeff{}")
    assert.strictEqual(verdict(text ?? ""), "syntax")
  })
})

describe("section 1: the grammar", () => {
  // RFC 8259 allows these; section 2 calls equal keys a fault.
  const duplicates = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"]
  // RFC 8259 leaves these open: section 1 takes the integer that its double denotes.
  const survivors = ["i_number_too_big_pos_int.json"]

  it("gives the corpus' verdict, and its own where the corpus leaves it open", () => {
    for (const one of cases<{ name: string; base64: string; expect: string }>("json_parsing")) {
      const text = StrictJson.decodeUtf8(fromBase64(one.base64))
      const rule = text === undefined ? "utf8" : verdict(text).split(" ")[0]
      if (one.expect === "accept")
        assert.strictEqual(rule, duplicates.includes(one.name) ? "duplicate_key" : "ok", one.name)
      else if (one.expect === "reject") assert.include(["utf8", "syntax"], rule, one.name)
      else if (survivors.includes(one.name)) assert.strictEqual(rule, "ok", one.name)
      else assert.include(["utf8", "number", "lone_surrogate"], rule, one.name)
    }
  })
  it("reads what JSON.parse reads, of any value written compactly", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.isWellFormed() && !text.includes("\\ud"))
        const parsed = StrictJson.parse(text)
        // Doubles above 2^53 print as integer literals, and such a literal denotes their ECMAScript form.
        assert.strictEqual(parsed._tag, "Success")
        if (parsed._tag === "Success") assert.strictEqual(CompactJson.stringify(parsed.success), text)
      })
    )
  })
  it("finds the first fault in any text that JSON.parse takes, and never throws", () => {
    const text = fc.string({ unit: fc.constantFrom(...'[]{},:"\\ud8001e-. ab'), maxLength: 40 })
    fc.assert(
      fc.property(text, (candidate) => {
        const parsed = StrictJson.parse(candidate)
        let grammatical = true
        try {
          JSON.parse(candidate)
        } catch {
          grammatical = false
        }
        assert.strictEqual(parsed._tag === "Failure" && parsed.failure.rule === "syntax", !grammatical)
      }),
      { numRuns: 2000 }
    )
  })
})

describe("section 2: duplicate keys", () => {
  it("finds them at every depth, equal after unescaping", () => {
    assert.strictEqual(verdict('{"a":1,"b":{"c":[{"d":1,"\\u0064":2}]}}'), "duplicate_key /b/c/0/d")
    assert.strictEqual(verdict('{"a/b~":1,"a\\/b~":2}'), "duplicate_key /a~1b~0")
    assert.strictEqual(verdict('{"":1,"":2}'), "duplicate_key /")
    assert.strictEqual(verdict('{"\ud83d\ude00":1,"\\ud83d\\ude00":2}'), "duplicate_key /\u{1f600}")
  })
  it("takes equal keys of different objects, and keys of Object.prototype, as data", () => {
    assert.strictEqual(verdict('[{"a":1},{"a":{"a":1}}]'), "ok")
    const parsed = StrictJson.parse('{"__proto__":{"x":1},"constructor":2,"toString":3,"hasOwnProperty":4}')
    assert.strictEqual(parsed._tag, "Success")
    if (parsed._tag !== "Success") return
    assert.deepStrictEqual(Object.keys(parsed.success ?? {}), [
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty"
    ])
    assert.strictEqual(Reflect.get({}, "x"), undefined)
    assert.strictEqual(verdict('{"__proto__":1,"__proto__":2}'), "duplicate_key /__proto__")
  })
})

describe("section 1: depth", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  it("counts containers, the root being 1, and gives the path of the first that is too deep", () => {
    assert.strictEqual(verdict(nested(32), 32), "ok")
    assert.strictEqual(verdict(nested(33), 32), `depth ${"/0".repeat(32)}`)
    assert.strictEqual(verdict('{"a":[1,{"b":2}]}', 2), "depth /a/1")
  })
  it("without a bound takes any depth, in linear time", () => {
    assert.strictEqual(verdict(nested(200_000)), "ok")
    assert.strictEqual(verdict("[".repeat(30_000)), "syntax")
  })
})

describe("section 1: lone surrogates", () => {
  it("refuses them raw and escaped, in values and keys", () => {
    assert.strictEqual(verdict('["ok","\\ud800"]'), "lone_surrogate /1")
    assert.strictEqual(verdict('["\\uDC00\\uD800"]'), "lone_surrogate /0")
    assert.strictEqual(verdict('["\ud800"]'), "lone_surrogate /0")
    assert.strictEqual(verdict('{"a":{"\\udfff":1}}'), "lone_surrogate /a")
    assert.strictEqual(verdict('["\\ud83d\ude00"]'), "lone_surrogate /0")
  })
  it("takes pairs, and escaped backslashes before plain text", () => {
    assert.strictEqual(verdict('["\\ud83d\\ude00","\u{1f600}","\\\\ud800"]'), "ok")
  })
})

describe("section 1: numbers", () => {
  const taken = (literal: string) => verdict(`[${literal}]`) === "ok"
  /** The integer that the ECMAScript form of a double beyond 2^53 denotes. */
  const denotes = (form: string): bigint => {
    const [mantissa = "", exponent] = form.split("e+")
    const [whole = "", fraction = ""] = mantissa.split(".")
    return BigInt(whole + fraction) * 10n ** BigInt(exponent === undefined ? 0 : Number(exponent) - fraction.length)
  }
  it("takes an integer literal only if the ECMAScript form of its double denotes the same integer", () => {
    const yes = ["0", "-0", "9007199254740991", "9007199254740992", "-9007199254740992", "100000000000000000000"]
    yes.push("1000000000000000000000", `1${"0".repeat(300)}`, "1915883588174806000", "12345678901234566000000000")
    for (const literal of yes) assert.isTrue(taken(literal), literal)
    const no = ["9007199254740993", "-9007199254740993", "1915883588174806058", "1915883588174806016", "9".repeat(400)]
    no.push("123456789012345678901234567890", `1${"0".repeat(299)}1`)
    for (const literal of no) assert.isFalse(taken(literal), literal)
  })
  it("refuses what overflows, and takes fractions and exponents as doubles", () => {
    for (const literal of ["1e400", "-1e400", "1.5e309", `1${"0".repeat(309)}`]) assert.isFalse(taken(literal), literal)
    for (const literal of ["1e2", "1E+2", "1.0", "-0.0", "0.1", "3.141592653589793238462643", "1e-400", "1e308"]) {
      assert.isTrue(taken(literal), literal)
    }
  })
  it("takes every integer literal that a double prints, and no neighbour beyond 2^53", () => {
    fc.assert(
      fc.property(fc.double({ min: 2 ** 53, max: 1e300, noNaN: true }), (value) => {
        const integer = denotes(String(value))
        assert.isTrue(taken(String(integer)))
        assert.isFalse(taken(String(integer + 1n)))
        assert.isTrue(taken(String(-integer)))
      })
    )
  })
  it("agrees with BigInt on every integer literal", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (integer) => {
        assert.strictEqual(taken(String(integer)), denotes(String(Number(integer))) === integer)
      })
    )
  })
})

describe("the scanner", () => {
  it("costs linear time: many keys, many faults, long strings of escapes", () => {
    const started = performance.now()
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":[1e999,"\\ud800",{"a":1,"a":2}]`)
    assert.strictEqual(verdict(`{${keys.join(",")}}`), "number /k0/0")
    assert.strictEqual(verdict(`["${"\\\\".repeat(500_000)}"]`), "ok")
    assert.strictEqual(verdict(`[${"1".repeat(1_000_000)}]`), "number /0")
    assert.isBelow(performance.now() - started, 2000)
  })
  it("says the rule and never a value", () => {
    for (const text of ["SENTINEL", '{"a":"SENTINEL","a":1}', '["SENTINEL\\ud800"]']) {
      const parsed = StrictJson.parse(text)
      assert.strictEqual(parsed._tag, "Failure")
      if (parsed._tag === "Failure") assert.notInclude(JSON.stringify(parsed.failure), "SENTINEL")
    }
  })
})
