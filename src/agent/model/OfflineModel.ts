/**
 * The offline model: the embedded default, without any network. It behaves like a provider, and like one it has no memory
 * of its own: what it says next follows from the prompt it is given, so it goes on where a session was left.
 *
 * product section 3: a script of the settings, a script of the prompt, a plain rule, in this order.
 */
import { readFile } from "node:fs/promises"
import { Effect, Result, Stream } from "effect"
import { LanguageModel, type Prompt, type Response } from "effect/ai"
import { stringify } from "../../protocol/CompactJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import type { ModelFailure } from "./Models.ts"
import { callFor, listOfTools, type RuleTool } from "./OfflineRule.ts"
import { decodeScript, PAST_THE_END, SCRIPT_PREFIX, type ScriptCall, type Step } from "./OfflineScript.ts"
import { offeredTools } from "./Provider.ts"
import { failure, METADATA_KEY, toAiError } from "./ProviderFailure.ts"
import { PartialCall } from "./ResponseCalls.ts"

const MODULE = "Offline"

/** Characters of one streamed piece of text. */
const PIECE = 512

/** A result as the model sees it (`Transcript.modelResult`), with the tool's name. */
interface SeenResult {
  readonly name: string
  readonly result: JsonObject
}

/** Where a conversation stands: the last prompt, how many responses it has had, and the results of the last of them. */
interface Standing {
  readonly prompt: string
  readonly responses: number
  readonly results: ReadonlyArray<SeenResult>
}

const userText = (message: Prompt.UserMessage): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("")

const resultsOf = (message: Prompt.ToolMessage): ReadonlyArray<SeenResult> =>
  message.content.flatMap((part) => {
    if (part.type !== "tool-result") return []
    const result = part.result as Json
    return [{ name: part.name, result: isJsonObject(result) ? result : { success: !part.isFailure, content: result } }]
  })

const standingOf = (prompt: Prompt.Prompt): Standing => {
  let standing: Standing = { prompt: "", responses: 0, results: [] }
  for (const message of prompt.content) {
    if (message.role === "user") standing = { prompt: userText(message), responses: 0, results: [] }
    else if (message.role === "assistant") {
      standing = { ...standing, responses: standing.responses + 1, results: [] }
    } else if (message.role === "tool") {
      standing = { ...standing, results: [...standing.results, ...resultsOf(message)] }
    }
  }
  return standing
}

/** One compact line each, in call order: `{"name","success","content","error"?}`. */
const resultLines = (results: ReadonlyArray<SeenResult>): string =>
  results.map(({ name, result }) => stringify({ name, ...result })).join("\n")

/** What a tool said, for an answer to a person. */
const spoken = ({ name, result }: SeenResult): string => {
  const content = result["content"]
  const text =
    isJsonObject(content) && typeof content["text"] === "string" ? content["text"] : stringify(content ?? null)
  return result["success"] === true ? text : `${name} failed: ${text}`
}

const ruleStep = (standing: Standing, tools: ReadonlyArray<RuleTool>): Step => {
  const say = (text: string): Step => ({ ...PAST_THE_END, text })
  if (standing.responses > 0) return say(standing.results.map(spoken).join("\n"))
  const call = callFor(standing.prompt, tools)
  return call ? { ...PAST_THE_END, text: "", calls: [{ ...call, raw: false }] } : say(listOfTools(tools))
}

const scriptStep = (steps: ReadonlyArray<Step>, standing: Standing): Step => {
  const step = steps[standing.responses] ?? PAST_THE_END
  // A function: what stands in the results is not a replacement pattern.
  return { ...step, text: step.text.replaceAll("{{results}}", () => resultLines(standing.results)) }
}

