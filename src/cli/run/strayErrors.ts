/**
 * Errors that a tools file leaves behind: a promise that nobody awaits, a throw in a timer. They are told without their
 * message, which may hold arguments, and never as a stack trace. product section 1.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Report } from "./Report.ts"

const kindOf = (thrown: unknown) => (thrown instanceof Error ? thrown.constructor.name : `a thrown ${typeof thrown}`)

/**
 * Listens for as long as the scope is open. A rejected promise is told, and the run goes on; `crashed` ends at the first uncaught exception, after which nothing can be relied on.
 */
export const strayErrors = Effect.fnUntraced(function* (report: Report) {
  const crashed = Deferred.makeUnsafe<void>()
  const onRejection = (thrown: unknown) =>
    report.error(`a promise of a tool was rejected and nobody awaited it (${kindOf(thrown)})`, thrown)
  const onException = (thrown: unknown) => {
    report.error(`an error was thrown outside of any call (${kindOf(thrown)}): the run is ended`, thrown)
    Deferred.doneUnsafe(crashed, Exit.void)
  }
  process.on("unhandledRejection", onRejection)
  process.on("uncaughtException", onException)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      process.off("unhandledRejection", onRejection)
      process.off("uncaughtException", onException)
    })
  )
  return { crashed: Deferred.await(crashed) }
})
