import { assert, describe, it } from "@effect/vitest"
import * as CallIdentity from "../../src/protocol/CallIdentity.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { argumentsFailure, callData } from "../../src/protocol/ToolCall.ts"
import { cancelData } from "../../src/protocol/ToolCancel.ts"
import { decodeToolResult, resultParams, sizeOf } from "../../src/protocol/ToolResult.ts"

const identity: CallIdentity.CallIdentity = {
  instance_id: "i",
  session_id: "s",
  run_id: "r",
  call_id: "c",
  task_id: null,
  subagent_id: null
}
const good: JsonObject = { ...identity, status: "success", text: "ok" }

describe("client-tools, Execute and reply: client.tool.call", () => {
  it("has exactly the members of the document, in its order", () => {
    assert.strictEqual(
      JSON.stringify(callData(identity, { name: "client__a", timeout_ms: 30_000 }, { q: 1 })),
      '{"session_id":"s","run_id":"r","call_id":"c","task_id":null,"subagent_id":null,"name":"client__a",' +
        '"arguments":{"q":1},"timeout_ms":30000}'
    )
  })
  it("client.tool.cancel repeats the identity and adds the reason", () => {
    assert.strictEqual(
      JSON.stringify(cancelData({ ...identity, task_id: "t", subagent_id: "u" }, "timeout")),
      '{"session_id":"s","run_id":"r","call_id":"c","task_id":"t","subagent_id":"u","reason":"timeout"}'
    )
  })
  it("arguments are an object, encodable, at most 16384 compact bytes", () => {
    const sized = (text: string): JsonObject => ({ text })
    assert.isUndefined(argumentsFailure(sized("x".repeat(16_384 - 11))))
    assert.strictEqual(argumentsFailure(sized("x".repeat(16_384 - 10))), "client_tool_payload_limit")
    assert.strictEqual(argumentsFailure(sized("\u0001".repeat(3000))), "client_tool_payload_limit")
    const wrong: ReadonlyArray<Json> = [null, [], "x", 5, { a: ["\ud800"] }, { "\udc00": 1 }, { a: Number.NaN }]
    for (const args of wrong) assert.strictEqual(argumentsFailure(args), "client_tool_invalid_arguments")
  })
})

describe("CallIdentity", () => {
  it("is the same only if all six members are", () => {
    assert.isTrue(CallIdentity.same(identity, { ...identity }))
    for (const key of Object.keys(identity)) {
      assert.isFalse(CallIdentity.same(identity, { ...identity, [key]: "other" }), key)
    }
    assert.isFalse(CallIdentity.same(identity, { ...identity, task_id: "null" }))
  })
})

describe("base-protocol section 6, checks on a reply: closed shape and types", () => {
  const verdict = (params: JsonObject) => {
    const decoded = decodeToolResult(params)
    return decoded._tag === "Success" ? "ok" : (decoded.failure.path ?? "-")
  }
  it("takes both statuses, empty text, and any structured value", () => {
    for (const structured of [null, 0, false, "", [], {}, { a: [1] }]) {
      const decoded = decodeToolResult({ ...good, status: "error", text: "", structured })
      assert.deepStrictEqual(decoded._tag === "Success" ? decoded.success : undefined, {
        identity,
        status: "error",
        value: { text: "", structured }
      })
    }
    const without = decodeToolResult(good)
    assert.deepStrictEqual(without._tag === "Success" ? without.success.value : undefined, { text: "ok" })
  })
  it("takes identity members of any content: whether they match is a later check", () => {
    assert.strictEqual(verdict({ ...good, call_id: "", session_id: "a b/é", task_id: "x".repeat(500) }), "ok")
  })
  it("refuses a missing, an unknown and a mistyped member, and says where", () => {
    for (const key of Object.keys(good)) {
      assert.strictEqual(verdict(Object.fromEntries(Object.entries(good).filter(([name]) => name !== key))), "-", key)
    }
    const wrong: ReadonlyArray<readonly [string, Json]> = [
      ...["ok", "Success", null, 5].map((status) => ["status", status] as const),
      ...[null, 5, ["x"]].map((text) => ["text", text] as const),
      ["extra", 1],
      ["name", "client__a"],
      ["task_id", 5],
      ["subagent_id", false],
      ["call_id", 7],
      ["session_id", null],
      ["instance_id", null],
      ["run_id", {}]
    ]
    for (const [key, value] of wrong) assert.strictEqual(verdict({ ...good, [key]: value }), `/${key}`)
    const hostile: JsonObject = JSON.parse(JSON.stringify(good).replace(/}$/, ',"__proto__":1}'))
    assert.strictEqual(verdict(hostile), "/__proto__")
  })
  it("is what a client builds", () => {
    const reply = { identity, status: "success", value: { text: "é", structured: null } } as const
    const decoded = decodeToolResult(resultParams(reply))
    assert.deepStrictEqual(decoded._tag === "Success" ? decoded.success : undefined, reply)
    assert.notProperty(resultParams({ ...reply, value: { text: "" } }), "structured")
  })
  it("result_bytes: UTF-8 bytes of the text plus compact bytes of the structured value, if present", () => {
    assert.strictEqual(sizeOf({ text: '"é"' }), 4)
    assert.strictEqual(sizeOf({ text: "", structured: null }), 4)
    assert.strictEqual(sizeOf({ text: "x", structured: { a: '"' } }), 1 + 10)
  })
})
