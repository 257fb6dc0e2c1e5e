import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { CodeModeLimits } from "../../src/agent/code-mode/CodeModeLimits.ts"
import { Sandbox } from "../../src/agent/code-mode/Sandbox.ts"
import type { SandboxFailure } from "../../src/agent/code-mode/SandboxFailure.ts"
import { SandboxPool } from "../../src/agent/code-mode/SandboxPool.ts"
import * as SandboxThread from "../../src/agent/code-mode/SandboxThread.ts"
import { ways } from "./fixtures/ways.ts"
import { layer, onlySpareLeft, run, threads } from "./support.ts"

/** A spare whose engine is loaded. */
const spareReady = Effect.gen(function* () {
  const pool = yield* SandboxPool
  yield* pool.warm
  yield* Effect.sleep("500 millis")
})

describe("Code Mode: threads (base-protocol 7)", () => {
  it.live("with a warm spare a trivial script ends in under 50 ms", () =>
    Effect.gen(function* () {
      const times = []
      for (let n = 0; n < 5; n++) {
        yield* spareReady
        const began = performance.now()
        assert.strictEqual(yield* run("return 1"), 1)
        times.push(performance.now() - began)
      }
      times.sort((a, b) => a - b)
      assert.isBelow(times[2] ?? 1000, 50, `${times}`)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("the first spare is started soon after it is asked for, not at once, and never twice", () =>
    Effect.gen(function* () {
      const pool = yield* SandboxPool
      yield* pool.warmSoon
      yield* pool.warmSoon
      yield* TestClock.adjust("199 millis")
      assert.strictEqual(yield* pool.alive, 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* pool.alive, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.live("a thread is used once: nothing of a script is there for the next", () =>
    Effect.gen(function* () {
      yield* spareReady
      for (let n = 0; n < 3; n++) {
        const seen = yield* run(
          "const seen = [globalThis.mark, Object.prototype.mark, typeof tools.mark, Array.prototype.map.name]; globalThis.mark = 1; Object.prototype.mark = 2; Array.prototype.map = () => 3; Promise.prototype.then = () => 4; JSON.parse = () => 5; return JSON.stringify(seen)"
        )
        assert.strictEqual(seen, '[null,null,"undefined","map"]')
      }
      assert.strictEqual(Reflect.get({}, "mark"), undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.live("no thread is left but one spare, and none when the pool closes, scripts under way or not", () =>
    Effect.gen(function* () {
      const before = threads()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layer(), scope)
      yield* Effect.gen(function* () {
        const pool = yield* SandboxPool
        assert.strictEqual(yield* pool.alive, 0)
        for (let n = 0; n < 3; n++) yield* run("return 1")
        yield* onlySpareLeft
        yield* pool.warm
        assert.strictEqual(yield* pool.alive, 1)
        const sandbox = yield* Sandbox
        const host = { tools: [], call: () => Effect.never }
        for (let n = 0; n < 3; n++) yield* Effect.forkIn(sandbox.run({ code: "for (;;) {}", host }), scope)
        yield* Effect.sleep("400 millis")
        assert.isAtLeast(yield* pool.alive, 3)
        const began = performance.now()
        yield* Scope.close(scope, Exit.void)
        assert.isBelow(performance.now() - began, 1000)
        assert.strictEqual(yield* pool.alive, 0)
      }).pipe(Effect.provide(context))
      while (threads() > before) yield* Effect.sleep("5 millis")
    })
  )

  it.live("a thread that breaks its bounds is ended and not heard any more (count, bytes, shape)", () =>
    Effect.gen(function* () {
      for (const [heap_bytes, way] of ways.entries()) {
        const bounds = { ...CodeModeLimits, heap_bytes, calls: 10, result_bytes: 1000, total_bytes: 5000 }
        let hasEnded = false
        const entry = new URL("./fixtures/roguePeer.ts", import.meta.url)
        const heard = yield* Effect.scoped(
          Effect.gen(function* () {
            const thread = yield* SandboxThread.start(bounds, () => (hasEnded = true), entry)
            yield* thread.ready
            let count = 0
            const last: Result.Result<unknown, SandboxFailure> = yield* Effect.gen(function* () {
              for (;;) {
                const next = yield* Effect.result(thread.next)
                if (Result.isFailure(next)) return next
                count += 1
              }
            })
            while (thread.isAlive()) yield* Effect.sleep("2 millis")
            return [count, Result.isFailure(last) ? last.failure.message : ""] as const
          })
        )
        const [count, message] = heard
        assert.match(message, /the engine of the script failed/, way)
        assert.isAtMost(count, way === "bytes" ? 5 : 11, way)
        assert.isTrue(hasEnded, way)
      }
    })
  )

  it.live("an engine that cannot be loaded is a clear failure", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const entry = new URL("./fixtures/missing.ts", import.meta.url)
        const thread = yield* SandboxThread.start(CodeModeLimits, () => undefined, entry)
        const failure = yield* Effect.flip(thread.ready)
        assert.match(failure.message, /could not be loaded; see the log/)
      })
    )
  )
})
