/** product section 5, Calls: the handlers alone, where only they can be blamed. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { CallTable } from "../../src/client/CallTable.ts"
import * as Handlers from "../../src/client/Handlers.ts"
import type { ClientToolCall } from "../../src/protocol/Event.ts"
import { toolOf, toolsOf } from "./support/tools.ts"

const run = { instanceId: "i", sessionId: "s", runId: "r", span: undefined }

const callOf = (call_id: string, timeout_ms = 1000): ClientToolCall => ({
  session_id: "s",
  run_id: "r",
  call_id,
  task_id: null,
  subagent_id: null,
  name: "client__endless",
  arguments: {},
  timeout_ms
})

const setup = Effect.gen(function* () {
  const seen: Array<string> = []
  const tool = toolOf("client__endless", () =>
    Effect.sync(() => seen.push("started")).pipe(
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => Effect.sync(() => seen.push("ended")))
    )
  )
  const handlers = yield* Handlers.make({
    tools: toolsOf(tool),
    replies: { send: () => seen.push("replied"), over: () => {} },
    current: () => run,
    approver: undefined,
    lose: () => seen.push("lost")
  })
  return { handlers, seen }
})

describe("handlers", () => {
  it.effect("the deadline counts from when the bytes were read, not from when they were looked at", () =>
    Effect.gen(function* () {
      const { handlers, seen } = yield* setup
      const at = yield* Clock.monotonicTimeNanos
      yield* TestClock.adjust("400 millis")
      handlers.call("i", callOf("a"), at)
      yield* TestClock.adjust("599 millis")
      assert.deepStrictEqual(seen, ["started"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(seen, ["started", "ended"])
    })
  )

  it.effect("stopped, no handler starts any more, although the run is still the current one", () =>
    Effect.gen(function* () {
      const { handlers, seen } = yield* setup
      handlers.stop()
      handlers.call("i", callOf("a"), yield* Clock.monotonicTimeNanos)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(seen, [])
    })
  )

  it("a call that has ended stops what waits for its deadline", () => {
    const table = new CallTable()
    const { session_id, run_id, call_id } = callOf("a")
    const identity = { instance_id: "i", session_id, run_id, call_id, task_id: null, subagent_id: null }
    const admission = table.admit(identity, "client__endless", 0n)
    if (admission._tag === "Busy") return assert.fail("there is room for one")
    let stopped = 0
    admission.entry.stopTimer = () => {
      stopped += 1
    }
    assert.isTrue(table.settle(admission.entry, "completed"))
    assert.strictEqual(stopped, 1)
  })
})
