/** product section 5: patterns are ECMAScript with the `u` flag; what a linear-time engine cannot do is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import * as Pattern from "../../src/client/Pattern.ts"

const texts = [
  "",
  "a",
  "ab",
  "aab",
  "A1_",
  "é",
  "α",
  "ß",
  "😀",
  "a😀b",
  "\n",
  "a\nb",
  "\r",
  "\u2028",
  "\u00a0",
  "\ufeff",
  "\u2003x",
  "\u0000",
  "-",
  "]",
  "\\",
  "{",
  "0",
  "٣",
  "foo bar",
  "2024-01-31",
  "\b"
]

const agrees = (source: string, inputs: ReadonlyArray<string> = texts) => {
  const own = new RegExp(source, "u")
  const compiled = Pattern.compile(source)
  if (Result.isFailure(compiled)) assert.fail(`${source}: ${compiled.failure}`)
  for (const text of inputs) {
    assert.strictEqual(compiled.success.test(text), own.test(text), `${source} on ${JSON.stringify(text)}`)
  }
}

const patterns = [
  "",
  "^$",
  "^a*$",
  "a$",
  "^.$",
  "^[^]$",
  "[]",
  "[^a]",
  "\\s",
  "^\\S+$",
  "\\d",
  "\\D",
  "^\\w+$",
  "\\W",
  "\\bfoo\\b",
  "^(?:a|b)+?$",
  "^(?<year>\\d{4})-(\\d{2})-\\d{2}$",
  "a{2,}",
  "^a{0}b?",
  "^a{1,2}$",
  "\\u{1F600}",
  "\\ud83d\\ude00",
  "[\\ud83d\\ude00]",
  "^[😀-😂]$",
  "^\\ud83d",
  "\\x41",
  "\\cJ",
  "[\\b]",
  "\\0",
  "[\\-\\]\\\\]",
  "[a-]",
  "[-a]",
  "[\\w-]",
  "\\{",
  "[{}]",
  "\\p{L}",
  "\\P{L}",
  "^\\p{Lu}$",
  "\\p{Script=Greek}",
  "\\p{Nd}",
  "[\\p{L}\\d]",
  "[^\\p{L}]",
  "\\p{Emoji_Presentation}",
  "\\/",
  "^(a|(b|(c)))*$",
  "(^a|b$)"
]

describe("patterns", () => {
  // Not on pairs of surrogates: V8 looks for `\\B` inside of them, which ECMAScript does not.
  it("means what ECMAScript means: \\B", () => agrees("\\B", ["", "a", "ab", "a b", " ", "é"]))

  for (const source of patterns) it(`means what ECMAScript means: ${source}`, () => agrees(source))

  it("means the same on random patterns and texts", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      ".",
      "\\d",
      "\\s",
      "\\W",
      "[a-c]",
      "[^ab]",
      "é",
      "😀",
      "\\b",
      "(?:)",
      "\\u2028"
    )
    const quantified = fc
      .tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "*?"))
      .map(([a, q]) => (a === "\\b" ? a : a + q))
    const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 3 },
        quantified,
        tie("pattern").map((inner) => `(${inner})`)
      ),
      pattern: fc
        .tuple(fc.constantFrom("", "^"), fc.array(tie("part"), { maxLength: 4 }), fc.constantFrom("", "$", "|b"))
        .map(([from, parts, to]) => from + parts.join("") + to)
    }))
    const text = fc.array(fc.constantFrom("a", "b", "c", "1", " ", "\n", "é", "😀", "\u2028"), { maxLength: 8 })
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 4 }), (source, inputs) =>
        agrees(
          source,
          inputs.map((characters) => characters.join(""))
        )
      ),
      { numRuns: 400, seed: 7 }
    )
  })

  for (const source of ["^(unclosed", "a**", "[z-a]", "\\u{110000}", "\\q", "\\p{Nonsense}"]) {
    it(`refuses what does not compile: ${source}`, () => assert.isTrue(Result.isFailure(Pattern.compile(source))))
  }

  for (const source of ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a)\\1", "(?<n>a)\\k<n>", "a{1001}", "(a{500}){3}"]) {
    it(`refuses what a linear-time engine cannot do: ${source}`, () =>
      assert.isTrue(Result.isFailure(Pattern.compile(source))))
  }

  it("takes no exponential time", () => {
    const started = performance.now()
    for (const source of ["^(a+)+$", "^(a|a)*$", "^(.*a){12}$", "(x+x+)+y"]) {
      const compiled = Result.getOrThrow(Pattern.compile(source))
      assert.isFalse(compiled.test(`${"a".repeat(16_000)}!`))
    }
    assert.isBelow(performance.now() - started, 3000)
  })
})
