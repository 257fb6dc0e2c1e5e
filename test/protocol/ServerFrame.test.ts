import { assert, describe, it } from "@effect/vitest"
import { decodeEventData, isEventName } from "../../src/protocol/DecodeEvent.ts"
import { decodeResult } from "../../src/protocol/DecodeResult.ts"
import * as Envelope from "../../src/protocol/Envelope.ts"
import { eventNames } from "../../src/protocol/Event.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { bytes } from "./corpus.ts"

const decode = (line: string) => Envelope.decodeServerFrame(bytes(line))
const isLoss = (line: string) => decode(line)._tag === "Failure"
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const event = (data: string, name = "client.tool.call") =>
  `{"version":1,"event":"${name}","instance_id":"i","sequence":3,"data":${data}}`

describe("product section 5: frames from the agent", () => {
  it("are the three envelopes of base-protocol section 2", () => {
    const read = (line: string) => {
      const decoded = decode(line)
      return decoded._tag === "Success" ? decoded.success : decoded.failure
    }
    assert.deepStrictEqual(read(Envelope.success("r", { a: 1 })), { _tag: "Success", id: "r", result: { a: 1 } })
    assert.deepStrictEqual(read(Envelope.failure("r", { code: "c", message: "m", path: "/p" })), {
      _tag: "Failure",
      id: "r",
      error: { code: "c", message: "m", path: "/p" }
    })
    assert.deepStrictEqual(read(Envelope.failure(null, { code: "c", message: "m" })), {
      _tag: "Failure",
      id: null,
      error: { code: "c", message: "m" }
    })
    assert.deepStrictEqual(
      read(Envelope.event({ event: "run.started", instance_id: "i", sequence: 1, data: { a: "é" } })),
      { _tag: "Event", event: "run.started", instance_id: "i", sequence: 1, data: { a: "é" } }
    )
  })
  it("unknown events and unknown members inside data and result are passed over", () => {
    for (const line of [event('{"future":[1]}', "future.thing"), '{"version":1.0,"id":"r","result":{"future":1}}']) {
      assert.isFalse(isLoss(line), line)
    }
  })
  it("a wrong envelope is loss", () => {
    const lines = [
      "Debugger listening",
      "",
      "[]",
      "null",
      `\ufeff${event("{}")}`,
      `${event("{}")} x`,
      '{"version":2,"id":"r","result":{}}',
      '{"id":"r","result":{}}',
      '{"version":1,"id":"r","result":{},"extra":1}',
      '{"version":1,"id":"r","result":{},"__proto__":1}',
      '{"version":1,"id":"r","result":{},"error":{"code":"c","message":"m"}}',
      '{"version":1,"id":null,"result":{}}',
      '{"version":1,"id":"a b","result":{}}',
      '{"version":1,"id":"r","result":[]}',
      '{"version":1,"id":"r","id":"r","result":{}}',
      '{"version":1,"id":"r","error":{"code":"c"}}',
      '{"version":1,"id":"r","error":{"code":"c","message":"m","more":1}}',
      '{"version":1,"id":"r","error":{"code":"c","message":"m","path":null}}',
      '{"version":1,"id":5,"error":{"code":"c","message":"m"}}',
      '{"version":1,"error":{"code":"c","message":"m"}}',
      '{"version":1,"event":"e","instance_id":"i","sequence":1}',
      '{"version":1,"event":"e","instance_id":"i","sequence":1,"data":{},"extra":1}',
      ...["0", "-1", "1.5", '"1"', "null"].map(
        (sequence) => `{"version":1,"event":"e","instance_id":"i","sequence":${sequence},"data":{}}`
      ),
      '{"version":1,"event":5,"instance_id":"i","sequence":1,"data":{}}',
      '{"version":1,"event":"e","instance_id":"","sequence":1,"data":{}}',
      event("[]")
    ]
    for (const line of lines) assert.isTrue(isLoss(line), line)
  })
  it("a duplicate key or a lost number inside a call's arguments is a fault of the call, answered, not loss", () => {
    for (const [args, rule, path] of [
      ['{"a":1,"a":2}', "duplicate_key", "/a"],
      ['{"b":[{"n":9007199254740993}]}', "number", "/b/0/n"]
    ]) {
      const decoded = decode(event(`{"call_id":"c","arguments":${args},"timeout_ms":5}`))
      assert.strictEqual(decoded._tag, "Success")
      if (decoded._tag !== "Success" || decoded.success._tag !== "Event") continue
      assert.strictEqual(decoded.success.fault?.rule, rule)
      assert.strictEqual(decoded.success.fault?.path, path)
      assert.deepStrictEqual(decoded.success.data, { call_id: "c", arguments: {}, timeout_ms: 5 })
    }
  })
  it("anywhere else they are loss", () => {
    const lines = [
      event('{"call_id":"c","call_id":"d","arguments":{}}'),
      event('{"arguments":{"a":1},"arguments":{}}'),
      event('{"arguments":{},"timeout_ms":1e999}'),
      event('{"arguments":{"a":1,"a":2}}', "future.thing"),
      event('{"deep":{"arguments":{"a":1,"a":2}}}'),
      '{"version":1,"id":"r","result":{"a":1,"a":2}}',
      '{"version":1,"id":"r","result":{"data":{"arguments":{"a":1,"a":2}}}}'
    ]
    for (const line of lines) assert.isTrue(isLoss(line), line)
  })
  it("a lone surrogate or a depth over 32 anywhere is loss, also beside an answered fault", () => {
    assert.isFalse(isLoss(event(`{"arguments":{"a":${nested(29)}}}`)))
    assert.isTrue(isLoss(event(`{"arguments":{"a":${nested(30)}}}`)))
    assert.isTrue(isLoss(event('{"arguments":{"a":"\\ud800"}}')))
    assert.isTrue(isLoss(event('{"arguments":{"a":1,"a":"\\ud800"}}')))
    assert.isTrue(isLoss(event('{"future":"\\ud800"}', "future.thing")))
    assert.isTrue(isLoss(`{"version":1,"id":"r","result":{"a":${nested(31)}}}`))
    assert.isTrue(isLoss("[".repeat(30_000)))
  })
  it("invalid UTF-8 is loss", () => {
    const line = Buffer.concat([
      bytes('{"version":1,"id":"r","result":{"a":"'),
      Buffer.from([0xc3, 0x28]),
      bytes('"}}')
    ])
    assert.strictEqual(Envelope.decodeServerFrame(line)._tag, "Failure")
  })
  it("the description is bounded and holds no value", () => {
    for (const line of [
      "SENTINEL",
      '{"SENTINEL":1}',
      event('{"SENTINEL":1,"SENTINEL":2}'),
      event('"SENTINEL"', "SENTINEL")
    ]) {
      const decoded = decode(line)
      assert.strictEqual(decoded._tag, "Failure", line)
      if (decoded._tag === "Failure") assert.notInclude(decoded.failure.message, "SENTINEL")
      if (decoded._tag === "Failure") assert.isBelow(decoded.failure.message.length, 200)
    }
  })
})