const callPart = (call: ScriptCall, id: string): Response.StreamPartEncoded => {
  if (call.raw && typeof call.arguments === "string") {
    const partial = new PartialCall()
    partial.name = call.name
    partial.append(call.arguments)
    return partial.part(id, false)
  }
  const name = call.name.toWellFormed()
  return isJsonObject(call.arguments)
    ? { type: "tool-call", id, name, params: call.arguments }
    : { type: "tool-call", id, name, params: {}, metadata: { [METADATA_KEY]: { invalidArguments: "not_an_object" } } }
}

/** Pieces of at most `PIECE` characters that divide none. */
const pieces = (text: string): ReadonlyArray<string> => {
  const characters = [...text]
  const out: Array<string> = []
  for (let from = 0; from < characters.length; from += PIECE) out.push(characters.slice(from, from + PIECE).join(""))
  return out
}

const partsOf = (step: Step, response: number): ReadonlyArray<Response.StreamPartEncoded> => [
  ...(step.text === ""
    ? []
    : [
        { type: "text-start" as const, id: "text" },
        ...pieces(step.text).map((delta) => ({ type: "text-delta" as const, id: "text", delta })),
        { type: "text-end" as const, id: "text" }
      ]),
  ...step.calls.map((call, at) => callPart(call, `call_${response}_${at}`)),
  {
    type: "finish",
    reason: step.calls.length > 0 ? "tool-calls" : "stop",
    // It tells no usage: there is none.
    usage: { inputTokens: {}, outputTokens: {} }
  }
]

const errors = {
  unavailable: failure("provider_unavailable", "the offline model is unavailable, as its script says"),
  rejected: failure("provider_failed", "the offline model rejects the request, as its script says")
} as const

const readScript = (path: string): Effect.Effect<ReadonlyArray<Step>, ModelFailure> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => failure("provider_failed", `the offline model's script ${path} cannot be read`)
  }).pipe(
    Effect.flatMap((text) => {
      const steps = decodeScript(text)
      return Result.isSuccess(steps)
        ? Effect.succeed(steps.success)
        : Effect.fail(failure("provider_failed", `the offline model's script ${path}: ${steps.failure}`))
    })
  )

/** The response to a prompt. */
const stepFor = (
  standing: Standing,
  script: ReadonlyArray<Step> | null,
  tools: ReadonlyArray<RuleTool>
): Result.Result<Step, ModelFailure> => {
  if (script !== null) return Result.succeed(scriptStep(script, standing))
  const { prompt } = standing
  if (!prompt.startsWith(SCRIPT_PREFIX)) return Result.succeed(ruleStep(standing, tools))
  const steps = decodeScript(prompt.slice(SCRIPT_PREFIX.length))
  return Result.isSuccess(steps)
    ? Result.succeed(scriptStep(steps.success, standing))
    : Result.fail(failure("provider_failed", `the script in the prompt: ${steps.failure}`))
}

/** `script`: the absolute path of the settings' script, or `null`. */
export const make = (options: {
  readonly script: string | null
}): Effect.Effect<LanguageModel.LanguageModel, ModelFailure> =>
  Effect.gen(function* () {
    const script = options.script === null ? null : yield* readScript(options.script)

    const respond = (asked: LanguageModel.ProviderOptions) =>
      Effect.gen(function* () {
        const standing = standingOf(asked.prompt)
        const step = stepFor(standing, script, offeredTools(asked.tools))
        if (Result.isFailure(step)) return yield* toAiError(MODULE, step.failure)
        const { delay_ms, error } = step.success
        if (delay_ms > 0) yield* Effect.sleep(delay_ms)
        if (error !== null) return yield* toAiError(MODULE, errors[error])
        return partsOf(step.success, standing.responses)
      })

    return yield* LanguageModel.make({
      streamText: (asked) => Stream.unwrap(Effect.map(respond(asked), (parts) => Stream.fromIterable(parts))),
      generateText: (asked) =>
        Effect.map(respond(asked), (parts): Array<Response.PartEncoded> => {
          const text = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
          const others = parts.filter((part) => part.type === "tool-call" || part.type === "finish")
          return text === "" ? others : [{ type: "text", text }, ...others]
        })
    })
  })
