/**
 * The `openai` kind of provider: Chat Completions, streamed, through the official package. With `base_url` it speaks to
 * llama.cpp, Ollama, vLLM and whatever else follows that API.
 *
 * product section 2 (providers).
 */
import { Effect } from "effect"
import type { LanguageModel } from "effect/ai"
import OpenAI from "openai"
import type { Asked } from "./Attempt.ts"
import type { ModelFailure } from "./Models.ts"
import { OpenAiReader } from "./OpenAiChunks.ts"
import { factsOf, keyOf, languageModel, offeredTools, type ProviderOptions } from "./Provider.ts"
import { type Exchange, providerFetch } from "./ProviderFetch.ts"
import type { Refusal } from "./Refusal.ts"
import { type WireMessage, wireHistory } from "./WireHistory.ts"

const PUBLIC_URL = "https://api.openai.com/v1"

type Request = OpenAI.Chat.ChatCompletionCreateParamsStreaming
type Effort = NonNullable<Request["reasoning_effort"]>
type Message = OpenAI.Chat.ChatCompletionMessageParam

/** Ids as they came: only the provider that gave them sees them, unless the selection changed in between. */
const validId = /^[\x21-\x7e]{1,64}$/

const messages = (message: WireMessage): ReadonlyArray<Message> => {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.text }]
    case "results":
      return message.results.map((result) => ({ role: "tool", tool_call_id: result.id, content: result.text }))
    case "assistant": {
      if (message.calls.length === 0) return [{ role: "assistant", content: message.text }]
      const calls = message.calls.map((call) => ({
        id: call.id,
        type: "function" as const,
        function: { name: call.name, arguments: JSON.stringify(call.params) }
      }))
      return [{ role: "assistant", content: message.text === "" ? null : message.text, tool_calls: calls }]
    }
  }
}

const toolChoice = (choice: LanguageModel.ProviderOptions["toolChoice"]): Pick<Request, "tool_choice"> => {
  if (choice === "auto") return {}
  if (choice === "none" || choice === "required") return { tool_choice: choice }
  if ("tool" in choice) return { tool_choice: { type: "function", function: { name: choice.tool } } }
  return choice.mode === "required" ? { tool_choice: "required" } : {}
}

/** OpenAI wants the newer name of the output limit, other servers know the older one. */
const outputLimit = (baseUrl: string, tokens: number): Pick<Request, "max_tokens" | "max_completion_tokens"> =>
  /^https:\/\/[^/]*\.(?:openai\.com|openai\.azure\.com)(?:[:/]|$)/.test(baseUrl)
    ? { max_completion_tokens: tokens }
    : { max_tokens: tokens }

/** As the settings say it: which efforts there are, the server knows. */
const effortOf = ({ model }: ProviderOptions): Pick<Request, "reasoning_effort"> =>
  model.reasoning_effort === undefined ? {} : { reasoning_effort: model.reasoning_effort as Effort }

const refusal = (error: unknown): Refusal | undefined =>
  error instanceof OpenAI.APIError &&
  !(error instanceof OpenAI.APIConnectionError) &&
  !(error instanceof OpenAI.APIUserAbortError)
    ? { status: error.status, headers: error.headers, error: error.error }
    : undefined

/** The model; fails where the provider's key is missing. No request is made. */
export const make = (options: ProviderOptions): Effect.Effect<LanguageModel.LanguageModel, ModelFailure> =>
  Effect.gen(function* () {
    const { model, provider } = options
    const key = yield* keyOf(options)
    const baseURL = provider.base_url ?? PUBLIC_URL
    const client = (exchange: Exchange) =>
      // Everything that the package would otherwise read from the environment is given.
      new OpenAI({
        baseURL,
        apiKey: key ?? "none",
        adminAPIKey: null,
        organization: null,
        project: null,
        webhookSecret: null,
        maxRetries: 0,
        timeout: 2_000_000_000,
        logLevel: "off",
        fetch: providerFetch(exchange, key !== null)
      })
    return yield* languageModel("OpenAi", (asked): Asked => {
      const tools = offeredTools(asked.tools)
      const history = wireHistory(asked.prompt, validId)
      const request: Request = {
        model: model.id,
        messages: [
          ...(history.system === "" ? [] : [{ role: "system" as const, content: history.system }]),
          ...history.messages.flatMap(messages)
        ],
        stream: true,
        stream_options: { include_usage: true },
        ...outputLimit(baseURL, model.max_output_tokens),
        ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
        ...effortOf(options),
        ...(tools.length === 0
          ? {}
          : {
              tools: tools.map(({ name, description, schema }) => ({
                type: "function" as const,
                function: { name, ...(description === "" ? {} : { description }), parameters: schema }
              })),
              ...toolChoice(asked.toolChoice)
            })
      }
      return {
        ...factsOf(options, key, tools),
        reader: () => new OpenAiReader(options.name),
        open: (exchange) =>
          client(exchange).chat.completions.create(request, { signal: exchange.controller.signal, maxRetries: 0 }),
        refusal
      }
    })
  })
