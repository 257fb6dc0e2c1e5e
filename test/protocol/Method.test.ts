import { assert, describe, it } from "@effect/vitest"
import { baseCapabilities } from "../../src/protocol/Capability.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { decodeParams, isMethodName, type MethodName, methodNames } from "../../src/protocol/Method.ts"

/** `ok`, or the path of the fault, `-` where it has none. */
const verdict = (method: MethodName, params: JsonObject) => {
  const decoded = decodeParams(method, params)
  return decoded._tag === "Success" ? "ok" : (decoded.failure.path ?? "-")
}
const decoded = (method: MethodName, params: JsonObject) => {
  const result = decodeParams(method, params)
  return result._tag === "Success" ? result.success : result.failure
}

describe("base-protocol section 4: methods", () => {
  it("are the base capabilities in their order, and client.tool.result", () => {
    assert.deepStrictEqual([...methodNames], [...baseCapabilities, "client.tool.result"])
    for (const name of ["nope", "", "__proto__", "constructor", "Status", "client.tools"])
      assert.isFalse(isMethodName(name))
  })
})

describe("base-protocol section 4: params have the members listed and the types listed", () => {
  it("methods without params take {} only", () => {
    const methods = ["status", "shutdown", "session.create", "model.catalog"] as const
    for (const method of methods) {
      assert.strictEqual(verdict(method, {}), "ok")
      assert.strictEqual(verdict(method, { x: 1 }), "/x")
    }
    const hostile: JsonObject = JSON.parse('{"__proto__":1}')
    assert.strictEqual(verdict("status", hostile), "/__proto__")
  })
  it("ids are 1 to 128 bytes of A-Z a-z 0-9 . _ : -", () => {
    assert.strictEqual(verdict("session.open", { session_id: "x".repeat(128) }), "ok")
    for (const session_id of [5, null, "", "a/../b", "x".repeat(129), "é", "a\n"]) {
      assert.strictEqual(verdict("session.open", { session_id }), "/session_id")
    }
    assert.strictEqual(verdict("session.open", {}), "-")
  })
  it("session.list: revision and cursor both or neither, limit 1 to 100, default 100", () => {
    assert.deepStrictEqual(decoded("session.list", {}), { revision: null, cursor: null, limit: 100 })
    assert.deepStrictEqual(decoded("session.list", { revision: "r", cursor: "c", limit: 1 }), {
      revision: "r",
      cursor: "c",
      limit: 1
    })
    assert.strictEqual(verdict("session.list", { cursor: "c" }), "/cursor")
    assert.strictEqual(verdict("session.list", { revision: "r" }), "/revision")
    for (const limit of [0, 101, 1.5, "1", null]) assert.strictEqual(verdict("session.list", { limit }), "/limit")
    assert.strictEqual(verdict("session.list", { cursor: null }), "/cursor")
  })
  it("history.page: the revision is required, cursor and limit are not", () => {
    assert.deepStrictEqual(decoded("history.page", { session_id: "s", revision: "r" }), {
      session_id: "s",
      revision: "r",
      cursor: null,
      limit: 100
    })
    assert.strictEqual(verdict("history.page", { session_id: "s" }), "-")
    assert.strictEqual(verdict("history.page", { session_id: "s", revision: "r", limit: 101 }), "/limit")
  })
  it("turn.start: a prompt that is not blank, at most 32768 UTF-8 bytes", () => {
    const of = (prompt: Json) => verdict("turn.start", { session_id: "s", prompt })
    for (const prompt of ["", " \n\t ", "\ufeff\u3000", 7, null, "x".repeat(32_769), `${"é".repeat(16_384)}x`]) {
      assert.strictEqual(of(prompt), "/prompt")
    }
    // UTF-8 bytes, so what JSON must escape counts once.
    for (const prompt of ["x", "\u0000", "é".repeat(16_384), '"'.repeat(32_768)]) assert.strictEqual(of(prompt), "ok")
    assert.strictEqual(verdict("turn.start", { session_id: "s", prompt: "x", model: "y" }), "/model")
  })
  it("selection.set: provider and model names of at most 128 compact bytes", () => {
    const of = (model: Json) =>
      verdict("selection.set", { session_id: "s", selection_revision: "r", provider: "p", model })
    for (const model of ["org/m:7b", "x".repeat(128), '"'.repeat(64)]) assert.strictEqual(of(model), "ok")
    for (const model of ["x".repeat(129), '"'.repeat(65), 5]) assert.strictEqual(of(model), "/model")
    assert.strictEqual(verdict("selection.set", { session_id: "s", provider: "p", model: "m" }), "-")
  })
  it("turn.cancel and approval.answer", () => {
    assert.strictEqual(verdict("turn.cancel", { session_id: "s", run_id: "r" }), "ok")
    assert.strictEqual(verdict("turn.cancel", { session_id: "s" }), "-")
    const answer = { session_id: "s", run_id: "r", approval_id: "a" }
    assert.strictEqual(verdict("approval.answer", { ...answer, allow: false }), "ok")
    for (const allow of ["yes", 1, null]) assert.strictEqual(verdict("approval.answer", { ...answer, allow }), "/allow")
  })
  it("messages never repeat a value", () => {
    const wrong = decodeParams("session.open", { session_id: "SENTINEL !" })
    assert.notInclude(wrong._tag === "Failure" ? wrong.failure.message : "SENTINEL", "SENTINEL")
  })
})
