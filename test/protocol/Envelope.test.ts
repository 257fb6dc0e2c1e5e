import { assert, describe, it } from "@effect/vitest"
import * as Envelope from "../../src/protocol/Envelope.ts"
import { bytes } from "./corpus.ts"

/** What a line is, in one word or two. */
const decode = (line: string | Uint8Array) => {
  const decoded = Envelope.decodeRequest(typeof line === "string" ? bytes(line) : line)
  if (decoded._tag === "Malformed") return `${decoded.code} ${decoded.id}`
  return decoded.fault ? `fault ${decoded.id} ${decoded.fault.path ?? ""}`.trimEnd() : `request ${decoded.id}`
}
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const frame = (params: string) => `{"version":1,"id":"a","method":"status","params":${params}}`

describe("base-protocol section 2: a request line", () => {
  it("decodes a sound envelope", () => {
    const decoded = Envelope.decodeRequest(bytes(' {"params":{"a":[1]},"method":"status","id":"x:1","version":1.0}\r'))
    assert.deepStrictEqual(decoded, {
      _tag: "Request",
      id: "x:1",
      method: "status",
      params: { a: [1] },
      fault: undefined
    })
  })
  it("has id null when it is not UTF-8 or not a JSON object", () => {
    const lines = [
      "",
      " ",
      "garbage",
      "[]",
      '"x"',
      "1",
      "null",
      "{",
      '{"version":1,}',
      `${frame("{}")} {}`,
      `\ufeff${frame("{}")}`
    ]
    lines.push('{"version":1,"id":"n","method":"status","params":{"a":NaN}}', "[".repeat(30_000), frame("{}").repeat(2))
    for (const line of lines) assert.strictEqual(decode(line), "invalid_request null", line.slice(0, 60))
    for (const wrong of [
      [0xc3, 0x28],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82]
    ]) {
      const line = Buffer.concat([
        bytes('{"version":1,"id":"u","method":"'),
        Buffer.from(wrong),
        bytes('","params":{}}')
      ])
      assert.strictEqual(decode(line), "invalid_request null")
    }
  })
  it("is closed: version, id, method and params, always present and of their types", () => {
    for (const extra of ['"jsonrpc":"2.0"', '"__proto__":{}', '"Method":"status"']) {
      assert.strictEqual(
        decode(`{"version":1,"id":"c","method":"status","params":{},${extra}}`),
        "invalid_request c",
        extra
      )
    }
    const lines = [
      '{"id":"c","method":"status","params":{}}',
      '{"version":1,"id":"c","params":{}}',
      '{"version":1,"id":"c","method":"status"}',
      '{"version":1,"id":"c","method":5,"params":{}}',
      ...["null", "[]", '"x"', "1"].map((params) => `{"version":1,"id":"c","method":"status","params":${params}}`)
    ]
    for (const line of lines) assert.strictEqual(decode(line), "invalid_request c", line)
    assert.strictEqual(decode('{"version":1,"method":"status","params":{}}'), "invalid_request null")
  })
  it("takes ids of 1 to 128 bytes of A-Z a-z 0-9 . _ : -", () => {
    const of = (id: string) => decode(`{"version":1,"id":${id},"method":"status","params":{}}`)
    for (const id of [
      "1",
      "null",
      '""',
      `"${"x".repeat(129)}"`,
      '"a b"',
      '"é"',
      '"a/b"',
      '"a\\n"',
      '["a"]',
      '"\\ud800"'
    ]) {
      assert.strictEqual(of(id), "invalid_request null", id)
    }
    for (const id of ["x".repeat(128), "A.z_0:9-", "__proto__"]) assert.strictEqual(of(`"${id}"`), `request ${id}`)
    assert.strictEqual(of('"\\u0061"'), "request a")
  })
  it("knows another version, whatever else its envelope may be", () => {
    const lines = [
      '{"version":2,"id":"v","method":"status","params":{}}',
      '{"version":0,"id":"v"}',
      '{"version":"1","id":"v","method":"status","params":{}}',
      '{"version":1.5,"id":"v","verb":"x"}'
    ]
    for (const line of lines) assert.strictEqual(decode(line), "unsupported_version v", line)
    assert.strictEqual(decode('{"version":2,"id":"a b"}'), "unsupported_version null")
  })
  it("takes a method of at most 64 UTF-8 bytes, also one that does not exist", () => {
    const of = (method: string) => decode(`{"version":1,"id":"m","method":"${method}","params":{}}`)
    for (const method of ["", "Status", "__proto__", "x".repeat(64)]) assert.strictEqual(of(method), "request m")
    assert.strictEqual(of("x".repeat(65)), "invalid_request m")
    assert.strictEqual(of("é".repeat(33)), "invalid_request m")
  })
  it("duplicate keys in the envelope: invalid_request, with an id only if it is there once", () => {
    const lines: ReadonlyArray<readonly [string, string]> = [
      ['{"version":1,"id":"d","method":"shutdown","method":"status","params":{}}', "d"],
      ['{"version":1,"id":"d","method":"status","p\\u0061rams":{},"params":{}}', "d"],
      ['{"version":1,"version":1,"id":"d","method":"status","params":{}}', "d"],
      ['{"version":1,"id":"d","id":"d","method":"status","params":{}}', "null"],
      ['{"version":1,"id":"d","\\u0069d":"e","method":"status","params":{}}', "null"],
      ['{"version":2,"id":"d","method":"a","method":"b","params":{}}', "d"]
    ]
    for (const [line, id] of lines) assert.strictEqual(decode(line), `invalid_request ${id}`, line)
  })
  it("a broken rule outside params is the envelope's", () => {
    const lines = [
      '{"version":1,"id":"e","method":"stat\\ud800us","params":{}}',
      '{"version":1,"id":"e","method":"status","params":{},"x":1e999}',
      `{"version":1,"id":"e","method":"status","params":{},"x":${nested(40)}}`,
      '{"version":1e999,"id":"e","method":"status","params":{}}',
      '{"version":1,"id":"e","method":"status","params":{"a":1,"a":2},"\\ud800":1}'
    ]
    for (const line of lines) assert.strictEqual(decode(line), "invalid_request e", line.slice(0, 80))
  })
  it("a broken rule inside the params of a sound envelope is a fault with its pointer, and no params", () => {
    assert.strictEqual(decode(frame('{"a":1,"\\u0061":2}')), "fault a /a")
    assert.strictEqual(decode(frame('{"a":{"b":["\\udc00"]}}')), "fault a /a/b/0")
    assert.strictEqual(decode(frame('{"n":9007199254740993}')), "fault a /n")
    assert.strictEqual(decode(frame('{"\\udc00":1}')), "fault a")
    assert.strictEqual(decode(frame(`{"a":${nested(30)}}`)), "request a")
    assert.strictEqual(decode(frame(`{"a":${nested(31)}}`)), `fault a /a${"/0".repeat(30)}`)
    assert.strictEqual(decode(frame(`{"a":${nested(30_000)}}`)), `fault a /a${"/0".repeat(30)}`)
    // Only the envelope's own id counts.
    assert.strictEqual(decode(frame('{"id":1,"id":2}')), "fault a /id")
    assert.strictEqual(decode('{"version":1,"id":"a","method":5,"params":{"id":1,"id":2}}'), "invalid_request a")
    // Two members `params` are the envelope's fault, also when the first is broken itself.
    assert.strictEqual(
      decode('{"version":1,"id":"a","method":"m","params":{"a":1,"a":1},"params":{}}'),
      "invalid_request a"
    )
    const decoded = Envelope.decodeRequest(bytes(frame('{"a":1,"a":2}')))
    assert.deepStrictEqual(decoded._tag === "Request" ? decoded.params : undefined, {})
  })
  it("names the first fault in document order", () => {
    assert.strictEqual(decode(frame('{"x":1e999,"a":1,"a":2}')), "fault a /x")
    assert.strictEqual(decode(frame('{"a":1,"a":2,"x":1e999}')), "fault a /a")
  })
  it("keeps keys such as __proto__ as data", () => {
    const decoded = Envelope.decodeRequest(bytes(frame('{"__proto__":{"polluted":1}}')))
    assert.strictEqual(decoded._tag === "Request" ? JSON.stringify(decoded.params) : "", '{"__proto__":{"polluted":1}}')
    assert.strictEqual(Reflect.get({}, "polluted"), undefined)
  })
  it("never repeats what it read", () => {
    const lines = [
      '{"version":"SENTINEL","id":"a"}',
      '{"version":1,"id":"SENTINEL x"}',
      "SENTINEL",
      '{"SENTINEL":1,"SENTINEL":2}'
    ]
    for (const line of lines) {
      const decoded = Envelope.decodeRequest(bytes(line))
      assert.notInclude(JSON.stringify(decoded), "SENTINEL", line)
    }
  })
})

