/**
 * Client tools without Effect: an array of objects with an `execute` function. product sections 1 and 5.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import { ToolRefused } from "./AgentErrors.ts"
import { type ArgumentsSchema, mismatchText } from "./ArgumentsSchema.ts"
import { type ClientTool, type ClientTools, ToolFailed } from "./ClientTool.ts"
import { jsonOf } from "./JsonOf.ts"
import * as Registry from "./Registry.ts"
import { type Ending, ToolCall, type ToolCallShape } from "./ToolCall.ts"
import { notJsonText, resultOf, textOfThrow } from "./ToolResultOf.ts"

/** What `execute` learns of its call. */
export interface PlainToolContext {
  /** Aborts on cancel, deadline and transport loss; its reason is a `CallEnded`. */
  readonly signal: AbortSignal
  /** Milliseconds to the deadline, never negative. */
  readonly remainingMs: () => number
  /** The call, unique in its agent's process. */
  readonly callId: string
  /** The run that it belongs to. */
  readonly runId: string
  /** The root session, also of a subagent's call. */
  readonly sessionId: string
  /** The task of the subagent that calls; `null` where the run itself does. */
  readonly taskId: string | null
  /** The subagent that calls; `null` where the run itself does. */
  readonly subagentId: string | null
}

/** A tool as a plain object with a function. product section 1, `--tools`. */
export interface PlainTool {
  /** With or without `client__`. */
  readonly name: string
  /** For the model; 1 to 2048 bytes. */
  readonly description: string
  /** The bounded subset of JSON Schema of client-tools.md; its root has `"type": "object"`. */
  readonly input_schema: JsonObject
  /** 1000 to 300000; default 30000. */
  readonly timeout_ms?: number
  /**
   * Runs with arguments that match the schema. A string is the text; `{ text?, structured?, status? }` says more; any other
   * JSON value is the structured one. A throw is an `error` reply with the error's message. Text and value together have at
   * most 32768 bytes; a result that is larger, or is not JSON, becomes an `error` reply.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what the arguments are, and the compiler cannot read it
  readonly execute: (args: any, context: PlainToolContext) => unknown
}

/** The reason of a call's signal. */
export class CallEnded extends Error {
  override readonly name = "AbortError"
  /** What ended it; `undefined` while that is not known. */
  readonly ending: Ending | undefined

  constructor(ending: Ending | undefined) {
    super(`the call has ended (${ending ?? "interrupted"})`)
    this.ending = ending
  }
}

/** Checks the tools and compiles their schemas. Nothing of them runs. */
export const make = (tools: ReadonlyArray<PlainTool>): Effect.Effect<ClientTools, ToolRefused> => fromUnknown(tools)

/** The same for what a file exports, whatever that is. */
export const fromUnknown = (tools: ReadonlyArray<unknown>): Effect.Effect<ClientTools, ToolRefused> =>
  Effect.flatMap(
    Effect.forEach(tools, (tool, index) => Effect.fromResult(draftOf(tool, index))),
    Registry.make
  )

const described = ["description", "input_schema", "timeout_ms"]
const known = new Set(["name", "execute", ...described])

/** A tools file can hold anything, whatever the types say. Exported for `check`, which tells every tool's fault. */
export const draftOf = (tool: unknown, index: number): Result.Result<Registry.Draft, ToolRefused> => {
  const refuse = (reason: string, path?: string, name = `number ${index + 1}`) =>
    Result.fail(new ToolRefused({ tool: name, reason, ...(path === undefined ? {} : { path }) }))
  if (typeof tool !== "object" || tool === null) return refuse("is not an object")
  const name: unknown = Reflect.get(tool, "name")
  if (typeof name !== "string") return refuse("must have a name, a string", "/name")
  const execute: unknown = Reflect.get(tool, "execute")
  if (typeof execute !== "function") return refuse("must have a function execute", "/execute", name)
  const unknown = Object.keys(tool).find((key) => !known.has(key))
  if (unknown !== undefined) return refuse("unknown member", JsonPointer.join("", unknown), name)
  const descriptor: Array<readonly [string, Json]> = []
  for (const member of described) {
    const json = jsonOf(Reflect.get(tool, member))
    if (Result.isFailure(json)) return refuse(json.failure.message, `/${member}${json.failure.path}`, name)
    if (json.success !== undefined) descriptor.push([member, json.success])
  }
  return Result.succeed({
    name,
    descriptor: Object.fromEntries(descriptor),
    build: (_, schema) => runOf(tool, execute, schema)
  })
}

const runOf =
  // biome-ignore lint/complexity/noBannedTypes: what a tools file exports as execute
    (tool: object, execute: Function, schema: ArgumentsSchema): ClientTool["run"] =>
    (args) =>
      Effect.gen(function* () {
        const mismatch = schema.mismatch(args)
        if (mismatch !== undefined) return yield* new ToolFailed({ text: mismatchText(mismatch) })
        const call = yield* ToolCall
        const clock = yield* Clock.Clock
        const run = (signal: AbortSignal) => Reflect.apply(execute, tool, [args, contextOf(call, clock, signal)])
        const returned = yield* awaited(run, call)
        const result = resultOf(returned)
        if (Result.isFailure(result)) return yield* new ToolFailed({ text: notJsonText(result.failure) })
        return result.success
      })

/**
 * Runs the function to its end. Interruption aborts the signal and then waits: what the function still does is its cleanup,
 * which the call's owner bounds.
 */
const awaited = (run: (signal: AbortSignal) => unknown, call: ToolCallShape): Effect.Effect<unknown, ToolFailed> =>
  Effect.callback((resume) => {
    const controller = new AbortController()
    const running = (async () => run(controller.signal))()
    running.then(
      (value) => resume(Effect.succeed(value)),
      (thrown: unknown) => resume(Effect.fail(new ToolFailed({ text: textOfThrow(thrown) })))
    )
    return Effect.andThen(
      Effect.map(call.ending, (ending) => controller.abort(new CallEnded(ending))),
      Effect.promise(() => running.then(ignore, ignore))
    )
  })

const ignore = () => {}

const contextOf = (call: ToolCallShape, clock: Clock.Clock, signal: AbortSignal): PlainToolContext => ({
  signal,
  remainingMs: () => Math.max(0, Number(call.deadline - clock.monotonicTimeNanosUnsafe()) / 1_000_000),
  callId: call.identity.call_id,
  runId: call.identity.run_id,
  sessionId: call.identity.session_id,
  taskId: call.identity.task_id,
  subagentId: call.identity.subagent_id
})
