/** product section 5: frames from the agent, time, ids; section 4: a turn is a stream and an outcome. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Agent } from "../../src/client/Agent.ts"
import { TransportLost } from "../../src/client/TransportLost.ts"
import * as ScriptedAgent from "./support/ScriptedAgent.ts"
import { echo, toolOf, toolsOf } from "./support/tools.ts"

const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

const opened = (options?: ScriptedAgent.ScriptOptions, tools = toolsOf(echo)) =>
  Effect.gen(function* () {
    const script = yield* ScriptedAgent.make(options)
    const agent = yield* Agent.over(script.link, { tools })
    yield* agent.createSession
    return { script, agent }
  })

const delta = (sequence: number, more = "") =>
  `{"version":1,"event":"message.delta","instance_id":"inst-1","sequence":${sequence},"data":{"session_id":"sess-1","run_id":"run-1","message_id":"m","text":"x"}${more}}\n`

/** What becomes of a turn when the agent writes this. */
const after = (bytes: string | Uint8Array) =>
  Effect.gen(function* () {
    const { agent, script } = yield* opened()
    const turn = yield* agent.turn("go")
    const outcome = yield* Effect.forkChild(Effect.exit(turn.outcome))
    yield* script.raw(bytes)
    yield* settle
    yield* TestClock.adjust(1000)
    const exit = outcome.pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit) || Exit.isSuccess(exit.value)) return undefined
    const error = Option.getOrUndefined(Exit.findErrorOption(exit.value))
    return error instanceof TransportLost ? error : undefined
  }).pipe(Effect.scoped)

describe("an unclean frame is transport loss", () => {
  const cases: ReadonlyArray<readonly [string, string | Uint8Array]> = [
    ["not JSON", "Debugger listening\n"],
    ["an empty line", "\n"],
    ["a byte order mark", `\ufeff${delta(1)}`],
    ["not UTF-8", Uint8Array.of(0x7b, 0xc3, 0x28, 0x7d, 0x0a)],
    ["over 65536 bytes with its LF", `${delta(1).slice(0, -4)}${"x".repeat(65_536)}"}}\n`],
    ["over 65536 bytes without an end", "x".repeat(65_536)],
    ["a gap in the sequence", delta(2)],
    ["a repeat in the sequence", delta(1) + delta(1)],
    ["an unknown envelope member", delta(1, ',"extra":1')],
    ["another version", delta(1).replace('"version":1', '"version":2')],
    ["a duplicate key", delta(1).replace('"text":"x"', '"text":"x","text":"y"')],
    ["a lone surrogate", delta(1).replace('"x"', '"\\ud83d"')],
    ["a depth over 32", delta(1).replace('"x"', `${"[".repeat(31)}${"]".repeat(31)}`)],
    ["a call without its name", delta(1).replace("message.delta", "client.tool.call")],
    ["an error without an id", '{"version":1,"id":null,"error":{"code":"frame_too_large","message":"secret"}}\n']
  ]
  for (const [name, bytes] of cases) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const lost = yield* after(bytes)
        assert.isDefined(lost)
        assert.isBelow(lost?.message.length ?? 0, 300)
        assert.notInclude(lost?.message ?? "", "secret")
      })
    )
  }
})

describe("passed over", () => {
  const fine: ReadonlyArray<readonly [string, string]> = [
    ["an unknown event", delta(1).replace("message.delta", "future.thing")],
    ["unknown members of data", delta(1).replace('"text":"x"', '"text":"x","future":[1]')],
    ["a response to nothing", '{"version":1,"id":"never-asked","result":{}}\n'],
    ["exactly 65536 bytes", delta(1).replace('"x"', `"${"x".repeat(65_536 - delta(1).length + 1)}"`)]
  ]
  for (const [name, bytes] of fine) {
    it.effect(name, () => Effect.map(after(bytes), (lost) => assert.isUndefined(lost)))
  }
})

