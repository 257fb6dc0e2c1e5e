/**
 * Reads a Chat Completions stream: what OpenAI, llama.cpp, Ollama, vLLM and many others send. The package's types say what
 * should come; servers differ, so everything is taken as unknown and looked at.
 */
import type { Response } from "effect/ai"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { type AttemptFailed, refused, unavailable } from "./ProviderFailure.ts"
import { callParts, MAX_CALLS, PartialCall } from "./ResponseCalls.ts"
import { count, type Parts, type ResponseReader, rest, TextStream } from "./ResponseReader.ts"

const finishReasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter"
}

const object = (value: Json | undefined): JsonObject | undefined => (isJsonObject(value) ? value : undefined)
const array = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])
const string = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** The text of a delta: a string, or (Mistral) an array of typed parts, of which only `text` ones are for the user. */
const textOf = (content: Json | undefined): string => {
  if (typeof content === "string") return content
  return array(content)
    .map((part) => (object(part)?.["type"] === "text" ? string(object(part)?.["text"]) : ""))
    .join("")
}

export class OpenAiReader implements ResponseReader<Json> {
  private readonly provider: string
  private readonly text = new TextStream("text")
  private readonly refusal = new TextStream("refusal")
  private readonly calls: Array<PartialCall> = []
  /** Calls by the `index` that their pieces name. */
  private readonly byIndex = new Map<number, PartialCall>()
  private sawEvents = false
  private sawChoices = false
  private sawRefusal = false
  private finish: string | undefined = undefined
  private usage: JsonObject | undefined = undefined

  constructor(provider: string) {
    this.provider = provider
  }

  push(chunk: Json): Parts | AttemptFailed {
    const event = object(chunk)
    this.sawEvents = true
    if (event === undefined) return []
    this.usage = object(event["usage"]) ?? object(object(event["x_groq"])?.["usage"]) ?? this.usage
    if (!Array.isArray(event["choices"])) return []
    this.sawChoices = true
    const parts: Array<Response.StreamPartEncoded> = []
    for (const item of array(event["choices"])) {
      const choice = object(item)
      // Only one choice is asked for; a server that sends more is read by its first.
      if (choice === undefined || (count(choice["index"]) ?? 0) !== 0) continue
      const delta = object(choice["delta"]) ?? object(choice["message"])
      if (delta !== undefined) {
        const refusal = string(delta["refusal"])
        if (refusal !== "") this.sawRefusal = true
        parts.push(...this.text.push(textOf(delta["content"])), ...this.refusal.push(refusal))
        for (const piece of array(delta["tool_calls"])) this.pushCall(object(piece))
        if (this.calls.length > MAX_CALLS) {
          return refused(
            "provider_failed",
            `provider "${this.provider}" sent more than ${MAX_CALLS} tool calls in one response`
          )
        }
      }
      if (typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "") {
        this.finish = choice["finish_reason"]
      }
    }
    return parts
  }

  end(complete: boolean): Parts | AttemptFailed {
    if (!this.sawChoices) {
      return complete || this.sawEvents
        ? refused("provider_failed", `provider "${this.provider}" did not answer with a Chat Completions stream`)
        : unavailable(`provider "${this.provider}" ended its response before it began`)
    }
    if (this.finish === undefined && !complete) {
      return unavailable(`provider "${this.provider}" was lost in the middle of a response`)
    }
    const reason = this.reason()
    const cut = reason === "length" || reason === "content-filter"
    return [
      ...this.text.end(),
      ...this.refusal.end(),
      ...callParts(this.calls, cut),
      { type: "finish", reason, usage: this.usageOf() }
    ]
  }

  private reason(): Response.FinishReason {
    if (this.sawRefusal) return "content-filter"
    if (this.finish === undefined) return this.calls.length > 0 ? "tool-calls" : "unknown"
    const reason = finishReasons[this.finish] ?? "other"
    // Some servers end a response with calls by "stop".
    return reason === "stop" && this.calls.length > 0 ? "tool-calls" : reason
  }

  /** Which call a piece belongs to: by index, by id, or (neither) the last one. */
  private callOf(piece: JsonObject, named: boolean): PartialCall {
    const id = string(piece["id"])
    const index = count(piece["index"])
    const last = this.calls.at(-1)
    let call = index === undefined ? this.calls.find((one) => id !== "" && one.id === id) : this.byIndex.get(index)
    if (index === undefined && id === "" && !(named && last?.hasArguments)) call = last
    // One index for several calls (some servers always send 0): another id together with a name begins another call.
    if (call !== undefined && named && id !== "" && call.id !== "" && call.id !== id) call = undefined
    if (call !== undefined) return call
    const fresh = new PartialCall()
    this.calls.push(fresh)
    if (index !== undefined) this.byIndex.set(index, fresh)
    return fresh
  }

  private pushCall(piece: JsonObject | undefined): void {
    if (piece === undefined) return
    const fn = object(piece["function"])
    const name = string(fn?.["name"])
    const call = this.callOf(piece, name !== "")
    if (call.id === "") call.id = string(piece["id"])
    // A name may come in pieces, or whole with every piece.
    if (name !== "" && name !== call.name && !call.hasArguments) call.name += name
    const args = fn?.["arguments"]
    if (typeof args === "string") call.append(args)
    else if (isJsonObject(args)) call.append(JSON.stringify(args))
  }

  private usageOf(): Response.FinishPartEncoded["usage"] {
    const input = count(this.usage?.["prompt_tokens"])
    const output = count(this.usage?.["completion_tokens"])
    const cacheRead = count(object(this.usage?.["prompt_tokens_details"])?.["cached_tokens"])
    const reasoning = count(object(this.usage?.["completion_tokens_details"])?.["reasoning_tokens"])
    return {
      inputTokens: { uncached: rest(input, cacheRead), total: input, cacheRead, cacheWrite: undefined },
      outputTokens: { total: output, text: rest(output, reasoning), reasoning }
    }
  }
}
