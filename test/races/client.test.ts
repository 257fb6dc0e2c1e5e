/**
 * Every race of a call on the client's side: its handler, the agent's cancel, the deadline, the loss of the transport, the end
 * of the run, closing. Virtual time makes each interleaving exact. docs/concurrency.md names these tests.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Agent } from "../../src/client/Agent.ts"
import type { AgentLink } from "../../src/client/AgentLink.ts"
import type { ClientTool } from "../../src/client/ClientTool.ts"
import { type Ending, ToolCall } from "../../src/client/ToolCall.ts"
import * as ScriptedAgent from "../client/support/ScriptedAgent.ts"
import { echo, say, toolOf, toolsOf } from "../client/support/tools.ts"

const { INSTANCE, RUN, SESSION } = ScriptedAgent

/** An agent in a turn, with these tools. */
const inTurn = (tools: ReadonlyArray<ClientTool>, over: (link: AgentLink) => AgentLink = (link) => link) =>
  Effect.gen(function* () {
    const script = yield* ScriptedAgent.make()
    const agent = yield* Agent.over(over(script.link), { tools: toolsOf(...tools) })
    yield* agent.createSession
    const turn = yield* agent.turn("go")
    return { script, agent, turn }
  })

/** Lets everything run that can without time passing. */
const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** A tool that waits for `gate`, and notes how its calls went. `stubborn`: not even a cancel stops it from getting done. */
const gated = (
  options: { readonly stubborn?: boolean; readonly finalizer?: Effect.Effect<void, never, ToolCall> } = {}
) => {
  const gate = Deferred.makeUnsafe<void>()
  const seen: Array<string> = []
  const note = (what: string) => Effect.map(ToolCall, (call) => seen.push(`${what} ${call.identity.call_id}`))
  const ending = Effect.gen(function* () {
    const why: Ending | undefined = yield* (yield* ToolCall).ending
    yield* note(`ended:${why}`)
    yield* options.finalizer ?? Effect.void
  })
  const work = Effect.gen(function* () {
    yield* note("started")
    yield* Deferred.await(gate)
    yield* note("done")
    return say("done")
  })
  const tool = toolOf("client__gated", () =>
    options.stubborn ? Effect.uninterruptible(work) : Effect.onInterrupt(work, () => ending)
  )
  return { tool, seen, open: Deferred.succeed(gate, undefined) }
}

const frame = (event: string, sequence: number, data: object) =>
  `${JSON.stringify({
    version: 1,
    event,
    instance_id: INSTANCE,
    sequence,
    data: { session_id: SESSION, run_id: RUN, ...data }
  })}\n`

const ofCall = (callId: string) => ({ call_id: callId, task_id: null, subagent_id: null })
const callFrame = (sequence: number, callId: string, name: string) =>
  frame("client.tool.call", sequence, { ...ofCall(callId), name, arguments: {}, timeout_ms: 30_000 })
const cancelFrame = (sequence: number, callId: string) =>
  frame("client.tool.cancel", sequence, { ...ofCall(callId), reason: "cancelled" })

describe("completion / cancel", () => {
  it.effect("completed first: one reply, and the cancel ends nothing", () =>
    Effect.gen(function* () {
      const one = gated()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__gated")
      yield* settle
      yield* one.open
      yield* script.cancel("c1")
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "done c1"])
      assert.lengthOf(script.results(), 1)
    })
  )

  it.effect("cancelled first: no reply, also where the handler gets done all the same", () =>
    Effect.gen(function* () {
      const one = gated({ stubborn: true })
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__gated")
      yield* settle
      yield* script.cancel("c1")
      yield* settle
      yield* one.open
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "done c1"])
      assert.lengthOf(script.results(), 0)
    })
  )

  it.effect("a call and its cancel in one chunk: nothing is replied", () =>
    Effect.gen(function* () {
      const one = gated()
      const { script } = yield* inTurn([one.tool])
      yield* script.raw(callFrame(1, "c1", "client__gated") + cancelFrame(2, "c1"))
      yield* settle
      yield* one.open
      yield* settle
      assert.notInclude(one.seen, "done c1")
      assert.lengthOf(script.results(), 0)
    })
  )
})

describe("completion / deadline", () => {
  it.effect("completed one tick before: one reply, and the deadline ends nothing", () =>
    Effect.gen(function* () {
      const one = gated()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__gated", {}, { timeout_ms: 1000 })
      yield* settle
      yield* TestClock.adjust(999)
      yield* one.open
      yield* settle
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(one.seen, ["started c1", "done c1"])
      assert.lengthOf(script.results(), 1)
    })
  )

  it.effect("completed at the deadline itself: the deadline wins, nothing is replied", () =>
    Effect.gen(function* () {
      const tool = toolOf("client__sleeps", () => Effect.as(Effect.sleep(1000), say("late")))
      const { script } = yield* inTurn([tool])
      yield* script.call("c1", "client__sleeps", {}, { timeout_ms: 1000 })
      yield* settle
      yield* TestClock.adjust(1000)
      yield* settle
      assert.lengthOf(script.results(), 0)
    })
  )

  it.effect("completed past the deadline before its timer could fire: nothing is replied", () =>
    Effect.gen(function* () {
      const one = gated()
      const clock = yield* Clock.Clock
      // A process that was held up: the clock has gone on, and no timer has fired.
      let ahead = 0n
      const heldUp: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + ahead,
        monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + ahead),
        sleep: (duration) => clock.sleep(duration)
      }
      const { script } = yield* Effect.provideService(inTurn([one.tool]), Clock.Clock, heldUp)
      yield* script.call("c1", "client__gated", {}, { timeout_ms: 1000 })
      yield* settle
      ahead = 1_000_000_000n
      yield* one.open
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "done c1"])
      assert.lengthOf(script.results(), 0)
    })
  )
})