const run = { session_id: "s", run_id: "r" }
const call = { ...run, call_id: "c", task_id: null, subagent_id: null }
const card = {
  schema_version: 1,
  card_id: "k",
  revision: 1,
  activity_id: "a",
  parent_card_id: null,
  role: "generic",
  title: "client__a",
  state: "running",
  outcome: null,
  lines: []
}
const samples: Readonly<Record<string, JsonObject>> = {
  "run.started": { ...run, provider: "offline", model: "offline" },
  "input.saved": { ...run, durable: true, history_revision: "h" },
  "message.delta": { ...run, message_id: "m", text: "" },
  "message.reconcile": { ...run, message_id: "m", part: 0, parts: 1, text: "x" },
  "activity.started": { ...run, activity_id: "a", parent_id: null, kind: "tool", name: "read", task_id: null },
  "activity.updated": { ...run, activity_id: "a", summary: "s" },
  "activity.finished": { ...run, activity_id: "a", status: "failure", call_id: null, code: "a_future_code" },
  "tool.card": { ...run, activity_id: "a", card },
  "approval.request": {
    ...run,
    approval_id: "p",
    kind: "bash",
    summary: "ls",
    task_id: null,
    subagent_id: null,
    timeout_ms: 300_000
  },
  "approval.closed": { ...run, approval_id: "p", reason: "answered" },
  "client.tool.call": { ...call, name: "client__a", arguments: {}, timeout_ms: 30_000 },
  "client.tool.cancel": { ...call, reason: "shutdown" },
  "run.finished": {
    ...run,
    status: "failed",
    error: { code: "provider_failed", message: "m" },
    persistence: "complete",
    history_revision: "h",
    usage: { input_tokens: 1, output_tokens: 2 }
  }
}

describe("base-protocol section 5: event data, as a client reads it", () => {
  it("has every event", () => {
    assert.deepStrictEqual(Object.keys(samples), [...eventNames])
    assert.isFalse(isEventName("future.thing"))
    assert.isFalse(isEventName("constructor"))
  })
  for (const name of eventNames) {
    it(`${name}: every member of its type, unknown ones passed over`, () => {
      const sample = samples[name] ?? {}
      const tag = (data: JsonObject) => decodeEventData(name, data)._tag
      assert.strictEqual(tag({ ...sample, future: [1] }), "Success")
      for (const key of Object.keys(sample)) {
        const wrong: Json = [[]]
        assert.strictEqual(tag({ ...sample, [key]: wrong }), "Failure", key)
        assert.strictEqual(
          tag(Object.fromEntries(Object.entries(sample).filter(([one]) => one !== key))),
          "Failure",
          key
        )
      }
    })
  }
})

describe("base-protocol section 4: results, as a client reads them", () => {
  it("takes unknown members at every level and refuses wrong ones", () => {
    const entry = {
      entry_id: "e",
      kind: "tool",
      created_at: "2026-01-01T00:00:00.000Z",
      text: "",
      part: 0,
      parts: 1,
      tool: { name: "read", status: "unknown", future: 1 },
      task_id: null,
      tool_card: { ...card, future: 1 }
    }
    const page = { session_id: "s", revision: "r", entries: [entry], cursor: null, complete: true, future: 1 }
    assert.strictEqual(decodeResult("history.page", page)._tag, "Success")
    const wrong = decodeResult("history.page", {
      ...page,
      entries: [{ ...entry, tool: { name: 5, status: "unknown" } }]
    })
    assert.strictEqual(wrong._tag === "Failure" ? wrong.failure.path : undefined, "/entries/0/tool/name")
    assert.strictEqual(decodeResult("turn.start", { run_id: "r", accepted: false })._tag, "Failure")
    assert.strictEqual(decodeResult("client.tool.result", { accepted: true, future: null })._tag, "Success")
  })
})
