import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ToolFailure } from "../../src/tools/Tool.ts"
import { code, makeHarness } from "../support/BrokerHarness.ts"

describe("Broker: calls (client-tools, Execute and reply)", () => {
  it.effect("publishes once, gives the accepted reply, and frees the slot", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(4321)
      assert.strictEqual(yield* h.broker.pending, 1)
      assert.deepStrictEqual(h.wire, [{ kind: "call", call_id: h.callId(0), timeout_ms: 4321 }])
      assert.strictEqual(code(yield* h.reply(h.callId(0), { text: "done", structured: null })), "accepted")
      assert.deepStrictEqual(yield* Fiber.join(call.fiber), { text: "done", structured: null, isProtected: true })
      assert.strictEqual(yield* h.broker.pending, 0)
    })
  )

  it.effect("a client's error reply is client_tool_error with its protected text", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* h.reply(h.callId(0), { status: "error", text: "no such record" })
      const failure = yield* Effect.flip(Fiber.join(call.fiber))
      assert.deepStrictEqual(
        [failure.code, failure.output],
        ["client_tool_error", { text: "no such record", isProtected: true }]
      )
    })
  )

  it.effect("the seventeenth fails at once without an event; a freed slot is free at once", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const calls = []
      for (let n = 0; n < 17; n++) calls.push(yield* h.start())
      assert.deepStrictEqual(
        calls.map((call) => call.ended()),
        [...Array(16).fill("pending"), "client_tool_busy"]
      )
      assert.strictEqual(h.wire.length, 16)
      yield* h.reply(h.callId(3))
      const next = yield* h.start()
      assert.strictEqual(next.ended(), "pending")
      assert.strictEqual(yield* h.broker.pending, 16)
    })
  )

  it.effect("arguments and frames over their bounds fail before publishing, and free the slot", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const fits = yield* h.start(1000, { arguments: { a: "x".repeat(16_384 - 8) } })
      const over = yield* h.start(1000, { arguments: { a: "x".repeat(16_384 - 7) } })
      assert.deepStrictEqual([fits.ended(), over.ended()], ["pending", "client_tool_payload_limit"])
      yield* h.places("TooLarge")
      const large = yield* h.start()
      assert.strictEqual(large.ended(), "client_tool_payload_limit")
      assert.deepStrictEqual([h.wire.length, yield* h.broker.pending], [1, 1])
    })
  )

  it.effect("a start that cannot be recorded ends the call unpublished", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const failure = new ToolFailure({ code: "tool_failed", message: "the disk is full", ending: "cancelled" })
      const call = yield* h.start(1000, { started: Effect.fail(failure) })
      assert.strictEqual(call.ended(), "tool_failed")
      assert.deepStrictEqual([h.wire, yield* h.broker.pending], [[], 0])
    })
  )

  it.effect("the deadline begins at publishing: recording the start is not on the clock", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000, { started: Effect.sleep("5 seconds") })
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(h.wire.length, 1)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(call.ended(), "pending")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(call.ended(), "client_tool_timeout")
    })
  )
})

describe("Broker: checks on a reply, in order (base-protocol section 6)", () => {
  it.effect(
    "shape, then identity, then size and protection; a refusal leaves the call pending and its deadline alone",
    () =>
      Effect.gen(function* () {
        const h = yield* makeHarness()
        const call = yield* h.start(1000)
        const id = h.callId(0)
        const verdicts = [
          yield* h.reply("other", { status: "maybe" }),
          yield* h.reply("other", { text: "x".repeat(40_000) }),
          yield* h.reply(id, { run_id: "other" }),
          yield* h.reply(id, { session_id: "other" }),
          yield* h.reply(id, { instance_id: "" }),
          yield* h.reply(id, { task_id: "null" }),
          yield* h.reply(id, { subagent_id: "x" })
        ]
        assert.deepStrictEqual(verdicts.map(code), ["invalid_params", ...Array(6).fill("stale_client_tool_call")])
        yield* h.rejectResults
        const rejected = yield* h.reply(id)
        assert.deepInclude(rejected, { _tag: "Refused", code: "invalid_params", path: "/structured" })
        assert.strictEqual(yield* h.broker.pending, 1)
        yield* TestClock.adjust("1000 millis")
        assert.strictEqual(call.ended(), "client_tool_timeout")
      })
  )
})
