/** base-protocol sections 4 and 5: the run from `turn.start` to `run.finished`. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { Response } from "effect/ai"
import { TestClock } from "effect/testing"
import { builtin, call, client, codeMode, makeAgent, until } from "./AgentHarness.ts"

describe("events of a run (section 5)", () => {
  it.effect("come in order: run.started, input.saved before the model is asked, run.finished once and last", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      const { fiber } = yield* h.start([{ text: "first ", calls: [call("client__a", { q: 1 })] }, { text: "done" }])
      yield* h.pending(1)
      assert.deepStrictEqual(h.names(), [
        "run.started",
        "input.saved",
        "message.delta",
        "message.reconcile",
        "activity.started",
        "client.tool.call"
      ])
      yield* h.reply(0)
      yield* h.ended
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(h.names().slice(6), [
        "activity.finished",
        "message.delta",
        "message.reconcile",
        "run.finished"
      ])
      const end = h.finished()[0]
      assert.deepStrictEqual(
        [end?.["status"], end?.["error"], end?.["persistence"], end?.["usage"], h.finishedCalls()],
        ["completed", null, "complete", null, 1]
      )
      assert.strictEqual(end?.["history_revision"], yield* h.session.revision)
    })
  )

  it.effect("the records of a run: input, response with its calls, start, outcome, last response", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      yield* h.start([{ calls: [call("client__a", { q: 1 })] }, { text: "done" }])
      yield* h.pending(1)
      assert.deepStrictEqual(
        (yield* h.records).map((record) => record.kind),
        ["user", "assistant", "call_started"]
      )
      yield* h.reply(0, { structured: { found: true } })
      yield* h.ended
      const records = yield* h.records
      assert.deepStrictEqual(
        records.map((record) => record.kind),
        ["user", "assistant", "call_started", "call_outcome", "assistant", "run_finished"]
      )
      assert.strictEqual(yield* h.session.title, records[0]?.kind === "user" ? records[0].text : "none")
    })
  )

  it.effect("message texts are cut into deltas of at most 8192 and parts of at most 16384 compact bytes", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const text = '"\\é😀'.repeat(8000)
      yield* h.run([{ text }])
      const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) - 2
      assert.isTrue(h.events("message.delta").every((one) => size(one["text"]) <= 8192))
      const parts = h.events("message.reconcile")
      assert.isTrue(parts.every((one) => size(one["text"]) <= 16_384))
      assert.deepStrictEqual(
        parts.map((one) => [one["part"], one["parts"]]),
        parts.map((_, at) => [at, parts.length])
      )
      assert.strictEqual(h.text(), text)
    })
  )
})

describe("usage (section 5)", () => {
  it.effect("is the sum over the run's model responses, subagents included", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({
        model: (handle) => ({
          ...handle,
          languageModel: Object.assign({}, handle.languageModel, {
            streamText: (options: Parameters<typeof handle.languageModel.streamText>[0]) =>
              Stream.map(handle.languageModel.streamText(options), (part) =>
                part.type === "finish"
                  ? Response.makePart("finish", {
                      reason: part.reason,
                      usage: new Response.Usage({ inputTokens: { total: 10 }, outputTokens: { total: 3 } }),
                      response: undefined
                    })
                  : part
              )
          })
        })
      })
      const tasks = [{ intent: 'script:[{"text":"x"}]', mode: "standard" }]
      const end = yield* h.run([{ calls: [call("subagents", { tasks })] }, { text: "done" }])
      assert.deepStrictEqual(end["usage"], { input_tokens: 30, output_tokens: 9 })
      const last = (yield* h.records).at(-1)
      assert.deepStrictEqual(last?.kind === "run_finished" ? last.usage : null, { input_tokens: 30, output_tokens: 9 })
    })
  )
})

describe("turn.cancel (section 4)", () => {
  it.effect("takes effect at once: the call is settled before the next request is looked at", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")], tools: [codeMode] })
      const agents = call("subagents", {
        tasks: [
          {
            intent: `script:${JSON.stringify([{ calls: [call("client__a"), call("code_mode", { calls: [call("client__a")] })] }])}`,
            mode: "standard"
          }
        ]
      })
      const run = yield* h.start([
        { calls: [call("client__a"), call("code_mode", { calls: [call("client__a"), call("client__a")] }), agents] }
      ])
      yield* h.pending(5)
      yield* run.cancel
      assert.strictEqual(yield* h.broker.pending, 0)
      assert.deepStrictEqual(h.cancels(), Array(5).fill("cancelled"))
      for (let nth = 0; nth < 5; nth++) {
        const verdict = yield* h.reply(nth)
        assert.strictEqual(verdict._tag === "Refused" ? verdict.code : "accepted", "stale_client_tool_call")
      }
      yield* h.ended
      assert.strictEqual(h.finished()[0]?.["status"], "cancelled")
      assert.strictEqual(h.names().at(-1), "run.finished")
      assert.isTrue((yield* h.outcomes).every((one) => one.status === "cancelled"))
    })
  )

  it.effect("before the run begins: it is cancelled, and still has its last event", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const run = yield* h.prepare("script:[]")
      yield* run.cancel
      yield* run.cancel
      yield* run.go
      assert.deepStrictEqual(h.names(), ["run.started", "run.finished"])
      assert.strictEqual(h.finished()[0]?.["status"], "cancelled")
    })
  )

  for (const stop of ["cancel", "close"] as const) {
    it.effect(`${stop} in the middle of a response: its deltas are all there is of it`, () =>
      Effect.gen(function* () {
        const h = yield* makeAgent({
          model: (handle) => ({
            ...handle,
            languageModel: Object.assign({}, handle.languageModel, {
              streamText: (options: Parameters<typeof handle.languageModel.streamText>[0]) =>
                Stream.concat(
                  Stream.filter(handle.languageModel.streamText(options), (part) => part.type === "text-delta"),
                  Stream.never
                )
            })
          })
        })
        const { fiber, ...run } = yield* h.start([{ text: "half a" }])
        yield* until("a delta", () => h.events("message.delta").length === 1)
        yield* run[stop]
        yield* h.ended
        yield* Fiber.await(fiber)
        assert.deepStrictEqual(h.names(), ["run.started", "input.saved", "message.delta", "run.finished"])
        assert.deepInclude(h.finished()[0], { status: "cancelled", persistence: "complete" })
        assert.deepStrictEqual(
          (yield* h.records).map((record) => record.kind),
          ["user", "run_finished"]
        )
      })
    )
  }

  it.effect("an accepted result keeps its own status when the run is cancelled afterwards", () =>
    Effect.gen(function* () {
      let observed = 0
      const h = yield* makeAgent({
        client: [client("a")],
        hooks: {
          after: () =>
            Effect.andThen(
              Effect.sync(() => observed++),
              Effect.never
            )
        }
      })
      const run = yield* h.start([{ calls: [call("client__a"), call("client__a")] }])
      yield* h.pending(2)
      assert.strictEqual((yield* h.reply(0))._tag, "Accepted")
      yield* run.cancel
      yield* h.ended
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => one.status),
        ["success", "cancelled"]
      )
      assert.deepStrictEqual(h.cancels(), ["cancelled"])
      assert.strictEqual(observed, 1, "a hook under way is stopped, none is begun")
    })
  )

  it.effect("run.finished is placed within 1500 ms, whatever hangs: a tool that cannot be interrupted", () =>
    Effect.gen(function* () {
      const stuck = builtin("stuck", () => Effect.uninterruptible(Effect.never))
      const h = yield* makeAgent({ tools: [stuck], client: [client("a")] })
      const run = yield* h.start([{ calls: [call("stuck"), call("client__a")] }])
      yield* h.pending(1)
      yield* run.cancel
      yield* TestClock.adjust(1499)
      yield* h.ended
      assert.strictEqual(h.finished()[0]?.["status"], "cancelled")
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => [one.name, one.status]),
        [
          ["client__a", "cancelled"],
          ["stuck", "cancelled"]
        ]
      )
      assert.strictEqual(h.finished()[0]?.["persistence"], "complete")
    })
  )

  it.effect("run.finished is placed within 1500 ms, whatever hangs: the store", () =>
    Effect.gen(function* () {
      let hang = false
      const h = yield* makeAgent({
        client: [client("a")],
        session: (handle) => ({
          ...handle,
          append: (records) => (hang ? Effect.never : handle.append(records)),
          revision: Effect.suspend(() => (hang ? Effect.never : handle.revision))
        })
      })
      const run = yield* h.start([{ calls: [call("client__a")] }, { text: "never" }])
      yield* h.pending(1)
      hang = true
      yield* h.reply(0)
      yield* run.cancel
      for (let at = 0; at < 1499; at += 50) yield* TestClock.adjust(Math.min(50, 1499 - at))
      yield* h.ended
      const end = h.finished()[0]
      assert.deepStrictEqual([end?.["status"], end?.["persistence"]], ["cancelled", "degraded"])
    })
  )

  it.effect("is in time also when it comes while the final append hangs", () =>
    Effect.gen(function* () {
      let appending = false
      const h = yield* makeAgent({
        session: (handle) => ({
          ...handle,
          append: (records) => {
            if (!records.some((record) => record.kind === "run_finished")) return handle.append(records)
            appending = true
            return Effect.never
          }
        })
      })
      const run = yield* h.start([{ text: "answer" }])
      yield* until("the final append", () => appending)
      yield* run.cancel
      for (let at = 0; at < 1499; at += 50) yield* TestClock.adjust(Math.min(50, 1499 - at))
      yield* h.ended
      assert.deepInclude(h.finished()[0], { status: "cancelled", persistence: "degraded" })
    })
  )

  it.effect("one that comes after the final append has begun is accepted and changes nothing", () =>
    Effect.gen(function* () {
      let release: (() => void) | undefined
      const h = yield* makeAgent({
        session: (handle) => ({
          ...handle,
          append: (records) =>
            records.some((record) => record.kind === "run_finished")
              ? Effect.andThen(
                  Effect.callback<void>((resume) => {
                    release = () => resume(Effect.void)
                  }),
                  handle.append(records)
                )
              : handle.append(records)
        })
      })
      const run = yield* h.start([{ text: "answer" }])
      yield* until("the final append", () => release !== undefined)
      yield* run.cancel
      release?.()
      yield* h.ended
      assert.strictEqual(h.finished()[0]?.["status"], "completed")
      assert.strictEqual(h.text(), "answer")
      const last = (yield* h.records).at(-1)
      assert.strictEqual(last?.kind === "run_finished" ? last.status : last?.kind, "completed")
    })
  )
})

describe("what outlives its run (section 5: run.finished is the run's last event)", () => {
  it.effect("an abandoned tool says and writes nothing any more", () =>
    Effect.gen(function* () {
      const gate = Deferred.makeUnsafe<void>()
      const stuck = builtin("stuck", () => Effect.succeed({ text: "" }), {
        prepare: (_, context) =>
          Effect.succeed({
            approval: null,
            lines: [],
            execute: Effect.uninterruptible(
              Effect.andThen(Deferred.await(gate), Effect.as(context.progress("late"), { text: "late" }))
            )
          })
      })
      const h = yield* makeAgent({ tools: [stuck] })
      const run = yield* h.start([{ calls: [call("stuck")] }])
      yield* until("the call", () => h.names().includes("activity.started"))
      yield* run.cancel
      yield* TestClock.adjust(1499)
      yield* h.ended
      const before = (yield* h.records).length
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(10)
      assert.deepStrictEqual([h.names().at(-1), (yield* h.records).length], ["run.finished", before])
    })
  )

  it.effect("a call that waited for the writer begins nothing and writes nothing after the run", () =>
    Effect.gen(function* () {
      const gate = Deferred.makeUnsafe<void>()
      let ran = 0
      const tool = builtin("tool", () => Effect.sync(() => ({ text: `${++ran}` })))
      const h = yield* makeAgent({
        tools: [tool],
        admitted: (event) => (event.event === "activity.started" ? Deferred.await(gate) : Effect.void)
      })
      const run = yield* h.start([{ calls: [call("tool")] }])
      yield* until("the call", () => h.names().includes("activity.started"))
      yield* run.cancel
      yield* TestClock.adjust(1499)
      yield* h.ended
      const before = (yield* h.records).length
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(10)
      assert.deepStrictEqual([h.names().at(-1), (yield* h.records).length, ran], ["run.finished", before, 0])
    })
  )
})

describe("closing (sections 3 and 6)", () => {
  it.effect("settles with shutdown; endings are interrupted in history and cancelled as activities", () =>
    Effect.gen(function* () {
      const slow = builtin("slow", () => Effect.never)
      const h = yield* makeAgent({ client: [client("a")], tools: [slow] })
      const run = yield* h.start([{ calls: [call("client__a"), call("slow")] }])
      yield* h.pending(1)
      yield* run.close
      assert.deepStrictEqual(h.cancels(), ["shutdown"])
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => [one.name, one.status, one.outcome.error?.code]),
        [
          ["client__a", "interrupted", "client_tool_unavailable"],
          ["slow", "interrupted", "tool_failed"]
        ]
      )
      assert.deepStrictEqual(
        h.events("activity.finished").map((one) => one["status"]),
        ["cancelled", "cancelled"]
      )
      assert.strictEqual(h.finished()[0]?.["status"], "cancelled")
    })
  )

  it.effect("is over within 900 ms, also when a tool hangs", () =>
    Effect.gen(function* () {
      const stuck = builtin("stuck", () => Effect.uninterruptible(Effect.never))
      const h = yield* makeAgent({ tools: [stuck], client: [client("a")] })
      const run = yield* h.start([{ calls: [call("stuck"), call("client__a")] }])
      yield* h.pending(1)
      const closing = yield* Effect.forkChild(run.close, { startImmediately: true })
      yield* TestClock.adjust(899)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => one.status),
        ["interrupted", "interrupted"]
      )
    })
  )
})

describe("closing while the store hangs", () => {
  it.effect("is over within 900 ms", () =>
    Effect.gen(function* () {
      let hang = false
      const h = yield* makeAgent({
        client: [client("a")],
        session: (handle) => ({
          ...handle,
          append: (records) => (hang ? Effect.never : handle.append(records)),
          revision: Effect.suspend(() => (hang ? Effect.never : handle.revision))
        })
      })
      const run = yield* h.start([{ calls: [call("client__a")] }])
      yield* h.pending(1)
      hang = true
      const closing = yield* Effect.forkChild(run.close, { startImmediately: true })
      for (let at = 0; at < 899; at += 31) yield* TestClock.adjust(31)
      yield* Fiber.join(closing)
      assert.deepInclude(h.finished()[0], { status: "cancelled", persistence: "degraded" })
    })
  )
})

describe("how a run fails (section 5)", () => {
  it.effect("turn_limit: exactly so many responses as the settings say", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ settings: { limits: { turn_steps: 2 } } })
      const step = (text: string) => ({ text, calls: [call("nope")] })
      assert.deepInclude((yield* h.run([step("one"), step("two"), step("three")]))["error"], { code: "turn_limit" })
      assert.strictEqual(h.text(), "two")
      assert.deepInclude(yield* h.run([step("one"), { text: "two" }]), { status: "completed" })
    })
  )

  it.effect("provider codes of the offline model; the session goes on", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      for (const [error, code] of [
        ["unavailable", "provider_unavailable"],
        ["rejected", "provider_failed"]
      ] as const) {
        const end = yield* h.run([{ error }])
        assert.deepInclude(end, { status: "failed", persistence: "complete" })
        assert.deepInclude(end["error"], { code })
      }
      assert.deepInclude(yield* h.run([{ text: "fine" }]), { status: "completed" })
    })
  )

  it.effect("turn_limit counts the responses of the run, subagents included; pending calls end with run_finished", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")], settings: { limits: { turn_steps: 3 } } })
      const step = { calls: [call("client__nope")] }
      const tasks = [{ intent: `script:${JSON.stringify([step, step, step])}`, mode: "standard" }]
      yield* h.start([{ calls: [call("client__a"), call("subagents", { tasks })] }, { text: "never" }])
      yield* h.ended
      const end = h.finished()[0]
      assert.deepInclude(end?.["error"], { code: "turn_limit" })
      assert.deepStrictEqual(h.cancels(), ["run_finished"])
      const outcomes = yield* h.outcomes
      assert.deepInclude(
        outcomes.find((one) => one.name === "client__a"),
        { status: "cancelled" }
      )
    })
  )

  it.effect("a selection that is not in the catalogue is provider_failed, with the input saved", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const run = yield* h.prepare("hello", h.session, "none")
      yield* run.go
      assert.deepStrictEqual(h.names(), ["run.started", "input.saved", "run.finished"])
      assert.deepInclude(h.finished()[0]?.["error"], { code: "provider_failed" })
    })
  )

  it.effect("a model that breaks is internal_error, and says nothing of it", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({
        model: (handle) => ({
          ...handle,
          languageModel: { ...handle.languageModel, streamText: () => Stream.die(new Error("SENTINEL")) }
        })
      })
      const end = yield* h.run("hello")
      assert.deepInclude(end["error"], { code: "internal_error" })
      assert.notInclude(JSON.stringify(end), "SENTINEL")
    })
  )
})
