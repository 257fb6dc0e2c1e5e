/**
 * Client tools from an `effect/ai` Toolkit: any toolkit written for `LanguageModel`, unchanged. product section 4.
 */
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json } from "../protocol/Json.ts"
import { ToolRefused } from "./AgentErrors.ts"
import type { ClientTools } from "./ClientTool.ts"
import { jsonOf } from "./JsonOf.ts"
import * as Registry from "./Registry.ts"
import type { ToolCall } from "./ToolCall.ts"
import { runOf } from "./ToolkitRun.ts"
import { inputSchemaOf } from "./ToolkitSchema.ts"

/** Annotation of a tool: `timeout_ms` of its descriptor, 1000 to 300000. Default 30000. */
export const TimeoutMs = Context.Reference<number | undefined>("magi-code/client/ToolTimeoutMs", {
  defaultValue: () => undefined
})

type AnyTools = Record<string, Tool.Any>

/**
 * What a toolkit needs when it is made into client tools: its handlers, and what its tools depend on, but for `ToolCall`,
 * which every call brings.
 */
export type Requirements<Tools extends AnyTools> =
  | Tool.HandlersFor<Tools>
  | Exclude<Tool.HandlerServices<Tools[keyof Tools]>, ToolCall>

/**
 * Checks the tools, each under `client__` and its name. A success becomes the structured value, encoded by its schema; a
 * typed failure an `error` reply with its message and its encoded form; `needsApproval` asks the agent's approver.
 *
 * A `RegExp` with the `u` flag in the parameters becomes a `pattern`, which is matched in linear time before the parameters are
 * decoded. One without it is no pattern of JSON Schema: `effect` leaves it out, and it stays in the toolkit's own decoder.
 */
export const make = <Tools extends AnyTools>(
  toolkit: Toolkit.Toolkit<Tools>
): Effect.Effect<ClientTools, ToolRefused, Requirements<Tools>> =>
  Effect.gen(function* () {
    const handlers = yield* toolkit
    const context = yield* Effect.context<Requirements<Tools>>()
    const drafts: Array<Registry.Draft> = []
    for (const tool of Object.values(toolkit.tools)) {
      const draft = draftOf(tool, (schema) => runOf({ tool, handlers, context, schema }))
      drafts.push(yield* Effect.fromResult(draft))
    }
    return yield* Registry.make(drafts)
  })

/** True for a value that is a toolkit of this or another copy of `effect`. */
export const isToolkit = (value: unknown): value is Toolkit.Toolkit<AnyTools> =>
  Predicate.hasProperty(value, TOOLKIT) && Predicate.hasProperty(value, "tools") && Predicate.isObject(value.tools)

/** The mark of every toolkit, which `effect/ai` has and does not export. */
const TOOLKIT = "~effect/ai/Toolkit"

/** A tool before its descriptor is checked. Exported for `check`, which tells every tool's fault. */
export const draftOf = (
  tool: Tool.Any,
  build: (schema: Parameters<Registry.Draft["build"]>[1]) => ReturnType<Registry.Draft["build"]>
): Result.Result<Registry.Draft, ToolRefused> => {
  const refuse = (reason: string, path?: string) =>
    Result.fail(new ToolRefused({ tool: String(tool.name), reason, ...(path === undefined ? {} : { path }) }))
  if (Tool.isProviderDefined(tool)) return refuse("is run by a provider and has no handler here")
  const schema = schemaOf(tool)
  if (Result.isFailure(schema)) return refuse(schema.failure.message, `/input_schema${schema.failure.path ?? ""}`)
  const timeout = Context.get(tool.annotations, TimeoutMs)
  return Result.succeed({
    name: String(tool.name),
    descriptor: {
      description: descriptionOf(tool),
      input_schema: schema.success,
      ...(timeout === undefined ? {} : { timeout_ms: timeout })
    },
    build: (_, compiled) => build(compiled)
  })
}

/** A raw JSON Schema (`Tool.dynamic`) is taken as it is; the parameters of any other tool become one. */
const schemaOf = (tool: Tool.Any): Result.Result<Json, { readonly message: string; readonly path?: string }> => {
  if (!Tool.isDynamic(tool) || tool.jsonSchema === undefined) return inputSchemaOf(tool.parametersSchema)
  return Result.map(jsonOf(tool.jsonSchema), (json) => json ?? {})
}

/** A descriptor cannot do without a description, a tool for `LanguageModel` can: its title or its name stands in. */
const descriptionOf = (tool: Tool.Any): string =>
  [Tool.getDescription(tool), Context.getOrUndefined(tool.annotations, Tool.Title)].find(
    (text) => text !== undefined && text.trim() !== ""
  ) ?? String(tool.name)
