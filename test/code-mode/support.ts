/** Scripts in real threads with real engines; the tools they call are stand-ins that the tests control. */
import { readdirSync } from "node:fs"
import { Deferred, Effect, Layer, Result } from "effect"
import { type CodeModeBounds, CodeModeLimits } from "../../src/agent/code-mode/CodeModeLimits.ts"
import type { CodeModeHost } from "../../src/agent/code-mode/Sandbox.ts"
import { Sandbox } from "../../src/agent/code-mode/Sandbox.ts"
import { SandboxPool } from "../../src/agent/code-mode/SandboxPool.ts"
import type { Json } from "../../src/protocol/Json.ts"
import type { RecordedOutcome } from "../../src/store/SessionRecord.ts"

/** Code Mode with its own bounds but for the ones given. */
export const layer = (bounds: Partial<CodeModeBounds> = {}) =>
  Sandbox.layer.pipe(Layer.provideMerge(SandboxPool.layerWith({ ...CodeModeLimits, ...bounds })))

export const structured = (value: Json): RecordedOutcome => ({
  success: true,
  text: "",
  structured: value,
  error: null
})
export const text = (value: string): RecordedOutcome => ({ success: true, text: value, error: null })
export const failure = (
  code: "tool_failed" | "tool_unknown" | "client_tool_error",
  message: string
): RecordedOutcome => ({
  success: false,
  text: message,
  error: { code, message }
})

export interface Call {
  readonly name: string
  readonly args: Json
  /** Ends the call. */
  readonly answer: Deferred.Deferred<RecordedOutcome>
  /** Whether its fiber was interrupted. */
  cancelled: boolean
}

const sleeping = Effect.sleep("2 millis")

/**
 * `client__echo` gives its arguments back, `client__fail` fails, `client__wait` waits until the test answers it, and
 * answers interruption with an ending as the pipeline does. Every other name is unknown.
 */
export const makeHost = (
  tools: CodeModeHost["tools"] = [{ name: "client__echo", description: "Echo.", inputSchema: {} }]
) => {
  const calls: Array<Call> = []
  const outcome = (call: Call): Effect.Effect<RecordedOutcome> => {
    if (call.name === "client__echo") return Effect.succeed(structured(call.args))
    if (call.name === "client__fail") return Effect.succeed(failure("client_tool_error", "broken"))
    if (call.name !== "client__wait") return Effect.succeed(failure("tool_unknown", "no tool of this name"))
    return Effect.uninterruptible(
      Effect.interruptible(Deferred.await(call.answer)).pipe(
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            call.cancelled = true
          })
        )
      )
    )
  }
  const host: CodeModeHost = {
    tools,
    call: (name, args) =>
      Effect.suspend(() => {
        const call: Call = { name, args, answer: Deferred.makeUnsafe(), cancelled: false }
        calls.push(call)
        return outcome(call)
      })
  }
  return {
    host,
    calls,
    /** The calls made so far, once there are `count`. */
    called: (count: number) =>
      Effect.gen(function* () {
        while (calls.length < count) yield* sleeping
        return calls
      })
  }
}

/** What a script returned, or its failure as `code: message`. */
export const run = (code: string, host: CodeModeHost = makeHost().host) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const result = yield* Effect.result(sandbox.run({ code, host }))
    return Result.isSuccess(result) ? result.success : `${result.failure.code}: ${result.failure.message}`
  })

/** Waits until no thread but the spare is left; a test's own time limit bounds it. */
export const onlySpareLeft = Effect.gen(function* () {
  const pool = yield* SandboxPool
  while ((yield* pool.alive) > 1) yield* sleeping
})

/** Threads of this process, as the operating system counts them. */
export const threads = (): number => readdirSync("/proc/self/task").length
