import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { FrameReader } from "../../src/transport/FrameReader.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (frame: Uint8Array) => new TextDecoder().decode(frame)

/** Pushes the chunks; gives the frames and whether the bound was broken. */
const feed = (limit: number, chunks: ReadonlyArray<Uint8Array>) => {
  const reader = new FrameReader(limit)
  const frames: Array<string> = []
  let oversized = false
  for (const chunk of chunks) {
    const arrived = reader.push(chunk)
    frames.push(...arrived.frames.map(text))
    oversized ||= arrived.oversized
  }
  return { frames, oversized, partial: reader.partial }
}

describe("FrameReader (base-protocol section 1)", () => {
  it("separates at LF only: CR, U+2028, U+2029 and U+0085 do not", () => {
    const line = "a\rb\u2028c\u2029d\u0085e"
    assert.deepStrictEqual(feed(100, [bytes(`${line}\n\r\n\n`)]).frames, [line, "\r", ""])
  })

  it("gives the same frames however the bytes are split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 20 })),
        fc.array(fc.nat(7), { minLength: 1 }),
        (lines, cuts) => {
          const wanted = lines.map((line) => line.replaceAll("\n", " "))
          const all = bytes(wanted.map((line) => `${line}\n`).join(""))
          const chunks: Array<Uint8Array> = []
          for (let from = 0, turn = 0; from < all.length; turn++) {
            const size = (cuts[turn % cuts.length] ?? 0) + 1
            chunks.push(all.subarray(from, from + size))
            from += size
          }
          assert.deepStrictEqual(feed(1000, chunks), { frames: wanted, oversized: false, partial: false })
        }
      )
    )
  })

  it("takes exactly the bound, with and without its LF, and one byte more is oversized before any LF comes", () => {
    assert.deepStrictEqual(feed(8, [bytes("12345678")]), { frames: [], oversized: false, partial: true })
    assert.deepStrictEqual(feed(8, [bytes("12345678\n")]), { frames: ["12345678"], oversized: false, partial: false })
    assert.deepStrictEqual(feed(8, [bytes("123456789")]), { frames: [], oversized: true, partial: false })
    assert.deepStrictEqual(feed(8, [bytes("1234"), bytes("5678"), bytes("9\n")]).oversized, true)
  })

  it("gives the whole frames before an oversized one, and nothing after it", () => {
    assert.deepStrictEqual(feed(4, [bytes("one\ntwo\nthree\nfour\n"), bytes("five\n")]), {
      frames: ["one", "two"],
      oversized: true,
      partial: false
    })
  })

  it("keeps no reference to the chunk it was given", () => {
    const chunk = bytes("ab")
    const reader = new FrameReader(10)
    reader.push(chunk)
    chunk.fill(0x78)
    assert.deepStrictEqual(reader.push(bytes("c\n")).frames.map(text), ["abc"])
  })
})