describe("time", () => {
  it.effect("initialize unanswered for 30 s is a failure", () =>
    Effect.gen(function* () {
      const script = yield* ScriptedAgent.make({ silent: ["initialize"] })
      const opening = yield* Effect.forkChild(Effect.exit(Effect.scoped(Agent.over(script.link))))
      yield* settle
      yield* TestClock.adjust(29_999)
      assert.isUndefined(opening.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* TestClock.adjust(2000)
      const exit = yield* Fiber.join(opening)
      assert.include(String(Exit.isFailure(exit) ? Option.getOrThrow(Exit.findErrorOption(exit)).message : ""), "30 s")
    })
  )

  it.effect("a frame that is not taken within two seconds is a stalled pipe: loss, told within a second", () =>
    Effect.gen(function* () {
      const big = toolOf("client__big", () => Effect.succeed({ status: "success", text: "x".repeat(30_000) }))
      const { agent, script } = yield* opened({ readAtMost: 3 }, toolsOf(big))
      const turn = yield* agent.turn("go")
      // The pair holds 16 chunks of a direction; what is beyond them waits.
      for (let n = 0; n < 18; n++) {
        yield* script.call(`c${n}`, "client__big")
        yield* settle
      }
      const outcome = yield* Effect.forkChild(Effect.exit(turn.outcome))
      yield* TestClock.adjust(1999)
      assert.isUndefined(outcome.pollUnsafe())
      yield* TestClock.adjust(1001)
      const exit = yield* Fiber.join(outcome)
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      assert.strictEqual(error?.reason, "stalled")
    })
  )

  it.effect("at a loss every waiting request fails within a second, and so do all that come later", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened({ silent: ["status"] })
      const waiting = yield* Effect.forkChild(Effect.exit(agent.status))
      yield* settle
      yield* script.close
      yield* settle
      yield* TestClock.adjust(1000)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(agent.models)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(agent.turn("go"))))
    })
  )
})

describe("initialize", () => {
  const refused = (change: (result: Record<string, unknown>) => object) =>
    Effect.gen(function* () {
      const script = yield* ScriptedAgent.make({ silent: ["initialize"] })
      const opening = yield* Effect.forkChild(
        Effect.exit(Effect.scoped(Agent.over(script.link, { tools: toolsOf(echo) })))
      )
      const { id, params } = yield* script.take("initialize")
      assert.includeMembers(params.required_capabilities, ["client.tools", "session.create", "turn.start"])
      const whole = yield* ScriptedAgent.make()
      const good = yield* Agent.over(whole.link, { tools: toolsOf(echo) })
      yield* script.answer(id, change({ ...good.info }))
      yield* settle
      yield* TestClock.adjust(2000)
      return Exit.isFailure(yield* Fiber.join(opening))
    }).pipe(Effect.scoped)

  it.effect("another protocol, version or registry than asked for is refused", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* refused((result) => ({ ...result, future: 1 })))
      assert.isTrue(yield* refused((result) => ({ ...result, protocol: "other" })))
      assert.isTrue(yield* refused((result) => ({ ...result, version: 2 })))
      assert.isTrue(yield* refused(({ client_tools: _, ...result }) => result))
      assert.isTrue(yield* refused((result) => ({ ...result, capabilities: ["initialize"] })))
    })
  )

  it.effect("lower limits are kept, or the turn is refused before it starts", () =>
    Effect.gen(function* () {
      const refusedBy = (options: ScriptedAgent.ScriptOptions, prompt = "go") =>
        Effect.gen(function* () {
          const { agent, script } = yield* opened(options)
          const exit = yield* Effect.exit(agent.turn(prompt))
          const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
          assert.lengthOf(
            script.seen.filter((one) => one.method === "turn.start"),
            error === undefined ? 1 : 0
          )
          return error?._tag === "LimitExceeded" ? error.limit : undefined
        }).pipe(Effect.scoped)
      assert.isUndefined(yield* refusedBy({}))
      assert.strictEqual(yield* refusedBy({ toolLimits: { tools: 0 } }), "tools")
      assert.strictEqual(yield* refusedBy({ toolLimits: { max_timeout_ms: 5000 } }), "max_timeout_ms")
      assert.strictEqual(yield* refusedBy({ toolLimits: { description_bytes: 5 } }), "description_bytes")
      assert.strictEqual(yield* refusedBy({ limits: { prompt_bytes: 3 } }, "four"), "prompt_bytes")
      assert.strictEqual(yield* refusedBy({ limits: { input_frame_bytes: 200 } }, "x".repeat(200)), "input_frame_bytes")
      assert.strictEqual(yield* refusedBy({}, "é".repeat(16_385)), "prompt_bytes")
    })
  )
})