describe("cancel / deadline", () => {
  it.effect("the first of the two is the ending that the handler is told", () =>
    Effect.gen(function* () {
      const one = gated({ finalizer: Effect.sleep(500) })
      const { script } = yield* inTurn([one.tool])
      for (const id of ["c1", "c2"]) yield* script.call(id, "client__gated", {}, { timeout_ms: 1000 })
      yield* settle
      yield* TestClock.adjust(999)
      yield* script.cancel("c1")
      yield* settle
      yield* TestClock.adjust(1)
      yield* script.cancel("c2")
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "started c2", "ended:cancelled c1", "ended:deadline c2"])
      yield* TestClock.adjust(500)
    })
  )
})

describe("completion / transport loss", () => {
  it.effect("completed first: the reply was sent", () =>
    Effect.gen(function* () {
      const one = gated()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__gated")
      yield* settle
      yield* one.open
      yield* script.take("client.tool.result")
      yield* script.close
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "done c1"])
    })
  )

  it.effect("lost first: the handler is interrupted and knows why, and nothing is sent", () =>
    Effect.gen(function* () {
      const one = gated()
      const stubborn = gated({ stubborn: true })
      const other = { ...stubborn.tool, descriptor: { ...stubborn.tool.descriptor, name: "client__other" } }
      const { script, agent } = yield* inTurn([one.tool, other])
      yield* script.call("c1", "client__gated")
      yield* script.call("c2", "client__other")
      yield* settle
      yield* script.raw("garbage\n")
      yield* settle
      yield* stubborn.open
      yield* TestClock.adjust(1000)
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "ended:lost c1"])
      assert.deepStrictEqual(stubborn.seen, ["started c2", "done c2"])
      assert.lengthOf(script.results(), 0)
      assert.strictEqual((yield* Effect.flip(agent.lost)).reason, "unclean_frame")
    })
  )
})

describe("cancel while arguments are decoded", () => {
  it.effect("the handler never starts, and nothing is replied", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const tool = toolOf("client__decodes", () =>
        Effect.gen(function* () {
          seen.push("decoding")
          yield* Effect.sleep(100)
          seen.push("handler")
          return say("done")
        })
      )
      const { script } = yield* inTurn([tool])
      yield* script.call("c1", "client__decodes")
      yield* settle
      yield* TestClock.adjust(99)
      yield* script.cancel("c1")
      yield* settle
      yield* TestClock.adjust(1000)
      yield* settle
      assert.deepStrictEqual(seen, ["decoding"])
      assert.lengthOf(script.results(), 0)
    })
  )
})

describe("cancel during a finalizer", () => {
  it.effect("the call has ended once: no second cancel, no deadline and no end of the run disturbs the finalizer", () =>
    Effect.gen(function* () {
      const cleaned: Array<string> = []
      const finalizer = Effect.gen(function* () {
        const call = yield* ToolCall
        yield* Effect.sleep(1500)
        cleaned.push(`${yield* call.ending}`)
      })
      const one = gated({ finalizer })
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__gated", {}, { timeout_ms: 1000 })
      yield* settle
      yield* script.cancel("c1", "cancelled")
      yield* settle
      yield* TestClock.adjust(1000)
      yield* script.cancel("c1", "timeout")
      yield* script.finish()
      yield* settle
      yield* TestClock.adjust(500)
      yield* settle
      assert.deepStrictEqual(one.seen, ["started c1", "ended:cancelled c1"])
      assert.deepStrictEqual(cleaned, ["cancelled"])
      assert.lengthOf(script.results(), 0)
    })
  )
})

describe("a call that arrives late", () => {
  it.effect("behind run.finished in one chunk: never executed, not answered", () =>
    Effect.gen(function* () {
      const one = gated()
      const { script, turn } = yield* inTurn([one.tool])
      const finished = frame("run.finished", 1, {
        status: "completed",
        error: null,
        persistence: "complete",
        history_revision: "h-2",
        usage: null
      })
      yield* script.raw(finished + callFrame(2, "c1", "client__gated"))
      yield* turn.outcome
      yield* settle
      assert.deepStrictEqual(one.seen, [])
      assert.lengthOf(script.results(), 0)
    })
  )

  it.effect("while the agent is being closed: never executed, not answered", () =>
    Effect.gen(function* () {
      const one = gated()
      const scope = yield* Scope.make()
      // The agent takes its time to go, and still talks.
      const slow = (link: AgentLink): AgentLink => ({ ...link, close: () => Effect.sleep(500) })
      const { script } = yield* Scope.provide(inTurn([one.tool, echo], slow), scope)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* settle
      yield* script.call("c1", "client__gated")
      yield* script.call("c2", "client__echo", { text: "?" })
      yield* settle
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust(2000)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(one.seen, [])
      assert.lengthOf(script.results(), 0)
    })
  )
})
