/** product section 5, Replies: what a plain tool's result says, and what is not JSON. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { resultOf, textOfThrow } from "../../src/client/ToolResultOf.ts"

const said = (value: unknown) => {
  const result = resultOf(value)
  return Result.isSuccess(result) ? result.success : result.failure
}
const success = (structured: unknown) => ({ status: "success", text: "", structured })

describe("results", () => {
  it("a string is the text, undefined is nothing", () => {
    assert.deepStrictEqual(said("x"), { status: "success", text: "x" })
    assert.deepStrictEqual(said(""), { status: "success", text: "" })
    assert.deepStrictEqual(said(undefined), { status: "success", text: "" })
  })

  it("an object with at most text, structured and status, of their types, is taken apart", () => {
    assert.deepStrictEqual(said({ text: "t" }), { status: "success", text: "t" })
    assert.deepStrictEqual(said({ status: "error" }), { status: "error", text: "" })
    assert.deepStrictEqual(said({ structured: null }), { status: "success", text: "", structured: null })
    assert.deepStrictEqual(said({ text: "t", structured: undefined }), { status: "success", text: "t" })
    assert.deepStrictEqual(said({ status: "error", text: "t", structured: [1] }), {
      status: "error",
      text: "t",
      structured: [1]
    })
  })

  it("another object is structured, also {} and one with another status", () => {
    for (const value of [
      {},
      { status: "maybe", text: "x" },
      { text: 5 },
      { text: "x", extra: 1 },
      { when: 1, structured: 1 }
    ]) {
      assert.deepStrictEqual(said(value), success(value) as never)
    }
    assert.deepStrictEqual(said({ text: undefined }), success({}) as never)
  })

  it("any other JSON value is structured", () => {
    for (const value of [null, 0, -1.5, true, [], [1, null], { a: { b: [] } }]) {
      assert.deepStrictEqual(said(value), success(value) as never)
    }
  })

  it("undefined members are left out, toJSON is honoured, class instances are taken as JSON.stringify does", () => {
    class Point {
      readonly x = 1
      readonly hidden = undefined
      #y = 2
      get y() {
        return this.#y
      }
    }
    class Secret {
      toJSON() {
        return { text: "shown" }
      }
    }
    for (const value of [
      { a: 1, b: undefined, c: { d: undefined, e: null } },
      new Point(),
      new Date(0),
      { at: new Date(0) },
      [Object(1), Object("s"), Object(true)],
      new Secret(),
      { deep: [new Secret()] },
      { [Symbol("s")]: 1, n: -0 }
    ]) {
      const result = said(value)
      assert.strictEqual(JSON.stringify("structured" in result ? result.structured : ""), JSON.stringify(value))
    }
  })

  it("what JSON cannot say is an error with its place", () => {
    const cycle: Record<string, unknown> = { a: 1 }
    cycle["self"] = [cycle]
    const at = (value: unknown) => {
      const result = said(value)
      return "path" in result ? result.path : undefined
    }
    assert.strictEqual(at(Number.NaN), "")
    assert.strictEqual(at({ a: [1, Number.POSITIVE_INFINITY] }), "/a/1")
    assert.strictEqual(at([1, undefined]), "/1")
    assert.strictEqual(at(10n), "")
    assert.strictEqual(at({ structured: { a: 10n } }), "/structured/a")
    assert.strictEqual(at(Symbol("x")), "")
    assert.strictEqual(
      at(() => 1),
      ""
    )
    assert.strictEqual(at({ f: () => 1 }), "/f")
    assert.strictEqual(at(cycle), "/self/0")
    assert.strictEqual(at(new Map()), "")
    assert.strictEqual(at({ s: new Set([1]) }), "/s")
    assert.strictEqual(at({ "a/b": "\ud83d" }), "/a~1b")
    assert.strictEqual(at({ "\ud83d": 1 }), "")
    assert.isDefined(
      at({
        toJSON() {
          throw new Error("no")
        }
      })
    )
  })

  it("the same object twice is no cycle", () => {
    const one = { a: 1 }
    assert.deepStrictEqual(said([one, one]), success([{ a: 1 }, { a: 1 }]) as never)
  })

  it("an endless or huge value is given up early", () => {
    let deep: unknown = 1
    for (let n = 0; n < 100_000; n++) deep = [deep]
    assert.property(said(deep), "path")
    assert.property(said(Array.from({ length: 1_000_000 }, () => 0)), "path")
    const endless = {
      get next() {
        return Array.from({ length: 1000 }, () => "x".repeat(1000))
      }
    }
    assert.property(said(endless), "path")
  })

  it("keys such as __proto__ are data", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    const result = said(value)
    assert.strictEqual("structured" in result ? JSON.stringify(result.structured) : "", JSON.stringify(value))
  })
})

describe("throws", () => {
  it("are told with the error's message, never empty, never with a stack", () => {
    assert.strictEqual(textOfThrow(new Error("the disk is full")), "the disk is full")
    assert.strictEqual(textOfThrow("a plain string"), "a plain string")
    for (const odd of [
      undefined,
      null,
      5,
      {},
      new Error(""),
      {
        get message(): string {
          throw new Error("x")
        }
      }
    ]) {
      assert.match(textOfThrow(odd), /without a message/)
    }
    assert.isTrue(textOfThrow(new Error("a\ud83d")).isWellFormed())
  })
})
