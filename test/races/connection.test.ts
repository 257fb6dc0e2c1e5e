/** Races on the wire: what one write carries, what closing finds, what a stalled reader does. docs/concurrency.md names these tests. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeConnection } from "../support/ConnectionHarness.ts"

describe("result, then turn.cancel in one write", () => {
  it.effect(
    "the cancellation takes effect after the verdict: accepted, no cancel for that call, its neighbour is cancelled",
    () =>
      Effect.gen(function* () {
        const c = yield* makeConnection({ calls: 2, protect: Effect.sleep("10 millis") })
        const session = yield* c.running
        const from = c.frames.length
        yield* c.raw(c.reply(0, "reply") + c.text("turn.cancel", { session_id: session, run_id: "run-1" }, "cancel"))
        yield* TestClock.adjust("10 millis")
        yield* c.settle
        const seen = c.frames.slice(from).map((frame) => frame.event ?? `${frame.id}:${frame.error?.code ?? "ok"}`)
        assert.deepStrictEqual(seen, ["reply:ok", "cancel:ok", "client.tool.cancel", "run.finished"])
        assert.strictEqual(
          c.events("client.tool.cancel")[0]?.data?.call_id,
          c.events("client.tool.call")[1]?.data?.call_id
        )
      })
  )

  it.effect("the other way round the reply is stale", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection()
      const session = yield* c.running
      yield* c.raw(c.text("turn.cancel", { session_id: session, run_id: "run-1" }, "cancel") + c.reply(0, "reply"))
      assert.strictEqual(c.frames.find((frame) => frame.id === "reply")?.error?.code, "stale_client_tool_call")
      assert.deepStrictEqual(
        c.events("client.tool.cancel").map((frame) => frame.data?.reason),
        ["cancelled"]
      )
    })
  )
})

describe("reply before EOF in one chunk", () => {
  it.effect(
    "what was read before EOF is dispatched before closing begins: accepted, its neighbour ends with shutdown",
    () =>
      Effect.gen(function* () {
        const c = yield* makeConnection({ calls: 2 })
        yield* c.running
        yield* Effect.andThen(c.raw(`${c.reply(0, "reply")}{"version":1,"id":"cut"`), c.eof)
        assert.deepStrictEqual(c.frames.find((frame) => frame.id === "reply")?.result, { accepted: true })
        assert.isUndefined(c.frames.find((frame) => frame.id === "cut"))
        assert.deepStrictEqual(
          c.events("client.tool.cancel").map((frame) => [frame.data?.call_id, frame.data?.reason]),
          [[c.events("client.tool.call")[1]?.data?.call_id, "shutdown"]]
        )
      })
  )
})

describe("requests behind shutdown in one write", () => {
  it.effect("shutting_down, each of them", () =>
    Effect.gen(function* () {
      const c = yield* makeConnection()
      yield* c.running
      yield* c.raw(
        ["shutdown", "status", "session.create"].map((method, n) => c.text(method, {}, `s${n}`)).join("") +
          c.reply(0, "late")
      )
      const code = (id: string) => c.frames.find((frame) => frame.id === id)?.error?.code ?? "ok"
      assert.deepStrictEqual(["s0", "s1", "s2", "late"].map(code), [
        "ok",
        "shutting_down",
        "shutting_down",
        "shutting_down"
      ])
    })
  )
})

describe("publishing / a stalled writer", () => {
  it.effect(
    "a parent that stops reading is lost two seconds after the oldest frame asked: exit code 3, nothing pending",
    () =>
      Effect.gen(function* () {
        const c = yield* makeConnection({ chunks: 1, calls: 4 })
        yield* c.request("initialize", {
          required_capabilities: ["client.tools"],
          client_tools: [{ name: "client__a", description: "A tool.", input_schema: { type: "object" } }]
        })
        const created = yield* c.request("session.create")
        yield* c.stopReading
        yield* c.raw(c.text("turn.start", { session_id: String(created?.result?.session_id), prompt: "go" }, "start"))
        yield* TestClock.adjust("1999 millis")
        assert.isUndefined(yield* c.exitCode)
        yield* TestClock.adjust("1 millis")
        yield* c.settle
        assert.strictEqual(yield* c.exitCode, 3)
      })
  )

  /** Initialized, with a run whose events nobody takes any more. */
  const stalled = (calls = 4) =>
    Effect.gen(function* () {
      const c = yield* makeConnection({ chunks: 1, calls })
      yield* c.request("initialize", {
        required_capabilities: ["client.tools"],
        client_tools: [{ name: "client__a", description: "A tool.", input_schema: { type: "object" } }]
      })
      const created = yield* c.request("session.create")
      yield* c.stopReading
      yield* c.raw(c.text("turn.start", { session_id: String(created?.result?.session_id), prompt: "go" }, "start"))
      return c
    })
  /** Goes on in steps, as time does: what waits for nothing but other fibers runs in between. */
  const pass = (c: { readonly settle: Effect.Effect<void> }, millis: number) =>
    Effect.forEach([millis - 1, 1], (part) => Effect.andThen(TestClock.adjust(part), c.settle), { discard: true })

  for (const [what, before] of [
    ["output that stalled long before the end of the input is abandoned: exit code 4", 1500],
    ["output that stalled just before the end of the input is abandoned: exit code 4", 50],
    ["output that stalled with the end of the input is abandoned: exit code 4", 0]
  ] as const) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const c = yield* stalled()
        if (before > 0) yield* pass(c, before)
        yield* c.eof
        yield* pass(c, Math.min(2000 - before, 1900))
        yield* c.settle
        assert.strictEqual(yield* c.exitCode, 4)
      })
    )
  }

  it.effect("the stall that is complete before the end of the input is read is the first cause: exit code 3", () =>
    Effect.gen(function* () {
      const c = yield* stalled()
      yield* pass(c, 2000)
      yield* c.eof
      yield* pass(c, 2000)
      assert.strictEqual(yield* c.exitCode, 3)
    })
  )

  it.effect("a parent that reads on within the time gets everything: exit code 0", () =>
    Effect.gen(function* () {
      const c = yield* stalled()
      yield* pass(c, 1000)
      yield* c.eof
      yield* pass(c, 900)
      yield* c.startReading
      yield* c.settle
      assert.strictEqual(c.events("run.finished").length, 1)
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )

  it.effect("a pipe that breaks while the agent closes changes nothing: exit code 0", () =>
    Effect.gen(function* () {
      const c = yield* stalled()
      yield* c.eof
      yield* pass(c, 500)
      yield* c.close
      yield* c.settle
      assert.strictEqual(yield* c.exitCode, 0)
    })
  )
})
