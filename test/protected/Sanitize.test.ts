/** base-protocol section 6, Redaction: "Sanitize: remove C0 controls except LF, CR and tab, DEL, C1, escape sequences, bidirectional controls". */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { sanitize } from "../../src/broker/protected/Sanitize.ts"

describe("sanitize", () => {
  it("removes every control but LF, CR and tab", () => {
    const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((c) => c !== "\u001b")
    const kept = all.filter((c) => c === "\n" || c === "\r" || c === "\t" || (c >= " " && c <= "~"))
    // One by one: side by side some of them are sequences.
    assert.deepStrictEqual(
      all.filter((c) => sanitize(`a${c}`) === `a${c}`),
      kept
    )
  })

  it("removes bidirectional controls and nothing that only looks like them", () => {
    for (const code of [
      0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069
    ]) {
      assert.strictEqual(sanitize(`a${String.fromCodePoint(code)}b`), "ab")
    }
    for (const text of ["a\u200db", "a\u2028b", "é😀", "\ufeff", "\u2065"]) assert.strictEqual(sanitize(text), text)
  })

  it.for([
    ["a\u001b[31mred\u001b[0m", "ared"],
    ["a\u001b[1;2;3?25hb", "ab"],
    ["a\u009b31mb", "ab"],
    ["a\u001b]0;title\u0007b", "ab"],
    ["\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["a\u001bP1$q\u001b\\b", "ab"],
    ["a\u001b_apc\u009cb", "ab"],
    ["a\u001b(Bb", "ab"],
    ["a\u001b7b\u001b8c\u001b=d", "abcd"],
    ["a\u001b\u001b[0mb", "ab"],
    // Unfinished: the introducer goes, the text stays.
    ["a\u001b]0;never ended\nnext line", "a]0;never ended\nnext line"],
    ["a\u001b[", "a["],
    ["a\u001b", "a"]
  ] as const)("escape sequence %j becomes %j", ([text, wanted]) => {
    assert.strictEqual(sanitize(text), wanted)
  })

  it("leaves nothing that it would remove, and text alone that has nothing of it", () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u001b", "\u001b[", "\u001b]", "\u009b", "\u009d", "\u0007", "31m", "\u202e", ";", "\\")
    )
    fc.assert(
      fc.property(fc.array(unit), (parts) => {
        const once = sanitize(parts.join(""))
        assert.notMatch(
          once,
          /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
        )
        assert.strictEqual(sanitize(once), once)
      })
    )
  })
})
