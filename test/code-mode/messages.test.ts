import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { CodeModeLimits } from "../../src/agent/code-mode/CodeModeLimits.ts"
import { decodeFromThread } from "../../src/agent/code-mode/Messages.ts"

const bounds = { ...CodeModeLimits, result_bytes: 10, returned_bytes: 20 }
const decode = (message: unknown) => decodeFromThread(message, bounds)

describe("Code Mode: messages of a thread", () => {
  it("takes each message at its bounds, and nothing beyond them", () => {
    const taken = [
      { type: "ready" },
      { type: "call", id: 0, name: '"a"', args: null },
      { type: "call", id: 1, name: '"a"', args: "x".repeat(10) },
      { type: "returned", value: "x".repeat(20) },
      { type: "failed", fault: "heap", text: "", line: null },
      { type: "failed", fault: "exception", text: "x".repeat(1000), line: 3 }
    ]
    for (const message of taken) assert.deepStrictEqual<unknown>(decode(message), message)
    const refused = [
      { type: "call", id: 1, name: '"a"', args: "x".repeat(11) },
      { type: "call", id: 1, name: "x".repeat(8193), args: null },
      { type: "call", id: -1, name: '"a"', args: null },
      { type: "call", id: 1.5, name: '"a"', args: null },
      { type: "call", id: 1, name: '"a"' },
      { type: "returned", value: "x".repeat(21) },
      { type: "failed", fault: "other", text: "", line: null },
      { type: "failed", fault: "heap", text: "x".repeat(1001), line: null },
      { type: "failed", fault: "heap", text: "", line: "1" },
      { type: "constructor" },
      {},
      [],
      null,
      undefined,
      "ready",
      7
    ]
    for (const message of refused) assert.strictEqual(decode(message), undefined, JSON.stringify(message))
  })

  it("never throws, and gives only what it was given", () => {
    const message = fc.record(
      {
        type: fc.oneof(fc.constantFrom("ready", "call", "returned", "failed"), fc.string()),
        id: fc.anything(),
        name: fc.anything(),
        args: fc.anything(),
        value: fc.anything(),
        fault: fc.oneof(fc.constantFrom("heap", "stuck"), fc.anything()),
        text: fc.anything(),
        line: fc.anything()
      },
      { requiredKeys: ["type"] }
    )
    fc.assert(
      fc.property(fc.oneof(fc.anything(), message), (given) => {
        const decoded = decode(given)
        if (decoded)
          for (const [key, value] of Object.entries(decoded)) assert.strictEqual(Reflect.get(Object(given), key), value)
      })
    )
  })
})
