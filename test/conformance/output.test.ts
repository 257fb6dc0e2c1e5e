/** product section 1, `conformance`: against any backend, also one that writes without end. */
import { assert, describe, it } from "@effect/vitest"
import { Output } from "../../src/conformance/Output.ts"

describe("what a backend wrote", () => {
  it("of a line that does not end 1 MiB is held; it is a problem, and the next line is read as it is", () => {
    const output = new Output("#1")
    const chunk = new Uint8Array(65_536).fill(120)
    for (let n = 0; n < 1000; n += 1) output.take(chunk)
    output.take(Buffer.from('\n{"version":1,"id":"a","result":{}}\n'))
    assert.match(output.problems[0] ?? "", /^a frame of 1048577 bytes/)
    assert.strictEqual(output.frames.length, 1)
    for (let n = 0; n < 1000; n += 1) output.take(chunk)
    output.end(false)
    assert.match(output.problems.at(-1) ?? "", /^stdout ended inside a line \(1048576 bytes\)/)
  })
})
