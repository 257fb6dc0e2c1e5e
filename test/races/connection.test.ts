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
})
