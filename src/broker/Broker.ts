/**
 * The client-tool broker: 16 pending calls, one absolute deadline a call, one winner (client-tools; base-protocol section 6).
 */
import { Context, type Effect } from "effect"
import type { EffectiveDescriptor } from "../protocol/Descriptor.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { AgentIdentity, ToolFailure, ToolOutput } from "../tools/Tool.ts"

export interface ClientCall {
  readonly identity: AgentIdentity
  readonly tool: EffectiveDescriptor
  /** The final arguments, after hooks. */
  readonly arguments: JsonObject
  /** The required append of the call's start; run while the call holds its slot and before its deadline begins. */
  readonly started: Effect.Effect<void, ToolFailure>
  /** Called synchronously when the call event has taken its place in the writer. */
  readonly published: (callId: string) => void
  /** Called once, when the call has ended: for the timeline. Never called for a call that got no slot. */
  readonly observed?: (times: CallTimes) => void
}

/** When a call went through its states, in monotonic milliseconds of this process, and who ended it. No values. */
export interface CallTimes {
  readonly callId: string
  readonly registeredMs: number
  readonly publishedMs: number | null
  readonly deadlineMs: number | null
  readonly settledMs: number
  readonly winner: "reply" | "deadline" | "cancel" | "run_finished" | "shutdown" | "failed"
}

export interface BrokerShape {
  /**
   * Takes a slot, records the start, sets the deadline, publishes, and waits for the first of accepted reply, deadline,
   * cancellation and closing. A client's `error` reply fails with `client_tool_error` and its protected text.
   *
   * Interrupting the fiber is the cancellation, and it is answered with an ending, never with an interruption: the call
   * fails with `client_tool_cancelled`, or gives the result that was accepted before. So run it in an uninterruptible
   * region (it makes its own wait interruptible): otherwise an accepted result could be lost on the way out, and
   * section 6 wants it appended with its own status also when the run is cancelled afterwards.
   */
  readonly call: (call: ClientCall) => Effect.Effect<ToolOutput, ToolFailure>
  /** Settles what is still pending of a run, with reason `run_finished`. */
  readonly endRun: (runId: string) => Effect.Effect<void>
  readonly pending: Effect.Effect<number>
  /**
   * `client.tool.result`: checks a reply in the order of section 6. Replies must be given one after the other, in the order
   * read. `acknowledge` gives the response its place in the writer; it is called in the step that settles the call, and
   * only then. A refusal leaves the call as it was.
   */
  readonly reply: (params: JsonObject, acknowledge: () => void) => Effect.Effect<ReplyVerdict>
  /** Closing: ends every pending call with reason `shutdown` in one step; no call is taken any more. */
  readonly close: Effect.Effect<void>
}

export type ReplyVerdict =
  | { readonly _tag: "Accepted" }
  | {
      readonly _tag: "Refused"
      readonly code: "invalid_params" | "stale_client_tool_call"
      readonly message: string
      readonly path?: string
    }

export class Broker extends Context.Service<Broker, BrokerShape>()("magi-code/broker/Broker") {}
