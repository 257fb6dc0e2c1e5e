/**
 * Ctrl-C. Before the turn has started the first one closes at once; after it, the first cancels the turn and gives it two
 * seconds, a second one closes at once. SIGTERM, SIGHUP and SIGQUIT close at once. product section 5, Time.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

const atOnceSignals = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const

/** How long a cancelled run may take to finish. */
export const CANCEL_MS = 2000

export interface Interrupts {
  /** Waits for the first Ctrl-C. */
  readonly first: Effect.Effect<void>
  /** Waits for what closes at once: a second Ctrl-C, SIGTERM, SIGHUP, SIGQUIT (Ctrl-\\). */
  readonly atOnce: Effect.Effect<void>
  /** Whether any came. */
  readonly any: () => boolean
  /** Whether one came that closes at once. */
  readonly closing: () => boolean
}

/** Listens for as long as the scope is open. */
export const listen: Effect.Effect<Interrupts, never, Scope.Scope> = Effect.gen(function* () {
  const first = Deferred.makeUnsafe<void>()
  const atOnce = Deferred.makeUnsafe<void>()
  const onInterrupt = () => {
    if (!Deferred.doneUnsafe(first, Exit.void)) Deferred.doneUnsafe(atOnce, Exit.void)
  }
  const onTerminate = () => {
    // Who waits for the first may look at once at whether it is to close.
    Deferred.doneUnsafe(atOnce, Exit.void)
    Deferred.doneUnsafe(first, Exit.void)
  }
  process.on("SIGINT", onInterrupt)
  for (const signal of atOnceSignals) process.on(signal, onTerminate)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      process.off("SIGINT", onInterrupt)
      for (const signal of atOnceSignals) process.off(signal, onTerminate)
    })
  )
  return {
    first: Deferred.await(first),
    atOnce: Deferred.await(atOnce),
    any: () => Deferred.isDoneUnsafe(first),
    closing: () => Deferred.isDoneUnsafe(atOnce)
  }
})
