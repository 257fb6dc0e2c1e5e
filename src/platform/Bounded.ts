/**
 * Ends in time what may not end by itself.
 *
 * `Effect.timeout` cannot bound an uninterruptible effect: it waits for the loser. Closing a scope waits for its
 * finalizers. Where the protocol promises "within two seconds", the work runs in a fiber of its own, and the waiting,
 * not the work, is bounded: past its time the work is abandoned, and whoever asked is told so.
 */
import { Clock, Duration, Effect, type Exit, Fiber, Option } from "effect"

/** A timer so late, in milliseconds, was held up with the whole process: then so was what it waits for. */
const HELD_UP_MS = 20

/** Lets everything be seen that happened outside meanwhile: what is read or ended comes in one turn of the loop, its fibers in the next. */
const catchUp: Effect.Effect<void> = Effect.callback((resume) => {
  let turn = setImmediate(() => {
    turn = setImmediate(() => resume(Effect.void))
  })
  return Effect.sync(() => clearImmediate(turn))
})

/**
 * The exit of a fiber if it comes within `millis`; `None` when it did not. Waits also in a finalizer of an interrupted
 * fiber, where an interruptible wait would be cut off at once: the waiting has a fiber of its own that ends by its time.
 * After a process was held up (stopped, starved, blocked) timers come before everything else: an exit of the meantime is
 * looked for before there is none.
 */
export const exitWithin = <A, E>(
  fiber: Fiber.Fiber<A, E>,
  millis: number
): Effect.Effect<Option.Option<Exit.Exit<A, E>>> =>
  Effect.gen(function* () {
    const time = Math.max(0, millis)
    const late = yield* makeBudget(time + HELD_UP_MS)
    const wait = Effect.gen(function* () {
      const exit = yield* Effect.timeoutOption(Fiber.await(fiber), time)
      if (Option.isSome(exit)) return exit
      if ((yield* late.left()) === 0) yield* catchUp
      return Option.fromUndefinedOr(fiber.pollUnsafe())
    })
    return yield* Fiber.join(yield* Effect.forkDetach(wait, { startImmediately: true }))
  })

/**
 * Runs `cleanup` and waits at most `millis` for it. `false`: it was abandoned (log it). Its fiber, as that of the waiting,
 * has no owning scope: it exists precisely because its owner must not wait for the work longer than this.
 * docs/concurrency.md lists the few places that have them.
 */
export const bounded = <A, E, R>(cleanup: Effect.Effect<A, E, R>, millis: number): Effect.Effect<boolean, never, R> =>
  Effect.gen(function* () {
    const work = yield* Effect.forkDetach(cleanup, { startImmediately: true })
    return Option.isSome(yield* exitWithin(work, millis))
  })

/**
 * One absolute deadline that an outermost closing scope owns and hands down. Nested waits draw on the same clock, so
 * they do not add up (base-protocol section 3, Closing).
 */
export interface Budget {
  /** Monotonic nanoseconds at which the budget is spent. */
  readonly deadline: bigint
  /** Milliseconds left, never negative; optionally of an earlier point in the budget. */
  readonly left: (until?: number) => Effect.Effect<number>
}

/** A budget of `millis` that begins now. */
export const makeBudget = (millis: number): Effect.Effect<Budget> =>
  Effect.map(Clock.monotonicTimeNanos, (start) => ({
    deadline: start + Duration.toNanosUnsafe(Duration.millis(millis)),
    left: (until = millis) =>
      Effect.map(Clock.monotonicTimeNanos, (now) => Math.max(0, until - Number(now - start) / 1_000_000))
  }))
