/** product sections 4 and 5, Calls: one fiber a call, one winner, deadlines from when the bytes were read, bounded finalizers. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Agent } from "../../src/client/Agent.ts"
import { type ClientTool, ToolFailed } from "../../src/client/ClientTool.ts"
import { type Ending, ToolCall } from "../../src/client/ToolCall.ts"
import * as ScriptedAgent from "./support/ScriptedAgent.ts"
import { echo, say, toolOf, toolsOf } from "./support/tools.ts"

/** An agent in a turn, with these tools. */
const inTurn = (tools: ReadonlyArray<ClientTool>, options?: ScriptedAgent.ScriptOptions) =>
  Effect.gen(function* () {
    const script = yield* ScriptedAgent.make(options)
    const agent = yield* Agent.over(script.link, { tools: toolsOf(...tools) })
    yield* agent.createSession
    const turn = yield* agent.turn("go")
    return { script, agent, turn }
  })

/** Lets everything run that can without time passing. */
const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** A tool that runs until it is interrupted, and tells why it was. */
const endless = () => {
  const endings: Array<Ending | undefined> = []
  let started = 0
  const tool = toolOf("client__endless", () =>
    Effect.gen(function* () {
      started += 1
      const call = yield* ToolCall
      return yield* Effect.onInterrupt(Effect.never, () => Effect.map(call.ending, (ending) => endings.push(ending)))
    })
  )
  return { tool, endings, started: () => started }
}

describe("calls", () => {
  it.effect("a reply repeats the whole identity of its call", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo])
      yield* script.call("c1", "client__echo", { text: "hello" }, { task_id: "t-1", subagent_id: "s-1" })
      const { params } = yield* script.take("client.tool.result")
      assert.deepStrictEqual(params, {
        instance_id: "inst-1",
        session_id: "sess-1",
        run_id: "run-1",
        call_id: "c1",
        task_id: "t-1",
        subagent_id: "s-1",
        status: "success",
        text: "hello"
      })
    })
  )

  it.effect("another instance, session or run is never executed and not answered", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo])
      yield* script.event(
        "client.tool.call",
        { call_id: "c1", task_id: null, subagent_id: null, name: "client__echo", arguments: {}, timeout_ms: 1000 },
        { instance_id: "another" }
      )
      yield* script.call("c2", "client__echo", {}, { session_id: "another" })
      yield* script.call("c3", "client__echo", {}, { run_id: "another" })
      yield* script.call("c4", "client__echo")
      assert.strictEqual((yield* script.take("client.tool.result")).params.call_id, "c4")
      assert.lengthOf(script.results(), 1)
    })
  )

  it.effect("a name that is not registered gets an error reply", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo])
      yield* script.call("c1", "client__nope")
      assert.strictEqual((yield* script.take("client.tool.result")).params.status, "error")
    })
  )

  it.effect("a call id seen before is never executed again and not answered again", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo])
      for (const id of ["c1", "c1", "c2", "c1"]) yield* script.call(id, "client__echo", { text: id })
      yield* script.call("c3", "client__nope")
      yield* script.call("c3", "client__echo")
      yield* script.call("last", "client__echo")
      yield* settle
      assert.deepStrictEqual(
        script.results().map((one) => one.call_id),
        ["c1", "c2", "c3", "last"]
      )
    })
  )

  it.effect("8192 ids are remembered; more from one child is transport loss", () =>
    Effect.gen(function* () {
      // Of other runs none is remembered; of this one all are, answered or not.
      const endlessly = endless()
      const { agent, script } = yield* inTurn([endlessly.tool])
      const late = { timeout_ms: 0 }
      for (let n = 0; n < 8192; n++) yield* script.call(`c${n}`, "client__endless", {}, late)
      yield* settle
      assert.isFalse(Option.isSome(yield* Effect.timeoutOption(Effect.exit(agent.lost), 0)))
      yield* script.call("one-more", "client__endless", {}, late)
      yield* TestClock.adjust(1000)
      const exit = yield* Effect.exit(agent.lost)
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(endlessly.started(), 0)
    })
  )

  it.effect(
    "a duplicate key or a number that does not survive in the arguments gets an error reply with a pointer",
    () =>
      Effect.gen(function* () {
        const { script } = yield* inTurn([echo])
        const frame = (sequence: number, callId: string, args: string) =>
          `{"version":1,"event":"client.tool.call","instance_id":"inst-1","sequence":${sequence},"data":{"session_id":"sess-1","run_id":"run-1","call_id":"${callId}","task_id":null,"subagent_id":null,"name":"client__echo","arguments":${args},"timeout_ms":1000}}\n`
        yield* script.raw(frame(1, "c1", '{"text":"a","text":"b"}'))
        yield* script.raw(frame(2, "c2", '{"deep":{"n":9007199254740993}}'))
        yield* settle
        const [one, two] = script.results()
        assert.strictEqual(one.status, "error")
        assert.include(one.text, "/text")
        assert.strictEqual(two.status, "error")
        assert.include(two.text, "/deep/n")
        assert.notInclude(two.text, "9007")
      })
  )
})

