/** One request to the model: its response streamed, and put together. base-protocol section 5 (`message.delta`, usage). */
import { Effect, Stream } from "effect"
import type { Prompt, Response } from "effect/ai"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import type { TokenUsage } from "../store/SessionRecord.ts"
import type { CatalogToolkit } from "./Catalog.ts"
import type { ModelFailure, ModelHandle } from "./model/Models.ts"
import { METADATA_KEY, modelFailure } from "./model/ProviderFailure.ts"

export interface ModelCall {
  readonly providerCallId: string
  readonly name: string
  /** `null` when they were not a JSON object by base-protocol section 1; `invalid` then names the rule. */
  readonly arguments: JsonObject | null
  readonly invalid: string | null
}

export interface ModelResponse {
  readonly text: string
  /** In the order of the response. */
  readonly calls: ReadonlyArray<ModelCall>
  /** `null` when the provider told none. */
  readonly usage: TokenUsage | null
}

// The models' contract (model/Models.ts): arguments come from JSON that was parsed strictly.
const isArguments = (params: unknown): params is JsonObject => isJsonObject(params as Json)

const ruleBroken = (metadata: Response.ProviderMetadata): string | undefined => {
  const own = metadata[METADATA_KEY]
  if (typeof own !== "object" || own === null || !("invalidArguments" in own)) return undefined
  return typeof own.invalidArguments === "string" ? own.invalidArguments : "not JSON"
}

const callOf = (part: {
  readonly id: string
  readonly name: string
  readonly params: unknown
  readonly metadata: Response.ProviderMetadata
}): ModelCall => {
  const rule = ruleBroken(part.metadata)
  const call = { providerCallId: part.id, name: part.name }
  if (rule !== undefined) return { ...call, arguments: null, invalid: rule }
  return isArguments(part.params)
    ? { ...call, arguments: part.params, invalid: null }
    : { ...call, arguments: null, invalid: "not_an_object" }
}

const usageOf = (usage: Response.Usage): TokenUsage | null => {
  const input = usage.inputTokens.total
  const output = usage.outputTokens.total
  return input === undefined && output === undefined ? null : { input_tokens: input ?? 0, output_tokens: output ?? 0 }
}

/** Asks, handing each piece of text to `onText` as it comes. */
export const ask = (options: {
  readonly model: ModelHandle
  readonly prompt: Prompt.Prompt
  readonly toolkit: CatalogToolkit
  readonly onText: (text: string) => Effect.Effect<void>
}): Effect.Effect<ModelResponse, ModelFailure> =>
  Effect.gen(function* () {
    let text = ""
    let usage: TokenUsage | null = null
    const calls: Array<ModelCall> = []
    yield* options.model.languageModel
      .streamText({
        prompt: options.prompt,
        toolkit: options.toolkit,
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      })
      .pipe(
        Stream.runForEach((part) => {
          switch (part.type) {
            case "text-delta":
              text += part.delta
              return options.onText(part.delta)
            case "tool-call":
              calls.push(callOf(part))
              return Effect.void
            case "finish":
              usage = usageOf(part.usage)
              return Effect.void
            case "error":
              return Effect.fail(modelFailure(part.error))
            default:
              return Effect.void
          }
        }),
        Effect.mapError(modelFailure)
      )
    return { text, calls, usage }
  }).pipe(Effect.withSpan("model.request", { attributes: { model: options.model.model } }))
