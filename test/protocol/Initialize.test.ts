import { assert, describe, it } from "@effect/vitest"
import { baseCapabilities } from "../../src/protocol/Capability.ts"
import { decodeResult } from "../../src/protocol/DecodeResult.ts"
import { initializeResult, preflight } from "../../src/protocol/Initialize.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"

const known = [...baseCapabilities, "tool.cards", "client.tools"]
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name: `client__${name}`,
  description: "d",
  input_schema: { type: "object" },
  ...more
})

/** `ok`, or code and path. */
const verdict = (required_capabilities: Json, more: JsonObject = {}) => {
  const admitted = preflight({ required_capabilities, ...more }, known)
  if (admitted._tag === "Success") return "ok"
  return `${admitted.failure.code} ${admitted.failure.path ?? ""}`.trimEnd()
}
const fill = (count: number, ...first: ReadonlyArray<string>) => [
  ...first,
  ...Array.from({ length: count - first.length }, (_, index) => `x.unknown${index}`)
]

describe("base-protocol section 3: the preflight, in its order", () => {
  it("first the shape of params", () => {
    assert.strictEqual(verdict(5, { nonsense: 1 }), "invalid_params /nonsense")
    assert.strictEqual(verdict(["x.unknown"], { __proto__x: 1 }), "invalid_params /__proto__x")
    const hostile: JsonObject = JSON.parse('{"required_capabilities":[],"__proto__":{}}')
    const admitted = preflight(hostile, known)
    assert.strictEqual(admitted._tag === "Failure" ? admitted.failure.path : "", "/__proto__")
    const missing = preflight({}, known)
    assert.strictEqual(missing._tag === "Failure" ? missing.failure.code : "", "invalid_params")
  })
  it("then required_capabilities: an array of unique strings, at most 16, or 18 with client.tools", () => {
    for (const wrong of [null, "status", {}, 5])
      assert.strictEqual(verdict(wrong), "invalid_params /required_capabilities")
    assert.strictEqual(verdict(["x.unknown", 1]), "invalid_params /required_capabilities/1")
    assert.strictEqual(verdict(["status", "status"]), "invalid_params /required_capabilities/1")
    assert.strictEqual(verdict(fill(16)), "unsupported_capability /required_capabilities/0")
    assert.strictEqual(verdict(fill(17)), "invalid_params /required_capabilities")
    assert.strictEqual(verdict(fill(18, "client.tools")), "unsupported_capability /required_capabilities/1")
    assert.strictEqual(verdict(fill(19, "client.tools")), "invalid_params /required_capabilities")
    assert.strictEqual(verdict([]), "ok")
  })
  it("then unknown names, before client_tools is looked at", () => {
    for (const name of ["client.tool.result", "Client.tools", "__proto__", "constructor", ""]) {
      assert.strictEqual(verdict([name]), "unsupported_capability /required_capabilities/0", name)
    }
    assert.strictEqual(verdict(["client.tools", "x"]), "unsupported_capability /required_capabilities/1")
    assert.strictEqual(verdict(["x"], { client_tools: 5 }), "unsupported_capability /required_capabilities/0")
  })
  it("then client_tools, present exactly when negotiated and not null", () => {
    assert.strictEqual(verdict(["client.tools"]), "invalid_params")
    assert.strictEqual(verdict(["client.tools"], { client_tools: null }), "invalid_params /client_tools")
    assert.strictEqual(verdict(["client.tools"], { client_tools: [] }), "ok")
    for (const client_tools of [null, [], [tool("a")]]) {
      assert.strictEqual(verdict(["status"], { client_tools }), "invalid_params /client_tools")
    }
  })
  it("then the whole registry", () => {
    const registry = { client_tools: [tool("a"), tool("b", { timeout_ms: 1 })] }
    assert.strictEqual(verdict(["client.tools"], registry), "invalid_params /client_tools/1/timeout_ms")
    const admitted = preflight(
      { required_capabilities: ["tool.cards", "client.tools"], client_tools: [tool("a")] },
      known
    )
    assert.deepStrictEqual(admitted._tag === "Success" ? admitted.success : undefined, {
      capabilities: ["tool.cards", "client.tools"],
      clientTools: [{ name: "client__a", description: "d", input_schema: { type: "object" }, timeout_ms: 30_000 }],
      cards: true
    })
  })
})

describe("base-protocol section 3: the initialize result, exactly", () => {
  const result = (params: JsonObject, capabilities: ReadonlyArray<string> = known) => {
    const admitted = preflight(params, capabilities)
    if (admitted._tag === "Failure") throw new Error(admitted.failure.message)
    return initializeResult({
      instanceId: "i",
      workspace: "/w",
      server: { name: "s", version: "0" },
      capabilities,
      admission: admitted.success,
      selection: { provider: "offline", model: "offline", revision: "r" }
    })
  }
  it("without client tools has neither member nor extension", () => {
    const bare = result({ required_capabilities: [] })
    assert.strictEqual(
      JSON.stringify(bare),
      '{"protocol":"magi-code.local-agent","version":1,"instance_id":"i","server":{"name":"s","version":"0"},"workspace":"/w",' +
        '"capabilities":["initialize","status","shutdown","session.create","session.open","session.list","model.catalog",' +
        '"selection.set","history.page","turn.start","turn.cancel","approval.answer"],' +
        '"limits":{"input_frame_bytes":65536,"output_frame_bytes":65536,"json_depth":32,"request_ids":4096,' +
        '"pending_output_frames":32,"output_deadline_ms":2000,"cleanup_ms":2000,"prompt_bytes":32768,"page_entries":100,' +
        '"page_bytes":32768,"pending_approvals":16},"selection":{"provider":"offline","model":"offline","revision":"r"},' +
        '"extensions":{}}'
    )
    assert.strictEqual(decodeResult("initialize", JSON.parse(JSON.stringify(bare)))._tag, "Success")
  })
  it("with both extensions names them and the twelve limits in order", () => {
    const full = result({ required_capabilities: ["client.tools", "tool.cards"], client_tools: [tool("b"), tool("a")] })
    const limits =
      '{"tools":32,"name_bytes":64,"description_bytes":2048,"registry_bytes":32768,"schema_bytes":8192,"schema_depth":16,' +
      '"arguments_bytes":16384,"result_bytes":32768,"pending_calls":16,"default_timeout_ms":30000,"min_timeout_ms":1000,' +
      '"max_timeout_ms":300000}'
    assert.deepStrictEqual(full.capabilities.slice(-2), ["tool.cards", "client.tools"])
    assert.strictEqual(
      JSON.stringify(full.extensions),
      '{"tool.cards":{"schema_version":1,"event":"tool.card","history_field":"tool_card"},"client.tools":{"schema_version":1,' +
        `"registration":"startup_only","tools":["client__b","client__a"],"limits":${limits}}}`
    )
    assert.strictEqual(JSON.stringify(full.client_tools), `{"tools":["client__b","client__a"],"limits":${limits}}`)
    assert.strictEqual(Object.keys(full).at(-1), "client_tools")
    assert.strictEqual(decodeResult("initialize", JSON.parse(JSON.stringify(full)))._tag, "Success")
  })
  it("announces only what is implemented", () => {
    assert.deepStrictEqual(result({ required_capabilities: [] }, ["status", "initialize"]).capabilities, [
      "initialize",
      "status"
    ])
  })
})