describe("endings", () => {
  it.effect("client.tool.cancel interrupts the handler, which can read why, and nothing is replied", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__endless")
      yield* settle
      yield* script.cancel("c1", "timeout")
      yield* settle
      assert.deepStrictEqual(one.endings, ["timeout"])
      assert.lengthOf(script.results(), 0)
    })
  )

  it.effect("a cancel of another identity ends nothing", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__endless", {}, { task_id: "t" })
      yield* script.cancel("c1")
      yield* settle
      assert.deepStrictEqual(one.endings, [])
    })
  )

  it.effect("the deadline ends a call at its time and no sooner, without a reply", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__endless", {}, { timeout_ms: 1000 })
      yield* settle
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(one.endings, [])
      yield* TestClock.adjust(1)
      yield* settle
      assert.deepStrictEqual(one.endings, ["deadline"])
      assert.lengthOf(script.results(), 0)
    })
  )

  it.effect("remainingMs falls with the clock and is never negative", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const tool = toolOf("client__watch", () =>
        Effect.gen(function* () {
          const call = yield* ToolCall
          const note = Effect.map(call.remainingMs, (left) => seen.push(left))
          yield* note
          yield* Effect.sleep(400)
          yield* note
          return yield* Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sleep(500), note))
        })
      )
      const { script } = yield* inTurn([tool])
      yield* script.call("c1", "client__watch", {}, { timeout_ms: 1000 })
      yield* settle
      yield* TestClock.adjust(2000)
      yield* settle
      assert.deepStrictEqual(seen, [1000, 600, 0])
    })
  )

  it.effect("of a completion and a cancel, whichever is first wins", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const tool = toolOf("client__gated", () => Effect.as(Deferred.await(gate), say("done")))
      const { script } = yield* inTurn([tool])
      yield* script.call("c1", "client__gated")
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      yield* script.cancel("c1")
      yield* settle
      assert.lengthOf(script.results(), 1)
      yield* script.call("c2", "client__gated")
      yield* script.cancel("c2")
      yield* settle
      // The gate is open: the second handler is done as soon as it starts.
      assert.deepStrictEqual(
        script.results().map((one) => one.call_id),
        ["c1", "c2"]
      )
    })
  )

  it.effect("run.finished interrupts what still runs", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script, turn } = yield* inTurn([one.tool])
      yield* script.call("c1", "client__endless")
      yield* settle
      yield* script.finish()
      assert.strictEqual((yield* turn.outcome).status, "completed")
      yield* settle
      assert.deepStrictEqual(one.endings, ["run_finished"])
    })
  )

  it.effect("a typed failure is an error reply with its message, a defect a generic one", () =>
    Effect.gen(function* () {
      const failing = toolOf("client__fails", () => Effect.fail(new ToolFailed({ text: "the disk is full" })))
      const dying = toolOf("client__dies", () => Effect.die(new Error("secret inside")))
      const interrupting = toolOf("client__stops", () => Effect.interrupt)
      const { script } = yield* inTurn([failing, dying, interrupting])
      for (const name of ["client__fails", "client__dies", "client__stops"]) yield* script.call(name, name)
      yield* settle
      const [fails, dies, stops] = script.results()
      assert.deepStrictEqual([fails.status, fails.text], ["error", "the disk is full"])
      assert.strictEqual(dies.status, "error")
      assert.notInclude(dies.text, "secret")
      assert.strictEqual(stops.status, "error")
    })
  )
})