describe("base-protocol section 2: what is sent", () => {
  it("has exactly the members of its envelope, in order", () => {
    assert.strictEqual(
      Envelope.request({ id: "r", method: "status", params: {} }),
      '{"version":1,"id":"r","method":"status","params":{}}'
    )
    assert.strictEqual(Envelope.success("r", { a: 1 }), '{"version":1,"id":"r","result":{"a":1}}')
    assert.strictEqual(
      Envelope.event({ event: "run.started", instance_id: "i", sequence: 7, data: { a: "é" } }),
      '{"version":1,"event":"run.started","instance_id":"i","sequence":7,"data":{"a":"é"}}'
    )
    assert.strictEqual(
      Envelope.failure(null, { code: "invalid_request", message: "m" }),
      '{"version":1,"id":null,"error":{"code":"invalid_request","message":"m"}}'
    )
  })
  it("bounds error.message to 256 bytes on a character boundary", () => {
    const of = (message: string): string => JSON.parse(Envelope.failure("r", { code: "c", message })).error.message
    assert.strictEqual(of("x".repeat(256)), "x".repeat(256))
    assert.strictEqual(of("x".repeat(257)), "x".repeat(256))
    assert.strictEqual(of(`${"x".repeat(255)}é`), "x".repeat(255))
    assert.strictEqual(of("\u{1f600}".repeat(65)), "\u{1f600}".repeat(64))
  })
  it("leaves out an error.path of more than 256 bytes", () => {
    const of = (path: string) => JSON.parse(Envelope.failure("r", { code: "c", message: "m", path })).error
    assert.deepStrictEqual(of(`/${"é".repeat(127)}x`), { code: "c", message: "m", path: `/${"é".repeat(127)}x` })
    assert.deepStrictEqual(of(`/${"é".repeat(128)}`), { code: "c", message: "m" })
  })
})
