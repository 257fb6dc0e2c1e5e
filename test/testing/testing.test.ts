/** product section 4: `magi-code/testing`, an in-memory transport pair, a fake agent, a fake client. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import records from "../../examples/tools.ts"
import { Agent, PlainTools, ToolkitTools } from "../../src/index.ts"
import { MemorySessionStore, serve, startupWith, Transport } from "../../src/server/index.ts"
import { callTool, makeScriptedAgent, makeScriptedClient } from "../../src/testing/index.ts"

const slow = {
  name: "slow",
  description: "Never ends by itself.",
  input_schema: { type: "object" },
  execute: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
}

describe("callTool", () => {
  it.effect(
    "a toolkit's tool replies as it does to an agent: values, typed failures, arguments that do not match",
    () =>
      Effect.gen(function* () {
        const tools = yield* ToolkitTools.make(records.toolkit)
        const found = yield* callTool(tools, "lookup_record", { record_id: "R-23" })
        assert.strictEqual(found.status, "success")
        assert.deepStrictEqual(found.structured, {
          record_id: "R-23",
          title: "New lamp for the library",
          status: "closed",
          notes: []
        })
        const missing = yield* callTool(tools, "lookup_record", { record_id: "R-1" })
        assert.strictEqual(missing.status, "error")
        assert.strictEqual(missing.text, "There is no record R-1.")
        const wrong = yield* callTool(tools, "lookup_record", { record_id: "x" })
        assert.include(wrong.text, "/record_id")
        const denied = yield* callTool(tools, "add_note", { record_id: "R-17", note: "n" })
        assert.strictEqual(denied.status, "error")
        const approver = () => Effect.succeed(true)
        const allowed = yield* callTool(tools, "add_note", { record_id: "R-17", note: "n" }, { approver })
        assert.deepStrictEqual(allowed.structured, { notes: 2 })
      }).pipe(Effect.provide(records.layer))
  )
})

describe("the scripted agent", () => {
  it.effect("a deadline passes by the test's clock alone", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const tools = yield* PlainTools.make([slow])
      const scripted = yield* makeScriptedAgent({
        onTurn: (run) =>
          Effect.gen(function* () {
            const call = yield* run.start("slow", {}, { timeoutMs: 5000 })
            yield* Effect.forkChild(Deferred.succeed(started, undefined))
            yield* Effect.sleep(5000)
            yield* call.cancel("timeout")
            return "timed out"
          })
      })
      const agent = yield* Agent.over(scripted.link, { tools })
      yield* agent.createSession
      const running = yield* Effect.forkChild(agent.run("go"))
      yield* Deferred.await(started)
      yield* TestClock.adjust(5000)
      const outcome = yield* Fiber.join(running)
      assert.strictEqual(outcome.text, "timed out")
      assert.notInclude(yield* scripted.requests, "client.tool.result")
      assert.deepStrictEqual(yield* scripted.tools, ["client__slow"])
    }).pipe(Effect.scoped)
  )

  it.effect("a call of a tool that is not registered fails the script, and so the run", () =>
    Effect.gen(function* () {
      const scripted = yield* makeScriptedAgent({ onTurn: (run) => Effect.as(run.call("none"), "no") })
      const agent = yield* Agent.over(scripted.link)
      yield* agent.createSession
      const outcome = yield* agent.run("go")
      assert.deepStrictEqual([outcome.status, outcome.error?.message], ["failed", "client__none is not registered"])
    }).pipe(Effect.scoped)
  )
})

describe("the scripted client", () => {
  it.live("speaks to a real backend", () =>
    Effect.gen(function* () {
      const client = yield* makeScriptedClient
      const startup = startupWith({ settings: { schema_version: 2 }, store: MemorySessionStore })
      const serving = yield* serve({ workspace: process.cwd(), startup, server: { name: "t", version: "1" } }).pipe(
        Effect.provideService(Transport, client.transport),
        Effect.forkChild
      )
      const id = yield* client.send("session.create")
      assert.deepInclude(yield* client.next, {
        id,
        error: { code: "not_initialized", message: "send initialize first" }
      })
      yield* client.end
      assert.strictEqual(yield* Fiber.join(serving), 0)
    }).pipe(Effect.scoped)
  )
})
