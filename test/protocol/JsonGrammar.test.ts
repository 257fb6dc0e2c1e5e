/** The place at which a text stops being JSON, held against JSON.parse. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { firstWrong } from "../../src/protocol/JsonGrammar.ts"

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("where a text stops being JSON", () => {
  it("is the first token that does not belong there", () => {
    for (const [text, at] of [
      ["", 0],
      ["  ", 2],
      ['{"a": 1,}', 8],
      ['{"a": 1 "b": 2}', 8],
      ["[1, 2", 5],
      ["{'a': 1}", 1],
      ['{\n  "a": tru\n}', 9],
      ["[1] 2", 4],
      ["[01]", 2],
      ['["\u0001"]', 1],
      ["[1}", 2],
      ["// a comment", 0],
      ["\ufeff{}", 0]
    ] as const) {
      assert.strictEqual(firstWrong(text), at, text)
    }
  })

  it("is nowhere exactly where JSON.parse takes it, and what is before it can be gone on with", () => {
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"\\u00e9\\n"',
      '"\\x"',
      "1",
      "-0.5e3",
      "01",
      "true",
      "nul",
      " ",
      "\n",
      "\t"
    ]
    const texts = FastCheck.oneof(
      FastCheck.array(FastCheck.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join("")),
      FastCheck.json(),
      FastCheck.tuple(FastCheck.json(), FastCheck.nat(), FastCheck.constantFrom(...pieces)).map(
        ([text, at, piece]) => text.slice(0, at % (text.length + 1)) + piece + text.slice((at % (text.length + 1)) + 1)
      )
    )
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        const at = firstWrong(text)
        assert.strictEqual(at === -1, isJson(text), text)
        assert.isAtMost(at, text.length)
      }),
      { numRuns: 3_000 }
    )
  })

  it("takes long and deep texts in little time", () => {
    assert.strictEqual(firstWrong("[".repeat(100_000)), 100_000)
    assert.strictEqual(firstWrong(`"${"a\\n".repeat(60_000)}`), 0)
    assert.strictEqual(firstWrong(`"${"é".repeat(100_000)}"`), -1)
  })
})
