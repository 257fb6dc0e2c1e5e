/**
 * What the end of a call becomes: for the model, in history and cards, as an activity. base-protocol section 6 ("What an
 * ending becomes"; failures that end a call inside the backend).
 */
import { Cause, Effect, Exit, Option } from "effect"
import type { ProtectedResultsShape, ResultRejected, ResultValue } from "../broker/ProtectedResult.ts"
import { truncateText } from "../protocol/CompactJson.ts"
import type { ToolFailureCode } from "../protocol/ErrorCode.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import type { RecordedOutcome, ToolStatus } from "../store/SessionRecord.ts"
import { ToolFailure, type ToolOutput } from "../tools/Tool.ts"
import { CLIENT_PREFIX } from "./Permissions.ts"
import type { Stop } from "./RunState.ts"

export interface CallEnding {
  readonly status: ToolStatus
  readonly outcome: RecordedOutcome
  /** `null` on success. */
  readonly code: ToolFailureCode | null
}

/** A failure's message holds what a tool says of itself; it is not a second way for output. Compact bytes. */
const MESSAGE_BYTES = 2048

const valueOf = (output: ToolOutput): ResultValue => ({
  text: output.text,
  ...(output.structured === undefined ? {} : { structured: output.structured })
})

const rejected = (error: ResultRejected): ToolFailure =>
  error.rule === "too_large"
    ? new ToolFailure({
        code: "result_too_large",
        message: `the result is larger than ${ClientToolLimits.result_bytes} bytes and was not used`
      })
    : new ToolFailure({ code: "result_rejected", message: `the result was not used: ${error.message}` })

/** Client results were protected before they were accepted; all others are now. */
const protect = (results: ProtectedResultsShape, output: ToolOutput): Effect.Effect<ResultValue, ToolFailure> =>
  output.isProtected
    ? Effect.succeed(valueOf(output))
    : Effect.mapError(results.protect(valueOf(output), ClientToolLimits.result_bytes), rejected)

const failed = (failure: ToolFailure, value: ResultValue, message: string): CallEnding => ({
  status: failure.ending ?? "failure",
  outcome: { success: false, ...value, error: { code: failure.code, message } },
  code: failure.code
})

/** The ending of a failure whose message is ours. */
export const ofFailure = (failure: ToolFailure): CallEnding =>
  failed(failure, { text: failure.message }, failure.message)

/** How a call ends that is cancelled before it has an ending of its own. */
export const cancellation = (name: string, stop: Stop | undefined): ToolFailure => {
  const closing = stop?._tag === "Closing"
  const code = !name.startsWith(CLIENT_PREFIX)
    ? "tool_failed"
    : closing
      ? "client_tool_unavailable"
      : "client_tool_cancelled"
  return new ToolFailure({
    code,
    message: closing ? "the agent is closing; the call was not completed" : "the call was cancelled",
    ending: closing ? "interrupted" : "cancelled"
  })
}

const failureOf = (
  name: string,
  cause: Cause.Cause<ToolFailure>,
  stop: Stop | undefined
): Effect.Effect<ToolFailure> => {
  const error = Cause.findErrorOption(cause)
  if (Option.isSome(error)) return Effect.succeed(error.value)
  if (Cause.hasInterrupts(cause)) return Effect.succeed(cancellation(name, stop))
  return Effect.as(
    Effect.logError("a tool failed unexpectedly", cause),
    new ToolFailure({ code: "tool_failed", message: "the tool failed unexpectedly; see the log of the agent" })
  )
}

/** The message of a client call is one of our fixed texts; a hook, a tool or an operating system may put anything in one. */
const messageOf = (results: ProtectedResultsShape, failure: ToolFailure): Effect.Effect<string> =>
  failure.code.startsWith("client_tool_")
    ? Effect.succeed(failure.message)
    : Effect.map(results.maskText(failure.message), (text) => truncateText(text, MESSAGE_BYTES))

/** The ending of a call from the exit of its tool; `None` when it was abandoned. */
export const ofExit = (options: {
  readonly name: string
  readonly exit: Option.Option<Exit.Exit<ToolOutput, ToolFailure>>
  readonly stop: Stop | undefined
  readonly results: ProtectedResultsShape
}): Effect.Effect<CallEnding> =>
  Effect.gen(function* () {
    const { name, exit, stop, results } = options
    if (Option.isNone(exit)) return ofFailure(cancellation(name, stop))
    if (Exit.isSuccess(exit.value)) {
      const value = yield* Effect.result(protect(results, exit.value.value))
      return value._tag === "Success"
        ? { status: "success", outcome: { success: true, ...value.success, error: null }, code: null }
        : ofFailure(value.failure)
    }
    const failure = yield* failureOf(name, exit.value.cause, stop)
    const message = yield* messageOf(results, failure)
    if (!failure.output) return failed(failure, { text: message }, message)
    const value = yield* Effect.result(protect(results, failure.output))
    return value._tag === "Success"
      ? failed(failure, value.success, message)
      : failed(value.failure, { text: value.failure.message }, value.failure.message)
  })