describe("request ids", () => {
  const turnAt = (limit: number) =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened({ limits: { request_ids: limit } })
      const exit = yield* Effect.exit(agent.turn("go"))
      return {
        started: script.seen.some((one) => one.method === "turn.start"),
        error: Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit))?._tag : undefined
      }
    }).pipe(Effect.scoped)

  it.effect("with 64 ids left no new turn starts, with 65 one does", () =>
    Effect.gen(function* () {
      // initialize and session.create have used two.
      assert.deepStrictEqual(yield* turnAt(66), { started: false, error: "RequestIdsExhausted" })
      assert.deepStrictEqual(yield* turnAt(67), { started: true, error: undefined })
    })
  )

  it.effect("with 2 left the handlers are interrupted, turn.cancel goes, and the outcome is failed", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const endless = toolOf("client__endless", () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            interrupted += 1
          })
        )
      )
      const { agent, script } = yield* opened({ limits: { request_ids: 80 } }, toolsOf(endless, echo))
      const turn = yield* agent.turn("go")
      yield* script.call("open", "client__endless")
      for (let n = 0; n < 90; n++) {
        yield* script.call(`c${n}`, "client__echo")
        yield* settle
      }
      assert.strictEqual(script.seen.length, 79)
      assert.strictEqual(script.seen.at(-1)?.method, "turn.cancel")
      assert.strictEqual(interrupted, 1)
      yield* script.finish("cancelled")
      const outcome = yield* turn.outcome
      assert.strictEqual(outcome.status, "failed")
      assert.strictEqual(outcome.error?.code, "RequestIdsExhausted")
    })
  )

  it.effect("an agent that then does not finish is not waited for longer than two seconds", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened({ limits: { request_ids: 68 } })
      const turn = yield* agent.turn("go")
      for (let n = 0; n < 70; n++) {
        yield* script.call(`c${n}`, "client__echo")
        yield* settle
      }
      yield* TestClock.adjust(2000)
      assert.strictEqual((yield* turn.outcome).error?.code, "RequestIdsExhausted")
    })
  )
})

