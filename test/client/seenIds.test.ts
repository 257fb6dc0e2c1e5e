/** product section 5, Calls: a call id seen before is never executed again; 8192 are remembered. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { SeenIds } from "../../src/client/SeenIds.ts"

describe("seen ids", () => {
  it("agrees with a Set of strings: UUIDs, near misses and any other id", () => {
    const uuid = fc.uuid()
    const id = fc.oneof(
      uuid,
      uuid.map((text) => text.toUpperCase()),
      uuid.map((text) => text.slice(1)),
      // The same low bits: they meet in one slot.
      fc.nat(40).map((n) => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000001`),
      fc.constant("00000000-0000-0000-0000-000000000000"),
      fc.string({ maxLength: 5 })
    )
    fc.assert(
      fc.property(fc.array(id, { maxLength: 200 }), (ids) => {
        const seen = new SeenIds(200)
        const set = new Set<string>()
        for (const one of ids) {
          assert.strictEqual(seen.has(one), set.has(one))
          if (!set.has(one)) seen.add(one)
          set.add(one)
          assert.isTrue(seen.has(one))
          assert.strictEqual(seen.size, set.size)
        }
      })
    )
  })

  it("holds as many as it was made for", () => {
    const seen = new SeenIds(8192)
    const id = (n: number) =>
      `${n.toString(16).padStart(8, "0")}-0000-4000-8000-${(n * 7919).toString(16).padStart(12, "0")}`
    for (let n = 0; n < 8192; n++) seen.add(id(n))
    assert.strictEqual(seen.size, 8192)
    for (let n = 0; n < 8192; n++) assert.isTrue(seen.has(id(n)))
    assert.isFalse(seen.has(id(8192)))
  })
})
