/**
 * The `anthropic` kind of provider: the Messages API, streamed, through the official package, with prompt caching.
 *
 * product section 2 (providers).
 */
import Anthropic from "@anthropic-ai/sdk"
import { Effect } from "effect"
import type { LanguageModel } from "effect/ai"
import { AnthropicReader } from "./AnthropicEvents.ts"
import type { Asked } from "./Attempt.ts"
import type { ModelFailure } from "./Models.ts"
import { factsOf, keyOf, languageModel, offeredTools, type ProviderOptions } from "./Provider.ts"
import { type Exchange, providerFetch } from "./ProviderFetch.ts"
import type { Refusal } from "./Refusal.ts"
import { type WireMessage, wireHistory } from "./WireHistory.ts"

const PUBLIC_URL = "https://api.anthropic.com"

type Request = Anthropic.MessageCreateParamsStreaming
type Effort = NonNullable<Anthropic.OutputConfig["effort"]>
type Block = Anthropic.TextBlockParam | Anthropic.ToolUseBlockParam | Anthropic.ToolResultBlockParam
type Role = "user" | "assistant"

/** The API refuses any other id of a call. */
const validId = /^[A-Za-z0-9_-]{1,64}$/

const cached = { cache_control: { type: "ephemeral" as const } }

const blocks = (message: WireMessage): { readonly role: Role; readonly content: ReadonlyArray<Block> } => {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text }] }
    case "results":
      return {
        role: "user",
        content: message.results.map((result) => ({
          type: "tool_result",
          tool_use_id: result.id,
          content: result.text,
          ...(result.isError ? { is_error: true } : {})
        }))
      }
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: "tool_use" as const,
            id: call.id,
            name: call.name,
            input: call.params
          }))
        ]
      }
  }
}

/**
 * Alternating turns that begin with the user. The last block of the last two user turns is marked for the cache: the one
 * is written now, the other was written by the request before.
 */
const conversation = (history: ReadonlyArray<WireMessage>): Array<Anthropic.MessageParam> => {
  const turns: Array<{ role: Role; content: Array<Block> }> = []
  for (const message of history) {
    const { role, content } = blocks(message)
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content: [...content] })
  }
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: [{ type: "text", text: "(continued)" }] })
  for (const turn of turns.filter((one) => one.role === "user").slice(-2)) {
    const last = turn.content.pop()
    if (last !== undefined) turn.content.push({ ...last, ...cached })
  }
  return turns
}

const toolChoice = (choice: LanguageModel.ProviderOptions["toolChoice"]): Pick<Request, "tool_choice"> => {
  if (choice === "auto") return {}
  if (choice === "none") return { tool_choice: { type: "none" } }
  if (choice === "required") return { tool_choice: { type: "any" } }
  if ("tool" in choice) return { tool_choice: { type: "tool", name: choice.tool } }
  return choice.mode === "required" ? { tool_choice: { type: "any" } } : {}
}

/** As the settings say it: which efforts there are, the server knows. */
const effortOf = ({ model }: ProviderOptions): Pick<Request, "output_config"> =>
  model.reasoning_effort === undefined ? {} : { output_config: { effort: model.reasoning_effort as Effort } }

const refusal = (error: unknown): Refusal | undefined =>
  error instanceof Anthropic.APIError &&
  !(error instanceof Anthropic.APIConnectionError) &&
  !(error instanceof Anthropic.APIUserAbortError)
    ? { status: error.status, headers: error.headers, error: error.error }
    : undefined

/** The model; fails where the provider's key is missing. No request is made. */
export const make = (options: ProviderOptions): Effect.Effect<LanguageModel.LanguageModel, ModelFailure> =>
  Effect.gen(function* () {
    const { model, provider } = options
    const key = yield* keyOf(options)
    const client = (exchange: Exchange) =>
      // Everything that the package would otherwise read from the environment or from its own files is given.
      new Anthropic({
        baseURL: provider.base_url ?? PUBLIC_URL,
        apiKey: key ?? "none",
        webhookKey: null,
        maxRetries: 0,
        timeout: 2_000_000_000,
        logLevel: "off",
        openTelemetry: false,
        fetch: providerFetch(exchange, key !== null)
      })
    return yield* languageModel("Anthropic", (asked): Asked => {
      const tools = offeredTools(asked.tools)
      const history = wireHistory(asked.prompt, validId)
      const request: Request = {
        model: model.id,
        max_tokens: model.max_output_tokens,
        messages: conversation(history.messages),
        stream: true,
        // Tools come before the system prompt in what is cached: one mark covers both.
        ...(history.system === "" ? {} : { system: [{ type: "text", text: history.system, ...cached }] }),
        // Not in the package's types any more; asked for in the settings, it is sent, and a model may refuse it.
        ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
        ...effortOf(options),
        ...(tools.length === 0
          ? {}
          : {
              tools: tools.map(({ name, description, schema }) => ({
                name,
                ...(description === "" ? {} : { description }),
                input_schema: { ...schema, type: "object" as const }
              })),
              ...toolChoice(asked.toolChoice)
            })
      }
      return {
        ...factsOf(options, key, tools),
        reader: () => new AnthropicReader(options.name),
        open: (exchange) =>
          client(exchange).messages.create(request, { signal: exchange.controller.signal, maxRetries: 0 }),
        refusal
      }
    })
  })