describe("turns", () => {
  it.effect("text is the last assistant message's reconciled text", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened()
      const turn = yield* agent.turn("go")
      const part = (message_id: string, n: number, parts: number, text: string) =>
        script.event("message.reconcile", { message_id, part: n, parts, text })
      yield* script.event("message.delta", { message_id: "a", text: "Fir" })
      yield* part("a", 0, 1, "First.")
      yield* part("b", 0, 2, "Second")
      yield* part("b", 1, 2, " of two.")
      yield* script.finish()
      assert.strictEqual((yield* turn.outcome).text, "Second of two.")
    })
  )

  it.effect("closing the scope of a turn, or interrupting run, sends turn.cancel once", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened()
      yield* Effect.scoped(agent.turn("one"))
      assert.deepStrictEqual((yield* script.take("turn.cancel")).params, { session_id: "sess-1", run_id: "run-1" })
      yield* script.finish("cancelled")
      const running = yield* Effect.forkChild(agent.run("two"))
      yield* script.take("turn.start")
      yield* script.take("turn.start")
      yield* settle
      yield* Fiber.interrupt(running)
      yield* script.take("turn.cancel")
      assert.lengthOf(
        script.seen.filter((one) => one.method === "turn.cancel"),
        2
      )
    })
  )

  it.effect("a turn whose answer comes after it was given up is cancelled", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened({ silent: ["turn.start"] })
      const starting = yield* Effect.forkChild(Effect.scoped(agent.turn("go")))
      const { id } = yield* script.take("turn.start")
      yield* Fiber.interrupt(starting)
      yield* script.answer(id, { run_id: "run-1", accepted: true })
      assert.strictEqual((yield* script.take("turn.cancel")).params.run_id, "run-1")
    })
  )

  it.effect("a run that ended well sends no turn.cancel", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened()
      yield* Effect.forkChild(Effect.andThen(script.take("turn.start"), Effect.andThen(settle, script.finish())))
      assert.strictEqual((yield* agent.run("go")).status, "completed")
      yield* settle
      assert.isFalse(script.seen.some((one) => one.method === "turn.cancel"))
    })
  )

  it.effect("events that are not read do not hold the run up", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened()
      const turn = yield* agent.turn("go")
      const text = "x".repeat(16_000)
      for (let n = 0; n < 1200; n++) {
        yield* script.event("message.reconcile", { message_id: `m${n}`, part: 0, parts: 1, text })
      }
      yield* script.finish()
      assert.strictEqual((yield* turn.outcome).status, "completed")
      const exit = yield* Effect.exit(Stream.runDrain(turn.events))
      assert.strictEqual(
        Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit))?._tag : "",
        "EventsOverflow"
      )
    })
  )
})

describe("approvals", () => {
  const question = {
    approval_id: "a1",
    kind: "bash",
    summary: "rm -rf",
    task_id: null,
    subagent_id: null,
    timeout_ms: 300_000
  }

  it.effect("without an approver every question is denied", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened()
      yield* agent.turn("go")
      yield* script.event("approval.request", question)
      assert.deepStrictEqual((yield* script.take("approval.answer")).params, {
        session_id: "sess-1",
        run_id: "run-1",
        approval_id: "a1",
        allow: false
      })
    })
  )

  it.effect("a closed question is not asked any longer and not answered", () =>
    Effect.gen(function* () {
      const script = yield* ScriptedAgent.make()
      let open = 0
      const agent = yield* Agent.over(script.link, {
        approver: () =>
          Effect.suspend(() => {
            open += 1
            return Effect.onInterrupt(Effect.never, () =>
              Effect.sync(() => {
                open -= 1
              })
            )
          })
      })
      yield* agent.createSession
      yield* agent.turn("go")
      yield* script.event("approval.request", question)
      yield* settle
      assert.strictEqual(open, 1)
      yield* script.event("approval.closed", { approval_id: "a1", reason: "timeout" })
      yield* settle
      assert.strictEqual(open, 0)
      assert.isFalse(script.seen.some((one) => one.method === "approval.answer"))
    })
  )
})

describe("closing", () => {
  it.effect("gives EOF at once, interrupts the handlers, and waits for finalizers no longer than two seconds", () =>
    Effect.gen(function* () {
      let interrupted = false
      const stubborn = toolOf("client__stubborn", () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.suspend(() => {
            interrupted = true
            return Effect.never
          })
        )
      )
      const script = yield* ScriptedAgent.make()
      const body = Effect.gen(function* () {
        const agent = yield* Agent.over(script.link, { tools: toolsOf(stubborn) })
        yield* agent.createSession
        yield* agent.turn("go")
        yield* script.call("c1", "client__stubborn")
        yield* settle
      })
      const closing = yield* Effect.forkChild(Effect.scoped(body))
      yield* script.eof
      yield* settle
      assert.isTrue(interrupted)
      yield* TestClock.adjust(1999)
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* TestClock.adjust(20)
      yield* Fiber.join(closing)
    })
  )
})
