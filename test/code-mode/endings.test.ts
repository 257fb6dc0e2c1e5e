import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { CodeModeHost } from "../../src/agent/code-mode/Sandbox.ts"
import { Sandbox } from "../../src/agent/code-mode/Sandbox.ts"
import { SandboxPool } from "../../src/agent/code-mode/SandboxPool.ts"
import { layer, makeHost, onlySpareLeft, run, structured } from "./support.ts"

const provided = Effect.provide(layer({ time_ms: 5000 }))
const three = 'for (let i = 0; i < 3; i++) tools.call("client__wait", { i }); await tools.call("client__echo", {}); '

describe("Code Mode: calls and endings (base-protocol 6 and 7)", () => {
  it.live("calls under Promise.all run at the same time and may end in any order", () =>
    Effect.gen(function* () {
      const { host, called } = makeHost()
      const script = yield* Effect.forkChild(
        run(
          'const rs = await Promise.all([0, 1, 2, 3, 4].map((i) => tools.call("client__wait", { i }))); return rs.map((r) => r.content)',
          host
        )
      )
      // All five are under way before the first is answered.
      const calls = [...(yield* called(5))]
      assert.deepStrictEqual(
        calls.map((call) => call.args),
        [0, 1, 2, 3, 4].map((i) => ({ i }))
      )
      for (const call of [...calls].reverse()) yield* Deferred.succeed(call.answer, structured([call.args]))
      assert.deepStrictEqual(
        yield* Fiber.join(script),
        [0, 1, 2, 3, 4].map((i) => [{ i }])
      )
    }).pipe(provided)
  )

  it.live("a script goes on with the first result while other calls are under way", () =>
    Effect.gen(function* () {
      const { host, called } = makeHost()
      const script = yield* Effect.forkChild(
        run(
          `const slow = tools.call("client__wait", { n: "slow" }), fast = tools.call("client__wait", { n: "fast" })
           const first = (await fast).content
           const third = (await tools.call("client__echo", { first })).content
           return [third, (await slow).content]`,
          host
        )
      )
      const [slow, fast] = yield* called(2)
      if (fast) yield* Deferred.succeed(fast.answer, structured(1))
      const [, , third] = yield* called(3)
      assert.deepStrictEqual(third?.args, { first: 1 })
      if (slow) yield* Deferred.succeed(slow.answer, structured(2))
      assert.deepStrictEqual(yield* Fiber.join(script), [{ first: 1 }, 2])
    }).pipe(provided)
  )

  for (const [ending, code, expected] of [
    ["returns", "return 'done'", /^done$/],
    ["throws", "throw new Error('x')", /^tool_failed: the script failed at line 1: Error: x$/],
    ["returns what is not JSON", "return 1n", /not JSON/],
    ["fills its heap", "const a = []; for (;;) a.push(new Array(1e4).fill(1))", /heap/],
    ["runs out of time waiting", "await tools.call('client__wait', {})", /^tool_timeout/],
    ["runs out of time looping", "for (;;) {}", /^tool_timeout/]
  ] as const) {
    it.live(`when a script ${ending}, its unfinished calls are cancelled and have ended before it has`, () =>
      Effect.gen(function* () {
        const { calls, host } = makeHost()
        assert.match(String(yield* run(three + code, host)), expected)
        const waiting = calls.filter((call) => call.name === "client__wait")
        assert.isAtLeast(waiting.length, 3)
        assert.isTrue(waiting.every((call) => call.cancelled))
        yield* onlySpareLeft
      }).pipe(Effect.provide(layer({ time_ms: 1200 })))
    )
  }

  for (const code of [
    "await tools.call('client__wait', {})",
    "for (;;) {}",
    "for (;;) await tools.call('client__echo', {})",
    "for (;;) await 0"
  ]) {
    it.live(`interruption ends a script at once, whatever it does: ${code}`, () =>
      Effect.gen(function* () {
        const pool = yield* SandboxPool
        const { calls, host, called } = makeHost()
        const script = yield* Effect.forkChild((yield* Sandbox).run({ code: three + code, host }))
        yield* called(4)
        const began = performance.now()
        yield* Fiber.interrupt(script)
        assert.isBelow(performance.now() - began, 500)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(script)))
        assert.isTrue(calls.filter((call) => call.name === "client__wait").every((call) => call.cancelled))
        const made = calls.length
        yield* Effect.sleep("100 millis")
        // Nothing of it runs on, and a cancelled script gets no successor.
        assert.deepStrictEqual([calls.length, yield* pool.alive], [made, 0])
      }).pipe(provided)
    )
  }

  it.live("a call that is cancelled ends with its own outcome before the script's end is told", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const host: CodeModeHost = {
        tools: [],
        call: () =>
          Effect.never.pipe(
            Effect.onInterrupt(() =>
              Effect.andThen(
                Effect.sleep("80 millis"),
                Effect.sync(() => order.push("recorded"))
              )
            )
          )
      }
      yield* Effect.map(run("tools.call('client__slow', {}); return 1", host), (value) => order.push(String(value)))
      assert.deepStrictEqual(order, ["recorded", "1"])
    }).pipe(provided)
  )

  it.live("a call that will not end is abandoned after a second; the script's end does not wait for ever", () =>
    Effect.gen(function* () {
      const host: CodeModeHost = { tools: [], call: () => Effect.uninterruptible(Effect.never) }
      const began = performance.now()
      assert.strictEqual(yield* run("tools.call('client__stuck', {}); return 1", host), 1)
      const took = performance.now() - began
      assert.isTrue(took > 950 && took < 2000, `${took} ms`)
    }).pipe(provided)
  )

  it.live("a call that fails unexpectedly is a failed call, not the end of the script", () =>
    Effect.gen(function* () {
      const host: CodeModeHost = { tools: [], call: () => Effect.die(new Error("a defect with secrets in it")) }
      const message = "the call failed unexpectedly"
      assert.deepStrictEqual(yield* run("return await tools.call('x', {})", host), {
        success: false,
        content: { text: message },
        error: { code: "tool_failed", message }
      })
    }).pipe(provided)
  )

  it.live("a script that waits for what can never happen ends at once", () =>
    Effect.gen(function* () {
      const began = performance.now()
      for (const code of [
        "await new Promise(() => {})",
        "await tools.call('client__echo', {}); await new Promise(() => {})"
      ]) {
        assert.match(String(yield* run(code)), /^tool_failed: the script waits for something that never happens/)
      }
      assert.isBelow(performance.now() - began, 2000)
    }).pipe(provided)
  )
})
