import { stat } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { bounded } from "../../src/platform/Bounded.ts"

describe("bounded", () => {
  it.effect(
    "waits for work that ends in time and abandons, at its time exactly, uninterruptible work that does not",
    () =>
      Effect.gen(function* () {
        assert.isTrue(yield* bounded(Effect.void, 10))
        const fiber = yield* Effect.forkChild(bounded(Effect.uninterruptible(Effect.never), 500))
        yield* TestClock.adjust(499)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        assert.isFalse(yield* Fiber.join(fiber))
      })
  )

  it.effect("waits in a finalizer of an interrupted fiber as well", () =>
    Effect.gen(function* () {
      const up = yield* Deferred.make<void>()
      let cleaned = false
      const cleanup = Effect.andThen(
        Effect.sleep(100),
        Effect.sync(() => (cleaned = true))
      )
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            yield* Effect.addFinalizer(() => bounded(cleanup, 500))
            yield* Deferred.succeed(up, undefined)
            return yield* Effect.never
          })
        )
      )
      yield* Deferred.await(up)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust(99)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(interrupting)
      assert.isTrue(cleaned)
    })
  )

  /** Nothing of this process runs meanwhile; what others do for it goes on. */
  const holdUp = (millis: number) =>
    Effect.sync(() => {
      for (const until = performance.now() + millis; performance.now() < until; );
    })

  it.live("work that was done while the whole process was held up is not abandoned; other work is", () =>
    Effect.gen(function* () {
      for (const [work, inTime] of [
        [Effect.promise(() => stat(import.meta.filename)), true],
        [Effect.sleep(1000), false],
        [Effect.never, false]
      ] as const) {
        const fiber = yield* Effect.forkChild(bounded(work, 50), { startImmediately: true })
        yield* holdUp(200)
        assert.strictEqual(yield* Fiber.join(fiber), inTime)
      }
    })
  )

  it.effect("bounds the closing of a scope whose finalizer hangs", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.addFinalizer(scope, Effect.never)
      const fiber = yield* Effect.forkChild(bounded(Scope.close(scope, Exit.void), 300))
      yield* TestClock.adjust(300)
      assert.isFalse(yield* Fiber.join(fiber))
    })
  )
})
