/** base-protocol section 4: bounded, "whatever hangs". */
import { stat } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { exitOf, within } from "../../src/agent/Abandon.ts"

const keeping = (seen: Array<unknown>, work: Effect.Effect<unknown>) =>
  Effect.uninterruptible(
    Effect.flatMap(
      exitOf(work, () => 100),
      (exit) => Effect.sync(() => seen.push(exit))
    )
  )

const stuck = Effect.uninterruptible(Effect.never)

describe("exitOf", () => {
  it.effect("gives the exit of the work", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* exitOf(Effect.succeed(1), () => 100), Option.some(Exit.succeed(1)))
      assert.deepStrictEqual(yield* exitOf(Effect.fail("no"), () => 100), Option.some(Exit.fail("no")))
    })
  )

  it.effect("interrupted, it waits for work that ends in its grace, and keeps its result", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const work = Effect.uninterruptible(Effect.as(Effect.sleep(50), "ended"))
      const fiber = yield* Effect.forkChild(keeping(seen, work), { startImmediately: true })
      fiber.interruptUnsafe()
      yield* TestClock.adjust(49)
      assert.deepStrictEqual(seen, [])
      yield* TestClock.adjust(1)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(seen, [Option.some(Exit.succeed("ended"))])
    })
  )

  it.effect("abandons work that does not end in its grace", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const fiber = yield* Effect.forkChild(keeping(seen, stuck), { startImmediately: true })
      fiber.interruptUnsafe()
      yield* TestClock.adjust(100)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(seen, [Option.none()])
    })
  )

  it.effect("work does not begin in a fiber that is interrupted already", () =>
    Effect.gen(function* () {
      let began = false
      const work = Effect.sync(() => {
        began = true
      })
      const fiber = yield* Effect.forkChild(
        Effect.uninterruptible(
          Effect.andThen(
            Effect.sleep(10),
            exitOf(work, () => 100)
          )
        ),
        { startImmediately: true }
      )
      fiber.interruptUnsafe()
      yield* TestClock.adjust(10)
      yield* Fiber.await(fiber)
      assert.isFalse(began)
    })
  )
})

describe("within", () => {
  it.effect("bounds work that cannot be interrupted, also in an interrupted fiber", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const fiber = yield* Effect.forkChild(
        Effect.onInterrupt(Effect.never, () =>
          Effect.gen(function* () {
            seen.push(yield* within(Effect.as(Effect.sleep(40), "done"), 50))
            seen.push(yield* within(stuck, 50))
          })
        ),
        { startImmediately: true }
      )
      fiber.interruptUnsafe()
      yield* TestClock.adjust(40)
      assert.deepStrictEqual(seen, [Option.some("done")])
      yield* TestClock.adjust(50)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(seen, [Option.some("done"), Option.none()])
    })
  )
})

describe("within, after the process was held up", () => {
  it.live("gives what was done meanwhile, and its failure; nothing where it was not done", () =>
    Effect.gen(function* () {
      const held = Effect.sync(() => {
        for (const until = performance.now() + 200; performance.now() < until; );
      })
      const read = Effect.promise(() => stat(import.meta.filename))
      const given = yield* Effect.forkChild(within(read, 50), { startImmediately: true })
      const broken = yield* Effect.forkChild(within(Effect.andThen(read, Effect.die("broken")), 50), {
        startImmediately: true
      })
      const late = yield* Effect.forkChild(within(Effect.sleep(1000), 50), { startImmediately: true })
      yield* held
      assert.isTrue(Option.isSome(yield* Fiber.join(given)))
      assert.isTrue(Exit.hasDies(yield* Fiber.await(broken)))
      assert.isTrue(Option.isNone(yield* Fiber.join(late)))
    })
  )
})
