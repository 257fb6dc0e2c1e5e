/**
 * Waits for work in a way that interruption cannot stretch: past its grace the work is abandoned, and whoever waited is
 * told so. For what is bounded by the 1500 ms of `turn.cancel`, "whatever hangs" (base-protocol section 4).
 */
import { Effect, Exit, Fiber, Option } from "effect"
import { exitWithin } from "../platform/Bounded.ts"

/**
 * Runs `work` in a fiber of its own and gives its exit; to be run in an uninterruptible region. Never fails and never ends by
 * interruption: interrupting the waiting fiber interrupts the work, which then has `grace()` milliseconds to end; `None`
 * when it did not and was abandoned.
 *
 * The work begins uninterruptible and says itself where it waits interruptibly: leaving a region of its own, it would be
 * interrupted on the way out and lose the result it has.
 *
 * The fiber has no owning scope for the reason given in `platform/Bounded`: its owner must not wait for it.
 */
export const exitOf = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  grace: () => number
): Effect.Effect<Option.Option<Exit.Exit<A, E>>, never, R> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      // What is interrupted already does not begin.
      const idle = yield* Effect.exit(Effect.interruptible(Effect.void))
      if (idle._tag === "Failure") return Option.some(Exit.failCause(idle.cause))
      const fiber = yield* Effect.forkDetach(work, { startImmediately: true, uninterruptible: true })
      const waited = yield* Effect.exit(Effect.interruptible(Fiber.await(fiber)))
      if (waited._tag === "Success") return Option.some(waited.value)
      fiber.interruptUnsafe()
      return yield* within(Fiber.await(fiber), grace())
    })
  )

/**
 * The result of `work` if it comes within `millis`; past that the work is abandoned. Holds also for work that cannot be
 * interrupted, and in a fiber that is interrupted already: work and waiting have fibers of their own.
 */
export const within = <A, R>(
  work: Effect.Effect<A, never, R>,
  millis: number
): Effect.Effect<Option.Option<A>, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(work, { startImmediately: true })
    const exit = yield* exitWithin(fiber, millis)
    return Option.isNone(exit) ? Option.none() : Option.some(yield* exit.value)
  })
