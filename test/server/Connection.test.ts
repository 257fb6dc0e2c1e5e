import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeConnection } from "../support/ConnectionHarness.ts"

const status = (id: string) => `${JSON.stringify({ version: 1, id, method: "status", params: {} })}\n`

describe("order of checks (base-protocol section 2)", () => {
  it.effect("one answer a line, in the order of the checks", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection()
      yield* c.raw(
        [
          "garbage",
          '{"version":2,"id":"a","method":"status","params":{}}',
          '{"version":1,"id":"b","method":"nope","params":{"x":1,"x":2}}',
          '{"version":1,"id":"b","method":"status","params":{}}',
          '{"version":1,"id":"c","method":"turn.start","params":{"x":1,"x":2}}',
          '{"version":1,"id":"d","method":"status","params":{"x":1,"x":2}}',
          '{"version":1,"id":"e","method":"status","params":{"x":1}}',
          '{"version":1,"id":"f","method":"client.tool.result","params":{}}',
          '{"version":1,"id":"g","method":"status","params":{}}',
          ""
        ].join("\n")
      )
      assert.deepStrictEqual(
        c.frames.map((frame) => [frame.id, frame.error?.code ?? frame.result?.state]),
        [
          [null, "invalid_request"],
          ["a", "unsupported_version"],
          ["b", "unsupported_method"],
          ["b", "duplicate_id"],
          ["c", "not_initialized"],
          ["d", "invalid_params"],
          ["e", "invalid_params"],
          ["f", "unsupported_method"],
          ["g", "new"]
        ]
      )
      assert.strictEqual(c.frames.at(-1)?.result?.requests_used, 9)
    })
  )

  it.effect("after the 4096th frame every line gets request_limit and nothing is executed", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection()
      yield* c.raw("x\n".repeat(4096))
      const shutdown = yield* c.request("shutdown")
      assert.strictEqual(shutdown?.error?.code, "request_limit")
      assert.isUndefined(yield* c.exitCode)
    })
  )
})

describe("lifecycle (base-protocol section 3)", () => {
  it.effect("while start-up runs only status and shutdown are accepted; then the session attaches and runs", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const c = yield* makeConnection({ startup: Deferred.await(gate) })
      yield* c.raw(c.text("initialize", { required_capabilities: [] }, "init"))
      assert.strictEqual((yield* c.request("status"))?.result?.state, "initializing")
      assert.strictEqual((yield* c.request("session.create"))?.error?.code, "initializing")
      assert.strictEqual(
        (yield* c.request("initialize", { required_capabilities: [] }))?.error?.code,
        "already_initialized"
      )
      yield* Deferred.succeed(gate, undefined)
      yield* c.settle
      assert.isDefined(c.frames.find((frame) => frame.id === "init")?.result)
      assert.strictEqual((yield* c.request("turn.start", { session_id: "s", prompt: "x" }))?.error?.code, "no_session")
      assert.isDefined((yield* c.request("session.create"))?.result?.session_id)
      assert.strictEqual(
        (yield* c.request("turn.start", { session_id: "s", prompt: "x" }))?.error?.code,
        "stale_session"
      )
    })
  )

  it.effect("closing during start-up answers initialize once, startup_cancelled, and interrupts it", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection({ startup: Effect.never })
      yield* c.raw(c.text("initialize", { required_capabilities: [] }, "init"))
      yield* c.request("shutdown")
      const answers = c.frames.filter((frame) => frame.id === "init")
      assert.deepStrictEqual(
        answers.map((frame) => frame.error?.code),
        ["startup_cancelled"]
      )
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )

  it.effect("shutdown: its answer, the cancel, run.finished, in this order; exit code 0", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection({ calls: 2 })
      yield* c.running
      const from = c.frames.length
      yield* c.request("shutdown")
      assert.deepStrictEqual(
        c.frames.slice(from).map((frame) => frame.event ?? "answer"),
        ["answer", "client.tool.cancel", "client.tool.cancel", "run.finished"]
      )
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )

  it.effect("a signal closes as EOF does", () =>
    Effect.gen(function* () {
      const signal = yield* Deferred.make<void>()
      const c = yield* makeConnection({ closeRequested: Deferred.await(signal) })
      yield* c.running
      yield* Deferred.succeed(signal, undefined)
      yield* c.settle
      assert.strictEqual(c.events("client.tool.cancel")[0]?.data?.reason, "shutdown")
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )

  it.effect(
    "an oversized frame: the frames before it are answered, then frame_too_large with id null; exit code 2",
    () =>
      Effect.gen(function* () {
        const c = yield* makeConnection()
        yield* c.raw(status("a") + "x".repeat(65_537))
        assert.deepStrictEqual(
          c.frames.map((frame) => [frame.id, frame.error?.code]),
          [
            ["a", undefined],
            [null, "frame_too_large"]
          ]
        )
        assert.strictEqual(yield* c.exitCode, 2)
      })
  )

  it.effect("a backend that will not stop is abandoned inside the two seconds: exit code 4", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection({ finalizer: Effect.never })
      yield* c.running
      yield* c.request("shutdown")
      assert.strictEqual(c.events("run.finished").length, 1)
      yield* TestClock.adjust("1899 millis")
      assert.isUndefined(yield* c.exitCode)
      yield* TestClock.adjust("1 millis")
      yield* c.settle
      assert.strictEqual(yield* c.exitCode, 4)
    })
  )
})

describe("a slow store (base-protocol sections 2 and 3)", () => {
  it.effect("requests take effect in the order read; a stalled one holds the next up for 250 ms and no longer", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const c = yield* makeConnection({ list: Deferred.await(gate) })
      yield* c.running
      yield* c.raw(c.text("session.list", {}, "list") + status("s"))
      assert.isUndefined(c.frames.find((frame) => frame.id === "s"))
      yield* TestClock.adjust("250 millis")
      yield* c.settle
      assert.isDefined(c.frames.find((frame) => frame.id === "s")?.result)
      yield* Deferred.succeed(gate, undefined)
      yield* c.settle
      assert.isDefined(c.frames.find((frame) => frame.id === "list")?.result)
    })
  )

  it.effect("a request that waits for the store when closing begins is answered shutting_down", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection({ list: Effect.never })
      yield* c.running
      yield* c.raw(c.text("session.list", {}, "list"))
      yield* TestClock.adjust("250 millis")
      yield* c.request("shutdown")
      assert.strictEqual(c.frames.find((frame) => frame.id === "list")?.error?.code, "shutting_down")
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )
})
