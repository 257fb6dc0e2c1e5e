/**
 * Every race of a pending call, from both sides. Virtual time and a held protection make each interleaving exact: nothing
 * here depends on how fast the machine is. docs/concurrency.md names these tests.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { code, makeHarness, type Wire } from "../support/BrokerHarness.ts"

const kinds = (wire: ReadonlyArray<Wire>) =>
  wire.map((frame) => (frame.kind === "cancel" ? `cancel:${frame.reason}` : frame.kind))

describe("reply / deadline", () => {
  it.effect("the reply wins one tick before the deadline: no cancel, also when the clock goes on", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(code(yield* h.reply(h.callId(0))), "accepted")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["ok", ["call", "accepted"]])
    })
  )

  it.effect("at the deadline itself the deadline wins: one cancel, the reply is stale", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000)
      yield* TestClock.adjust("1000 millis")
      assert.strictEqual(code(yield* h.reply(h.callId(0))), "stale_client_tool_call")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_timeout", ["call", "cancel:timeout"]])
    })
  )

  it.effect("a reply read in time loses if its protection ends after the deadline", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000)
      yield* h.hold
      const reply = yield* Effect.forkChild(h.reply(h.callId(0)), { startImmediately: true })
      yield* TestClock.adjust("1000 millis")
      yield* h.release
      assert.strictEqual(code(yield* Fiber.join(reply)), "stale_client_tool_call")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_timeout", ["call", "cancel:timeout"]])
    })
  )

  it.effect(
    "a reply whose protection ends in time wins although the deadline's timer is already due to be looked at",
    () =>
      Effect.gen(function* () {
        const h = yield* makeHarness()
        const call = yield* h.start(1000)
        yield* h.hold
        const reply = yield* Effect.forkChild(h.reply(h.callId(0)), { startImmediately: true })
        yield* TestClock.adjust("999 millis")
        yield* h.release
        assert.strictEqual(code(yield* Fiber.join(reply)), "accepted")
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["ok", ["call", "accepted"]])
      })
  )
})

/** A process that was held up: its clock has gone on, but no timer has fired yet. */
const heldUp = Effect.sync(() => {
  let now = 0n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => Number(now / 1_000_000n),
    currentTimeMillis: Effect.sync(() => Number(now / 1_000_000n)),
    currentTimeNanosUnsafe: () => now,
    currentTimeNanos: Effect.sync(() => now),
    monotonicTimeNanosUnsafe: () => now,
    monotonicTimeNanos: Effect.sync(() => now),
    sleep: () => Effect.never
  }
  return {
    clock,
    to: (millis: number) =>
      Effect.sync(() => {
        now = BigInt(millis) * 1_000_000n
      })
  }
})

describe("reply / deadline, before the deadline's timer could fire", () => {
  it.effect("the deadline wins although nothing has settled the call yet: the reply is stale", () =>
    Effect.gen(function* () {
      const time = yield* heldUp
      yield* Effect.gen(function* () {
        const h = yield* makeHarness()
        const calls = [yield* h.start(1000), yield* h.start(1001)]
        yield* time.to(1000)
        assert.strictEqual(code(yield* h.reply(h.callId(0))), "stale_client_tool_call")
        assert.strictEqual(code(yield* h.reply(h.callId(1))), "accepted")
        assert.deepStrictEqual(
          calls.map((call) => call.ended()),
          ["pending", "ok"]
        )
        yield* h.broker.close
      }).pipe(Effect.provideService(Clock.Clock, time.clock))
    })
  )

  it.effect("the deadline that passes while the reply is protected wins as well", () =>
    Effect.gen(function* () {
      const time = yield* heldUp
      yield* Effect.gen(function* () {
        const h = yield* makeHarness()
        yield* h.start(1000)
        yield* h.hold
        const reply = yield* Effect.forkChild(h.reply(h.callId(0)), { startImmediately: true })
        yield* time.to(1000)
        yield* h.release
        assert.strictEqual(code(yield* Fiber.join(reply)), "stale_client_tool_call")
        yield* h.broker.close
      }).pipe(Effect.provideService(Clock.Clock, time.clock))
    })
  )
})

describe("reply / cancellation", () => {
  it.effect("accepted first: the call keeps its result although its fiber is interrupted, and no cancel goes out", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* h.reply(h.callId(0), { text: "kept" })
      yield* Fiber.interrupt(call.fiber)
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["kept", ["call", "accepted"]])
    })
  )

  it.effect("accepted and interrupted before the call's fiber runs again: the result is still its ending", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* h.hold
      const reply = yield* Effect.forkChild(h.reply(h.callId(0), { text: "kept" }), { startImmediately: true })
      const interrupting = yield* Effect.forkChild(Effect.andThen(Fiber.await(reply), Fiber.interrupt(call.fiber)), {
        startImmediately: true
      })
      yield* h.release
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["kept", ["call", "accepted"]])
    })
  )

  it.effect("cancelled first: one cancel, the reply is stale", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* Fiber.interrupt(call.fiber)
      assert.strictEqual(code(yield* h.reply(h.callId(0))), "stale_client_tool_call")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_cancelled", ["call", "cancel:cancelled"]])
    })
  )

  it.effect("cancelled while the reply is being protected: the cancellation wins", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* h.hold
      const reply = yield* Effect.forkChild(h.reply(h.callId(0)), { startImmediately: true })
      yield* Fiber.interrupt(call.fiber)
      yield* h.release
      assert.strictEqual(code(yield* Fiber.join(reply)), "stale_client_tool_call")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_cancelled", ["call", "cancel:cancelled"]])
    })
  )
})

