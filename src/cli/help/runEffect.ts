/** Runs a command's effect; a typed failure becomes one line for a person. Ctrl-C interrupts it: its scopes close. */
import { Cause, Effect, Exit, Result } from "effect"
import { CommandFailed, Interrupted } from "./errors.ts"

export const runEffect = async <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>): Promise<A> => {
  const abort = new AbortController()
  const stop = () => abort.abort()
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  try {
    const exit = await Effect.runPromiseExit(effect, { signal: abort.signal })
    if (Exit.isSuccess(exit)) return exit.value
    if (abort.signal.aborted) throw new Interrupted("interrupted")
    const failure = Cause.findError(exit.cause)
    if (Result.isSuccess(failure)) throw new CommandFailed(failure.success.message, { cause: failure.success })
    throw Cause.squash(exit.cause)
  } finally {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
  }
}
