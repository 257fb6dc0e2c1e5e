/** What OpenAi.ts and Anthropic.ts share: from attempts to a LanguageModel. */
import { Effect, Redacted, Stream } from "effect"
import { LanguageModel, type Response, Tool } from "effect/ai"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import type { ModelSettings, ProviderSettings } from "../../settings/Settings.ts"
import { type Asked, attempt } from "./Attempt.ts"
import { checkConfigured } from "./Configured.ts"
import type { ModelFailure } from "./Models.ts"
import { failure, toAiError } from "./ProviderFailure.ts"
import { IDLE_MS } from "./ProviderFetch.ts"
import { wellFormed } from "./ProviderText.ts"
import { retrying } from "./Retry.ts"

export interface ProviderOptions {
  readonly provider: ProviderSettings
  readonly model: ModelSettings
  /** The provider's name in the settings: messages say it. */
  readonly name: string
  /** How long a provider may be silent; `IDLE_MS` unless a test says otherwise. */
  readonly idleMs?: number
}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
}

/** The tools of a request in its order, their schemas unchanged: a provider may refuse one, we never widen it. */
export const offeredTools = (tools: ReadonlyArray<Tool.Any>): ReadonlyArray<OfferedTool> =>
  tools.map((tool) => {
    const schema = wellFormed(Tool.getJsonSchema(tool) as Json)
    return {
      name: tool.name,
      description: (Tool.getDescription(tool) ?? "").toWellFormed(),
      schema: isJsonObject(schema) ? schema : {}
    }
  })

/** The key to send; `null` for a server that wants none. Fails where something is missing. */
export const keyOf = (options: ProviderOptions): Effect.Effect<string | null, ModelFailure> => {
  const missing = checkConfigured(options.provider)
  if (missing !== undefined) {
    return Effect.fail(failure("provider_failed", `provider "${options.name}" is not configured: ${missing}`))
  }
  const key = options.provider.api_key
  return Effect.succeed(key === null || Redacted.value(key) === "" ? null : Redacted.value(key))
}

/** What every attempt of a request is told, but for how it is sent. */
export const factsOf = (
  options: ProviderOptions,
  apiKey: string | null,
  tools: ReadonlyArray<OfferedTool>
): Pick<Asked, "facts" | "idleMs"> => ({
  facts: {
    provider: options.name,
    model: options.model.id,
    apiKeyEnv: options.provider.api_key_env,
    apiKey,
    tools: tools.map((tool) => tool.name)
  },
  idleMs: options.idleMs ?? IDLE_MS
})

/** Streamed texts and calls as a whole response. */
const whole = (parts: ReadonlyArray<Response.StreamPartEncoded>): Array<Response.PartEncoded> => {
  const text = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
  const others = parts.filter((part) => part.type === "tool-call" || part.type === "finish")
  return text === "" ? others : [{ type: "text", text }, ...others]
}

/** A LanguageModel that asks as `ask` says, with our retries. Only text is offered, no structured output. */
export const languageModel = (
  module: string,
  ask: (options: LanguageModel.ProviderOptions) => Asked
): Effect.Effect<LanguageModel.LanguageModel> => {
  const stream = (options: LanguageModel.ProviderOptions) =>
    options.responseFormat.type === "json"
      ? Stream.fail(toAiError(module, failure("provider_failed", "structured output is not offered")))
      : Stream.suspend(() => retrying(attempt(ask(options)))).pipe(
          Stream.mapError((failed) => toAiError(module, failed))
        )
  return LanguageModel.make({
    streamText: stream,
    generateText: (options) => Effect.map(Stream.runCollect(stream(options)), whole)
  })
}
