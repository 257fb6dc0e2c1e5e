/**
 * The calls a script makes: each runs in a fiber of its own, so they are concurrent, and all end with the script.
 *
 * base-protocol section 7.
 */
import { Cause, Effect, Exit, Fiber, Result, Scope } from "effect"
import * as CompactJson from "../../protocol/CompactJson.ts"
import type { Json } from "../../protocol/Json.ts"
import * as StrictJson from "../../protocol/StrictJson.ts"
import type { RecordedOutcome } from "../../store/SessionRecord.ts"
import { within } from "../Abandon.ts"
import { CLEANUP_MS, type CodeModeBounds, size } from "./CodeModeLimits.ts"
import type { CallSettled, FromScript } from "./Messages.ts"

/** Makes a call as the agent that runs the script. Interrupting it cancels the call (`NestedCalls`). */
export type Call = (name: string, args: Json) => Effect.Effect<RecordedOutcome>

type Asked = Extract<FromScript, { type: "call" }>

type Settle = (settled: CallSettled) => Effect.Effect<void>

const failure = (code: string, message: string): RecordedContent => ({
  success: false,
  content: { text: message },
  error: { code, message }
})

type RecordedContent = {
  readonly success: boolean
  readonly content: Json
  readonly error?: { readonly code: string; readonly message: string }
}

/** What `tools.call` gives: the content is the structured value, else the text. */
const resultOf = (outcome: RecordedOutcome): RecordedContent => {
  const content = outcome.structured === undefined ? { text: outcome.text } : outcome.structured
  return outcome.success || outcome.error === null
    ? { success: outcome.success, content }
    : { success: false, content, error: { code: outcome.error.code, message: outcome.error.message } }
}

const jsonOf = (text: string | null): Json => Result.getOrElse(StrictJson.parse(text ?? "null"), () => null)

export interface InnerCalls {
  /** Starts a call. `settle` takes its result to the thread. */
  readonly start: (asked: Asked, settle: Settle) => Effect.Effect<void>
}

/** The calls of one script. Closing the scope cancels what is unfinished and waits for it, within bounds. */
export const make = (bounds: CodeModeBounds, call: Call): Effect.Effect<InnerCalls, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* Scope.make("parallel")
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        const closing = yield* Effect.forkDetach(Scope.close(fibers, Exit.void), { startImmediately: true })
        const closed = yield* within(Fiber.await(closing), CLEANUP_MS)
        if (closed._tag === "None") yield* Effect.logWarning("calls of a script did not stop and were abandoned")
      })
    )
    let bytesLeft = bounds.total_bytes

    const settled = (id: number, result: RecordedContent): CallSettled => {
      const bytes = CompactJson.byteLength(result.content)
      if (bytes > bounds.result_bytes) {
        const message = `the result is larger than ${size(bounds.result_bytes)} and was not used`
        return { type: "settled", id, result: CompactJson.stringify(failure("result_too_large", message)), bytesLeft }
      }
      if (bytes > bytesLeft) {
        const message = `the results of the script's calls are larger than ${size(bounds.total_bytes)} in all; this one was not used`
        return { type: "settled", id, result: CompactJson.stringify(failure("result_too_large", message)), bytesLeft }
      }
      bytesLeft -= bytes
      return { type: "settled", id, result: CompactJson.stringify(result), bytesLeft }
    }

    const answer = (asked: Asked, settle: Settle): Effect.Effect<void> =>
      Effect.gen(function* () {
        const name = jsonOf(asked.name)
        // A name that is not a text any tool can have: nothing of it is repeated.
        const outcome = yield* Effect.exit(call(typeof name === "string" ? name : "", jsonOf(asked.args)))
        if (Exit.isSuccess(outcome)) return yield* settle(settled(asked.id, resultOf(outcome.value)))
        if (Cause.hasInterruptsOnly(outcome.cause)) return yield* Effect.interrupt
        yield* Effect.logError("a call of a script failed unexpectedly", outcome.cause)
        yield* settle(settled(asked.id, failure("tool_failed", "the call failed unexpectedly")))
      })

    return {
      start: (asked, settle) => Effect.asVoid(Effect.forkIn(answer(asked, settle), fibers, { startImmediately: true }))
    }
  })
