/** Every sentence that a conformance case cites stands on its page, and ids are what a report can be compared by. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { asRead, standsOn } from "../../src/conformance/Citation.ts"
import { allCases } from "../../src/conformance/cases/index.ts"

const pages = new Map<string, string>()
const page = (name: string): string => {
  const text = pages.get(name) ?? readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8")
  pages.set(name, text)
  return text
}

describe("citations", () => {
  it("stand on their pages, word for word", () => {
    const wrong = allCases.flatMap(({ cites, id }) =>
      cites.filter((one) => !standsOn(page(one.page), one.sentence)).map((one) => `${id}: ${one.page}: ${one.sentence}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("are there for every case, and say something", () => {
    for (const { cites, id } of allCases) {
      assert.isAbove(cites.length, 0, id)
      for (const { sentence } of cites) assert.isAtLeast(asRead(sentence).length, 20, `${id}: ${sentence}`)
    }
  })

  it("are compared as they are read: over lines, without emphasis, without the targets of links", () => {
    const text = "It _holds_ that `a` and **b**\n  see [the page](x.md#y).\n| one  | `client__a`, `__proto__` |"
    assert.isTrue(standsOn(text, "It holds that a and b see the page."))
    assert.isTrue(standsOn(text, "one | client__a, __proto__"))
    assert.isFalse(standsOn(text, "It holds that b"))
  })
})

describe("ids", () => {
  it("are unique and named after their group", () => {
    const ids = allCases.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[a-z]+\.[a-z0-9-]+$/)
  })
})
