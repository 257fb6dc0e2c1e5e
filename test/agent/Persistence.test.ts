/** base-protocol section 5: required and best-effort appends. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { PersistenceFailed, type SessionHandle } from "../../src/store/SessionStore.ts"
import { type AgentOptions, builtin, call, client, makeAgent } from "./AgentHarness.ts"

const broken = Effect.fail(new PersistenceFailed({ message: "the disk is full" }))

/** The append that `which` names fails; all others are made. */
const failing = (which: (record: SessionRecord) => boolean): Required<Pick<AgentOptions, "session">> => ({
  session: (handle: SessionHandle) => ({
    ...handle,
    append: (records) => (records.some(which) ? broken : handle.append(records))
  })
})

const failedRun = (end: { readonly [key: string]: unknown } | undefined) => {
  assert.deepInclude(end, { status: "failed", persistence: "degraded" })
  assert.deepInclude(end?.["error"], { code: "persistence_failed" })
}

describe("a required append that cannot be made fails the run: no further call or model request", () => {
  it.effect("the user's input: the model is never asked, nothing is said to be saved", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent(failing((record) => record.kind === "user"))
      failedRun(yield* h.run([{ text: "never" }]))
      assert.deepStrictEqual(h.names(), ["run.started", "run.finished"])
    })
  )

  it.effect("a response with its calls: none of them begins", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")], ...failing((record) => record.kind === "assistant") })
      failedRun(yield* h.run([{ calls: [call("client__a")] }, { text: "never" }]))
      assert.deepStrictEqual([h.events("activity.started").length, h.calls().length], [0, 0])
    })
  )

  it.effect("the start of a client call: it is never published, its neighbour ends with run_finished", () =>
    Effect.gen(function* () {
      let starts = 0
      const h = yield* makeAgent({
        client: [client("a")],
        ...failing((record) => record.kind === "call_started" && ++starts === 2)
      })
      failedRun(yield* h.run([{ calls: [call("client__a"), call("client__a")] }, { text: "never" }]))
      assert.strictEqual(h.calls().length, 1)
      assert.deepStrictEqual(h.cancels(), ["run_finished"])
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => one.status),
        ["cancelled", "cancelled"]
      )
      assert.strictEqual(yield* h.broker.pending, 0)
    })
  )

  it.effect("the start of a built-in: it never runs", () =>
    Effect.gen(function* () {
      let runs = 0
      const tool = builtin("tool", () => Effect.sync(() => ({ text: `${++runs}` })))
      const h = yield* makeAgent({ tools: [tool], ...failing((record) => record.kind === "call_started") })
      failedRun(yield* h.run([{ calls: [call("tool")] }, { text: "never" }]))
      assert.strictEqual(runs, 0)
    })
  )

  it.effect("an outcome: the model does not see it, pending calls end with run_finished", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({
        client: [client("a"), client("b")],
        ...failing((record) => record.kind === "call_outcome" && record.name === "client__a")
      })
      yield* h.start([{ calls: [call("client__a"), call("client__b")] }, { text: "never" }])
      yield* h.pending(2)
      assert.strictEqual((yield* h.reply(0))._tag, "Accepted", "acceptance promises no append")
      yield* h.ended
      failedRun(h.finished()[0])
      assert.deepStrictEqual(h.cancels(), ["run_finished"])
      assert.strictEqual(h.text(), "")
    })
  )

  it.effect("the last response: it is not said", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent(failing((record) => record.kind === "assistant"))
      failedRun(yield* h.run([{ text: "answer" }]))
      assert.strictEqual(h.text(), "")
    })
  )

  it.effect("a subagent's as well", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({
        session: (handle) => (handle.delegated._tag === "Delegated" ? { ...handle, append: () => broken } : handle)
      })
      const tasks = [{ intent: "script:[]", mode: "standard" }]
      failedRun(yield* h.run([{ calls: [call("subagents", { tasks })] }, { text: "never" }]))
    })
  )
})

describe("best effort: a failure makes the run degraded", () => {
  const degraded = (name: string, session: (handle: SessionHandle) => SessionHandle) =>
    it.effect(name, () =>
      Effect.gen(function* () {
        const tool = builtin("tool", () => Effect.succeed({ text: "" }))
        const h = yield* makeAgent({ tools: [tool], session })
        const end = yield* h.run([{ calls: [call("tool")] }, { text: "answer" }])
        assert.deepInclude(end, { status: "completed", error: null, persistence: "degraded" })
        assert.strictEqual(h.text(), "answer")
      })
    )
  degraded("the title", (handle) => ({ ...handle, setTitle: () => broken }))
  degraded("the timeline", (handle) => ({ ...handle, timeline: () => broken }))

  it.effect("the last record of a run that failed", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent(failing((record) => record.kind === "run_finished"))
      const end = yield* h.run([{ error: "rejected" }])
      assert.deepInclude(end, { status: "failed", persistence: "degraded" })
      assert.deepInclude(end["error"], { code: "provider_failed" })
    })
  )

  it.effect("the last record of a run that is not on disk in its time: nobody knows whether it will be", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({
        session: (handle) => ({
          ...handle,
          append: (records) =>
            records.some((record) => record.kind === "run_finished") ? Effect.never : handle.append(records)
        })
      })
      yield* h.start([{ error: "rejected" }])
      for (let at = 0; at < 1000; at += 50) yield* TestClock.adjust(50)
      assert.deepInclude(h.finished()[0], { status: "failed", persistence: "degraded" })
    })
  )
})
