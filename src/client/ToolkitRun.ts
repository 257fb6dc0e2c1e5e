/** One call of a toolkit's tool: decode, approve, handle, encode. product section 4. */
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as CompactJson from "../protocol/CompactJson.ts"
import type { Json, JsonObject } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import { type ArgumentsSchema, mismatchText } from "./ArgumentsSchema.ts"
import { type ClientTool, ToolFailed, type ToolReplyValue } from "./ClientTool.ts"
import { jsonOf } from "./JsonOf.ts"
import { ToolCall } from "./ToolCall.ts"
import { notJsonText, textOfThrow } from "./ToolResultOf.ts"

/** What a call of a toolkit's tool needs, gathered when the toolkit was made. */
export interface ToolkitCall<Tools extends Record<string, Tool.Any>, R> {
  readonly tool: Tool.Any
  readonly handlers: Toolkit.WithHandler<Tools>
  /** What the toolkit was made with; what a call brings goes before it. */
  readonly context: Context.Context<R>
  readonly schema: ArgumentsSchema
}

/** Runs one call: the schema, the decoder, approval, the handler, and its result encoded. */
export const runOf =
  <Tools extends Record<string, Tool.Any>, R>(options: ToolkitCall<Tools, R>): ClientTool["run"] =>
  (args) => {
    const run = Effect.gen(function* () {
      const { tool } = options
      // The schema first: its patterns are matched in linear time, those of the decoder are not.
      const mismatch = options.schema.mismatch(args)
      if (mismatch !== undefined) return yield* new ToolFailed({ text: mismatchText(mismatch) })
      const params = yield* decode(tool, args)
      const call = yield* ToolCall
      if (yield* needsApproval(tool, params.decoded, call.identity.call_id)) {
        const summary = `${call.name} ${CompactJson.stringify(args)}`
        if (!(yield* call.approve(summary))) return yield* new ToolFailed({ text: "the call was not approved" })
      }
      const result = yield* handle(options, params.encoded, call.identity.call_id)
      return yield* reply(result)
    })
    // What a handler and its schemas require was captured when the toolkit was made, but for the call itself. The compiler
    // cannot follow that through the toolkit's own types.
    const typed = run as Effect.Effect<ToolReplyValue, ToolFailed, R | ToolCall>
    return Effect.updateContext(typed, (current: Context.Context<ToolCall>) => Context.merge(options.context, current))
  }

interface Params {
  /** As the handler sees them. */
  readonly decoded: unknown
  /** As `Toolkit` takes them. */
  readonly encoded: unknown
}

/**
 * JSON becomes the parameters' type by the codec that their JSON Schema describes, and then what the toolkit decodes once
 * more: the two differ where a schema's encoded form is not JSON (a Date, an absent `undefined`).
 */
const decode = (tool: Tool.Any, args: JsonObject): Effect.Effect<Params, ToolFailed, unknown> =>
  Effect.gen(function* () {
    if (!Schema.isSchema(tool.parametersSchema) || isRaw(tool)) return { decoded: args, encoded: args }
    const options = { onExcessProperty: "error" } as const
    const decoded = yield* Effect.mapError(
      Schema.decodeEffect(Schema.toCodecJson(tool.parametersSchema), options)(args),
      (error) => new ToolFailed({ text: mismatchText(mismatchOf(error)) })
    )
    const encoded = yield* Effect.orElseSucceed(Schema.encodeUnknownEffect(tool.parametersSchema)(decoded), () => args)
    return { decoded, encoded }
  })

const isRaw = (tool: Tool.Any): boolean => "jsonSchema" in tool && tool.jsonSchema !== undefined

const standard = SchemaIssue.makeFormatterStandardSchemaV1()

/** Where, without what: a schema's own message may repeat the value. */
const mismatchOf = (error: Schema.SchemaError) => {
  const path = standard(error.issue).issues[0]?.path ?? []
  const segments = path.map((one) => String(typeof one === "object" ? one.key : one))
  return { path: JsonPointer.join("", ...segments), message: "is not what the tool takes" }
}

const needsApproval = (tool: Tool.Any, params: unknown, toolCallId: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { needsApproval: needed } = tool
    if (typeof needed !== "function") return Effect.succeed(needed === true)
    const answer = needed(params, { toolCallId, messages: [] })
    return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
  })

/** Runs the handler; its only result is the final one. */
const handle = <Tools extends Record<string, Tool.Any>, R>(
  { handlers, tool }: ToolkitCall<Tools, R>,
  params: unknown,
  callId: string
) =>
  handlers
    .handle(String(tool.name), params as Tool.ParametersEncoded<Tools[string]>, callId, { onExcessProperty: "error" })
    .pipe(
      Effect.flatMap((results) =>
        results.pipe(
          Stream.mapEffect((result) =>
            result.preliminary
              ? Effect.fail(new ToolFailed({ text: "the tool gives preliminary results, which cannot be sent" }))
              : Effect.succeed(result)
          ),
          Stream.runLast
        )
      ),
      Effect.catchCause((cause) => failureOf(tool, cause)),
      hideParameters
    )

const reply = (result: Option.Option<Tool.HandlerResult<Tool.Any>>): Effect.Effect<ToolReplyValue, ToolFailed> =>
  Effect.gen(function* () {
    if (Option.isNone(result)) return yield* new ToolFailed({ text: "the tool gave no result" })
    const { encodedResult, isFailure, result: value } = result.value
    const json = jsonOf(encodedResult)
    if (isFailure)
      return yield* failed(
        value,
        Result.getOrElse(json, () => undefined)
      )
    if (Result.isFailure(json)) return yield* new ToolFailed({ text: notJsonText(json.failure) })
    return json.success === undefined
      ? { status: "success", text: "" }
      : { status: "success", text: "", structured: json.success }
  })

const failed = (error: unknown, structured: Json | undefined): ToolFailed => {
  const text = textOfThrow(error)
  return structured === undefined ? new ToolFailed({ text }) : new ToolFailed({ text, structured })
}

/** A typed failure with its message and encoded form; what the toolkit itself refused without either. */
const failureOf = (tool: Tool.Any, cause: Cause.Cause<unknown>): Effect.Effect<never, ToolFailed> =>
  Effect.gen(function* () {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error === undefined) return yield* Effect.failCause(cause as Cause.Cause<never>)
    if (error instanceof ToolFailed) return yield* error
    const origin = Context.get(Cause.annotations(cause), Toolkit.FailureOrigin)
    if (origin === "parameters") return yield* new ToolFailed({ text: "the arguments are not what the tool takes" })
    if (origin === "result") return yield* new ToolFailed({ text: "the tool's result is not of its own schema" })
    const encoded = yield* Effect.option(
      Schema.encodeUnknownEffect(tool.failureSchema)(error) as Effect.Effect<unknown, Schema.SchemaError>
    )
    const json = Option.isSome(encoded) ? jsonOf(encoded.value) : undefined
    return yield* failed(error, json === undefined ? undefined : Result.getOrElse(json, () => undefined))
  })

/** `Toolkit` writes the parameters into the current span. Arguments do not belong in traces: it gets one it cannot write to. */
const hideParameters = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.option(Effect.currentSpan), (span) =>
    Option.isNone(span)
      ? effect
      : Effect.withParentSpan(
          effect,
          Tracer.externalSpan({ spanId: span.value.spanId, traceId: span.value.traceId, sampled: span.value.sampled })
        )
  ) as Effect.Effect<A, E, R>