describe("places", () => {
  it.effect("a 17th call waits for nothing: it gets an error reply", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script } = yield* inTurn([one.tool])
      for (let n = 0; n < 17; n++) yield* script.call(`c${n}`, "client__endless")
      yield* settle
      assert.strictEqual(one.started(), 16)
      assert.deepStrictEqual(
        script.results().map((reply) => [reply.call_id, reply.status]),
        [["c16", "error"]]
      )
    })
  )

  it.effect(
    "finalizing handlers take no place of 16, but with 32 fibers a new call gets an error; abandoned ones count no more",
    () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const slow = toolOf("client__tidy", () => Effect.onInterrupt(Effect.never, () => Deferred.await(gate)))
        const { script } = yield* inTurn([slow, echo])
        for (let round = 0; round < 2; round++) {
          for (let n = 0; n < 16; n++) yield* script.call(`c${round}-${n}`, "client__tidy")
          yield* settle
          for (let n = 0; n < 16; n++) yield* script.cancel(`c${round}-${n}`)
          yield* settle
        }
        yield* script.call("full", "client__echo")
        yield* settle
        assert.strictEqual(script.results().at(-1).status, "error")
        yield* TestClock.adjust(1999)
        yield* script.call("still-full", "client__echo")
        yield* settle
        assert.strictEqual(script.results().at(-1).status, "error")
        yield* TestClock.adjust(1)
        yield* settle
        yield* script.call("free", "client__echo", { text: "again" })
        yield* settle
        assert.strictEqual(script.results().at(-1).text, "again")
        yield* Deferred.succeed(gate, undefined)
      })
  )

  it.effect("a lower pending_calls of the agent is kept", () =>
    Effect.gen(function* () {
      const one = endless()
      const { script } = yield* inTurn([one.tool], { toolLimits: { pending_calls: 2 } })
      for (let n = 0; n < 3; n++) yield* script.call(`c${n}`, "client__endless")
      yield* settle
      assert.strictEqual(one.started(), 2)
    })
  )
})

describe("replies", () => {
  it.effect("invalid_params is followed by one error reply with a fresh id, and by nothing more", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo], { silent: ["client.tool.result"] })
      yield* script.call("c1", "client__echo", { text: "refused" })
      const first = yield* script.take("client.tool.result")
      yield* script.fail(first.id, "invalid_params")
      const second = yield* script.take("client.tool.result")
      assert.notStrictEqual(second.id, first.id)
      assert.strictEqual(second.params.status, "error")
      yield* script.fail(second.id, "invalid_params")
      yield* settle
      assert.lengthOf(script.results(), 2)
    })
  )

  it.effect("invalid_params after the agent has ended the call is followed by nothing", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo], { silent: ["client.tool.result"] })
      for (const [id, end] of [
        ["c1", script.cancel("c1", "timeout")],
        ["c2", script.finish()]
      ] as const) {
        yield* script.call(id, "client__echo", { text: "refused" })
        const { id: request } = yield* script.take("client.tool.result")
        yield* end
        yield* script.fail(request, "invalid_params")
      }
      yield* settle
      assert.lengthOf(script.results(), 2)
    })
  )

  it.effect("stale_client_tool_call is followed by nothing", () =>
    Effect.gen(function* () {
      const { script } = yield* inTurn([echo], { silent: ["client.tool.result"] })
      yield* script.call("c1", "client__echo")
      yield* script.fail((yield* script.take("client.tool.result")).id, "stale_client_tool_call")
      yield* settle
      assert.lengthOf(script.results(), 1)
    })
  )

  it.effect("a result over the bound, ours or a lower one, is a local error reply", () =>
    Effect.gen(function* () {
      const big = toolOf("client__big", (args) => Effect.succeed(say("x".repeat(Number(args["n"])))))
      const run = (n: number, options?: ScriptedAgent.ScriptOptions) =>
        Effect.scoped(
          Effect.gen(function* () {
            const { script } = yield* inTurn([big], options)
            yield* script.call("c1", "client__big", { n })
            const { params } = yield* script.take("client.tool.result")
            const most = options?.toolLimits?.result_bytes ?? 32_768
            assert.isAtMost(Buffer.byteLength(String(params.text)), most)
            return params.status
          })
        )
      assert.strictEqual(yield* run(32_768), "success")
      assert.strictEqual(yield* run(32_769), "error")
      assert.strictEqual(yield* run(1000, { toolLimits: { result_bytes: 1000 } }), "success")
      assert.strictEqual(yield* run(1001, { toolLimits: { result_bytes: 1000 } }), "error")
      assert.strictEqual(yield* run(6, { toolLimits: { result_bytes: 5 } }), "error")
      assert.strictEqual(yield* run(900, { limits: { input_frame_bytes: 900 } }), "error")
    })
  )

  it.effect("replies are told among the events of the turn, after their call", () =>
    Effect.gen(function* () {
      const { script, turn } = yield* inTurn([echo])
      const reading = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const kinds: Array<string> = []
            yield* Stream.runForEach(turn.events, (event) =>
              Effect.sync(() => kinds.push(event._tag === "Reply" ? `reply ${event.status}` : event.event))
            )
            return kinds
          })
        )
      )
      yield* script.call("c1", "client__echo")
      yield* script.take("client.tool.result")
      yield* script.event("future.thing", { more: 1 })
      yield* script.finish()
      assert.deepStrictEqual(yield* Fiber.join(reading), [
        "client.tool.call",
        "reply success",
        "future.thing",
        "run.finished"
      ])
    })
  )
})
