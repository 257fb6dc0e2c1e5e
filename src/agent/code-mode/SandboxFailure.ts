/** Why a script gave no value. base-protocol section 7; the codes are those of section 6. */
import { Data } from "effect"
import type { ToolFailureCode } from "../../protocol/ErrorCode.ts"
import { type CodeModeBounds, RETURNED_DEPTH, size } from "./CodeModeLimits.ts"
import type { FromScript } from "./Messages.ts"

/** `message` names the bound that was hit, or tells of the exception; it is bounded, and for the model. */
export class SandboxFailure extends Data.TaggedError("SandboxFailure")<{
  readonly code: Extract<
    ToolFailureCode,
    "tool_failed" | "tool_timeout" | "tool_invalid_arguments" | "result_too_large"
  >
  readonly message: string
}> {}

const failed = (message: string) => new SandboxFailure({ code: "tool_failed", message })

export const sourceTooLarge = (bounds: CodeModeBounds) =>
  new SandboxFailure({
    code: "tool_invalid_arguments",
    message: `the script is larger than ${size(bounds.source_bytes)} and was not run`
  })

export const outOfTime = (bounds: CodeModeBounds) =>
  new SandboxFailure({
    code: "tool_timeout",
    message: `the script did not end within ${bounds.time_ms / 1000} s (the time its calls and approvals took included) and was stopped`
  })

export const returnedTooLarge = (bounds: CodeModeBounds) =>
  new SandboxFailure({
    code: "result_too_large",
    message: `the returned value is larger than ${size(bounds.returned_bytes)} and was not used`
  })

export const returnedNotJson = (why: string) => failed(`the returned value is not JSON: ${why}`)

export const returnedTooDeep = failed(`the returned value is nested more than ${RETURNED_DEPTH} deep and was not used`)

/** The thread could not be started, or its engine not be loaded: not the script's fault. */
export const engineUnavailable = failed("the engine for scripts could not be loaded; see the log of the agent")

/** The thread ended by itself, or said what no script can make it say. */
export const engineFailed = failed("the engine of the script failed; it may have taken more than its stack or its heap")

/** What the thread said of a script's end. */
export const ofThread = (
  { fault, line, text }: Extract<FromScript, { type: "failed" }>,
  bounds: CodeModeBounds
): SandboxFailure => {
  const place = line === null ? "" : ` at line ${line}`
  switch (fault) {
    case "exception":
      return failed(`the script failed${place}: ${text}`)
    case "value":
      return returnedNotJson(text)
    case "heap":
      return failed(`the script took more than its ${size(bounds.heap_bytes)} of heap and was stopped${place}`)
    case "returned_bytes":
      return returnedTooLarge(bounds)
    case "stuck":
      return failed("the script waits for something that never happens: no call of it is unfinished")
    case "engine":
      return engineFailed
  }
}
