/** Reads a Messages API stream. Blocks that are not text and not a call of our tools (thinking, server tools) are passed over. */
import type { Response } from "effect/ai"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { type AttemptFailed, refused, unavailable } from "./ProviderFailure.ts"
import { callParts, MAX_CALLS, PartialCall } from "./ResponseCalls.ts"
import { count, type Parts, type ResponseReader, TextStream } from "./ResponseReader.ts"

const finishReasons: Readonly<Record<string, Response.FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  pause_turn: "pause",
  refusal: "content-filter"
}

const object = (value: Json | undefined): JsonObject | undefined => (isJsonObject(value) ? value : undefined)
const string = (value: Json | undefined): string => (typeof value === "string" ? value : "")

type Block = { readonly text: TextStream } | { readonly call: PartialCall }

export class AnthropicReader implements ResponseReader<Json> {
  private readonly provider: string
  /** Blocks under way, by their index. */
  private readonly blocks = new Map<number, Block>()
  private readonly calls: Array<PartialCall> = []
  private texts = 0
  private sawEvents = false
  private started = false
  private stopped = false
  private stopReason: string | undefined = undefined
  private readonly usage = new Map<string, number>()

  constructor(provider: string) {
    this.provider = provider
  }

  push(event: Json): Parts | AttemptFailed {
    this.sawEvents = true
    const data = object(event)
    const index = count(data?.["index"]) ?? 0
    switch (data?.["type"]) {
      case "message_start":
        this.started = true
        this.stopped = false
        this.takeUsage(object(object(data["message"])?.["usage"]))
        return []
      case "content_block_start":
        return this.startBlock(index, object(data["content_block"]))
      case "content_block_delta":
        return this.pushDelta(index, object(data["delta"]))
      case "content_block_stop":
        return this.stopBlock(index)
      case "message_delta": {
        this.takeUsage(object(data["usage"]))
        const reason = string(object(data["delta"])?.["stop_reason"])
        if (reason !== "") this.stopReason = reason
        return []
      }
      case "message_stop":
        this.stopped = true
        return []
      default:
        return []
    }
  }

  end(_complete: boolean): Parts | AttemptFailed {
    if (!this.started) {
      return this.sawEvents
        ? refused("provider_failed", `provider "${this.provider}" did not answer with a Messages stream`)
        : unavailable(`provider "${this.provider}" ended its response before it began`)
    }
    if (this.stopReason === undefined && !this.stopped) {
      return unavailable(`provider "${this.provider}" was lost in the middle of a response`)
    }
    const reason = this.stopReason === undefined ? "unknown" : (finishReasons[this.stopReason] ?? "other")
    const open = [...this.blocks.keys()].flatMap((index) => this.stopBlock(index))
    const cut = reason === "length" || reason === "content-filter"
    return [...open, ...callParts(this.calls, cut), { type: "finish", reason, usage: this.usageOf() }]
  }

  private startBlock(index: number, block: JsonObject | undefined): Parts | AttemptFailed {
    const closed = this.stopBlock(index)
    if (block?.["type"] === "text") {
      const text = new TextStream(`text-${this.texts++}`)
      this.blocks.set(index, { text })
      return [...closed, ...text.push(string(block["text"]))]
    }
    if (block?.["type"] === "tool_use") {
      const call = new PartialCall()
      call.id = string(block["id"])
      call.name = string(block["name"])
      // The input is {} here and follows as text; a server that sends it whole is taken at its word.
      const input = object(block["input"])
      if (input !== undefined && Object.keys(input).length > 0) call.append(JSON.stringify(input))
      this.calls.push(call)
      this.blocks.set(index, { call })
      if (this.calls.length > MAX_CALLS) {
        return refused(
          "provider_failed",
          `provider "${this.provider}" sent more than ${MAX_CALLS} tool calls in one response`
        )
      }
    }
    return closed
  }

  private pushDelta(index: number, delta: JsonObject | undefined): Parts {
    const block = this.blocks.get(index)
    if (block === undefined) return []
    if ("text" in block) return delta?.["type"] === "text_delta" ? block.text.push(string(delta["text"])) : []
    if (delta?.["type"] === "input_json_delta") block.call.append(string(delta["partial_json"]))
    return []
  }

  private stopBlock(index: number): Parts {
    const block = this.blocks.get(index)
    this.blocks.delete(index)
    return block !== undefined && "text" in block ? block.text.end() : []
  }

  /** Later counts are cumulative and replace earlier ones; `null` and absent ones do not. */
  private takeUsage(usage: JsonObject | undefined): void {
    for (const [name, value] of Object.entries(usage ?? {})) {
      const tokens = count(value)
      if (tokens !== undefined) this.usage.set(name, tokens)
    }
    const thinking = count(object(usage?.["output_tokens_details"])?.["thinking_tokens"])
    if (thinking !== undefined) this.usage.set("thinking_tokens", thinking)
  }

  private usageOf(): Response.FinishPartEncoded["usage"] {
    const uncached = this.usage.get("input_tokens")
    const cacheRead = this.usage.get("cache_read_input_tokens")
    const cacheWrite = this.usage.get("cache_creation_input_tokens")
    const output = this.usage.get("output_tokens")
    const reasoning = this.usage.get("thinking_tokens")
    const total = uncached === undefined ? undefined : uncached + (cacheRead ?? 0) + (cacheWrite ?? 0)
    const text = output === undefined || reasoning === undefined ? undefined : Math.max(0, output - reasoning)
    return {
      inputTokens: { uncached, total, cacheRead, cacheWrite },
      outputTokens: { total: output, text, reasoning }
    }
  }
}