describe("deadline / cancellation", () => {
  it.effect("cancelled one tick before the deadline: one cancel, reason cancelled", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000)
      yield* TestClock.adjust("999 millis")
      yield* Fiber.interrupt(call.fiber)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_cancelled", ["call", "cancel:cancelled"]])
    })
  )

  it.effect("expired first: one cancel, reason timeout; the cancellation changes nothing", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000)
      yield* TestClock.adjust("1000 millis")
      yield* Fiber.interrupt(call.fiber)
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_timeout", ["call", "cancel:timeout"]])
    })
  )
})

describe("acceptance / closing", () => {
  it.effect("accepted first: closing sends no cancel for it, and cancels its neighbour", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const kept = yield* h.start()
      const lost = yield* h.start()
      yield* h.reply(h.callId(0))
      yield* h.broker.close
      yield* h.settle
      assert.deepStrictEqual(
        [kept.ended(), lost.ended(), kinds(h.wire)],
        ["ok", "client_tool_unavailable", ["call", "call", "accepted", "cancel:shutdown"]]
      )
    })
  )

  it.effect("closing first: every pending call ends in one step, replies are stale, new calls are unavailable", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const calls = [yield* h.start(), yield* h.start(), yield* h.start()]
      yield* h.hold
      const reply = yield* Effect.forkChild(h.reply(h.callId(1)), { startImmediately: true })
      yield* h.broker.close
      assert.strictEqual(yield* h.broker.pending, 0)
      yield* h.release
      assert.strictEqual(code(yield* Fiber.join(reply)), "stale_client_tool_call")
      yield* h.settle
      assert.deepStrictEqual(
        calls.map((call) => call.ended()),
        Array(3).fill("client_tool_unavailable")
      )
      assert.strictEqual((yield* h.start()).ended(), "client_tool_unavailable")
      assert.deepStrictEqual(kinds(h.wire), ["call", "call", "call", ...Array(3).fill("cancel:shutdown")])
    })
  )

  it.effect("closing beats the cancellation of the run that follows it: the reason stays shutdown", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      yield* h.broker.close
      yield* Fiber.interrupt(call.fiber)
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["client_tool_unavailable", ["call", "cancel:shutdown"]])
    })
  )
})

describe("two replies to one call", () => {
  it.effect("the first valid one wins, the second is stale; after an invalid one the next is taken", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start()
      const id = h.callId(0)
      const verdicts = [
        yield* h.reply(id, { status: "no" }),
        yield* h.reply(id, { text: "first" }),
        yield* h.reply(id, { text: "second" })
      ]
      assert.deepStrictEqual(verdicts.map(code), ["invalid_params", "accepted", "stale_client_tool_call"])
      assert.deepStrictEqual([call.ended(), kinds(h.wire)], ["first", ["call", "accepted"]])
    })
  )
})

describe("settlement / publishing", () => {
  it.effect("settled by closing before its event has its place: neither event nor cancel", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000, { started: Effect.sleep("1 second") })
      assert.strictEqual(yield* h.broker.pending, 1)
      yield* h.broker.close
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([call.ended(), h.wire], ["client_tool_unavailable", []])
    })
  )

  it.effect("cancelled before its event has its place: neither event nor cancel, and its slot is free", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const call = yield* h.start(1000, { started: Effect.sleep("1 second") })
      yield* Fiber.interrupt(call.fiber)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([call.ended(), h.wire, yield* h.broker.pending], ["client_tool_cancelled", [], 0])
    })
  )

  it.effect("ended with its run before its event has its place: neither event nor cancel", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      const before = yield* h.start(1000, { started: Effect.sleep("1 second") })
      const after = yield* h.start(5000)
      const other = yield* h.start(5000, { identity: { runId: "run-2" } })
      yield* h.broker.endRun("run-1")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        [before.ended(), after.ended(), other.ended(), kinds(h.wire)],
        ["client_tool_cancelled", "client_tool_cancelled", "pending", ["call", "call", "cancel:run_finished"]]
      )
    })
  )

  it.effect("a writer that has failed takes no event: the call ends unavailable, nothing is pending", () =>
    Effect.gen(function* () {
      const h = yield* makeHarness()
      yield* h.places("Closed")
      const call = yield* h.start()
      assert.deepStrictEqual([call.ended(), h.wire, yield* h.broker.pending], ["client_tool_unavailable", [], 0])
    })
  )
})
