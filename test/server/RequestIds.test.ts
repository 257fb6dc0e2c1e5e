import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isId } from "../../src/protocol/Ids.ts"
import { Limits } from "../../src/protocol/Limits.ts"
import { type IdVerdict, RequestIds } from "../../src/server/RequestIds.ts"

/** What the protocol says, with a plain set. */
class Plain {
  readonly seen = new Set<string>()
  used = 0

  spend(id: string | null): IdVerdict {
    if (this.used >= Limits.request_ids) return "request_limit"
    this.used += 1
    if (id === null) return "fresh"
    if (this.seen.has(id)) return "duplicate_id"
    this.seen.add(id)
    return "fresh"
  }
}

const characters = [..."abcXYZ0189._:-"]
const id = fc
  .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 128, size: "max" })
  .map((all) => all.join(""))
const short = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }).map((all) => all.join(""))

describe("request ids (base-protocol section 2)", () => {
  it("are told apart exactly, whatever their length and order", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(id, short, fc.constant(null)), { maxLength: 300 }), (ids) => {
        const ours = new RequestIds()
        const plain = new Plain()
        for (const one of ids) {
          assert.isTrue(one === null || isId(one))
          assert.strictEqual(ours.spend(one), plain.spend(one))
          assert.strictEqual(ours.used, plain.used)
        }
      })
    )
  })

  it("all 4096 of the longest, then the limit, also for those that were seen", () => {
    const ids = new RequestIds()
    const nth = (n: number) => String(n).padStart(128, "x")
    for (let n = 0; n < Limits.request_ids - 2; n++) assert.strictEqual(ids.spend(nth(n)), "fresh")
    assert.strictEqual(ids.spend(nth(0)), "duplicate_id")
    assert.strictEqual(ids.spend(nth(4000)), "duplicate_id")
    assert.strictEqual(ids.spend(nth(0)), "request_limit")
    assert.strictEqual(ids.spend(null), "request_limit")
    assert.strictEqual(ids.used, Limits.request_ids)
  })

  it("one that is the beginning or the end of another is another", () => {
    const ids = new RequestIds()
    for (const one of ["ab", "a", "b", "abab", "ba", "aba"]) assert.strictEqual(ids.spend(one), "fresh", one)
    for (const one of ["ab", "a", "b", "abab", "ba", "aba"]) assert.strictEqual(ids.spend(one), "duplicate_id", one)
  })
})
