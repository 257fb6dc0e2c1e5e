/** Client tools as the agent's handlers run them, whatever they were made from. product section 4. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { EffectiveDescriptor } from "../protocol/Descriptor.ts"
import type { Json, JsonObject } from "../protocol/Json.ts"
import type { ToolCall } from "./ToolCall.ts"

/** What a tool says. Not yet measured: a reply that breaks a bound becomes an `error` reply (product section 5, Replies). */
export interface ToolReplyValue {
  readonly status: "success" | "error"
  readonly text: string
  /** Absent when there is none; an explicit `null` is a value. */
  readonly structured?: Json
}

/** A failure that the model may read: its text becomes an `error` reply. */
export class ToolFailed extends Data.TaggedError("ToolFailed")<{
  readonly text: string
  readonly structured?: Json
}> {}

/** A tool that can be registered: what the model is told of it, and what answers its calls. */
export interface ClientTool {
  readonly descriptor: EffectiveDescriptor
  /**
   * Validates the arguments and runs the handler. Its interruption is the call's cancellation: it ends when the handler's
   * finalizers are through. A defect becomes a generic `error` reply.
   */
  readonly run: (args: JsonObject) => Effect.Effect<ToolReplyValue, ToolFailed, ToolCall>
}

/** A checked registry: names are unique and every bound of client-tools.md holds. */
export interface ClientTools {
  readonly tools: ReadonlyArray<ClientTool>
}

/** No tools: `client.tools` is then not negotiated. */
export const none: ClientTools = { tools: [] }
