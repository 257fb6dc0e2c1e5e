/**
 * Runs a command's effect; a typed failure becomes one line for a person. Ctrl-C interrupts it, and so does a stdout that
 * nobody reads any more: its scopes close.
 */
import { Cause, Effect, Exit, Result } from "effect"
import { whenOutputCloses } from "./closedOutput.ts"
import { CommandFailed, Interrupted } from "./errors.ts"
import { withHint } from "./hints.ts"

export const runEffect = async <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>): Promise<A> => {
  const abort = new AbortController()
  const stop = () => abort.abort()
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  const asBefore = whenOutputCloses(stop)
  try {
    const exit = await Effect.runPromiseExit(effect, { signal: abort.signal })
    if (Exit.isSuccess(exit)) return exit.value
    if (abort.signal.aborted) throw new Interrupted("interrupted")
    const failure = Cause.findError(exit.cause)
    if (Result.isSuccess(failure)) {
      const { success } = failure
      const code = "kind" in success && typeof success.kind === "string" ? success.kind : undefined
      throw new CommandFailed(withHint(success.message, code), { cause: success })
    }
    throw Cause.squash(exit.cause)
  } finally {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
    asBefore()
  }
}
