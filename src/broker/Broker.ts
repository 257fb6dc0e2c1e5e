/**
 * The client-tool broker: 16 pending calls, one absolute deadline a call, one winner (client-tools; base-protocol section 6).
 */
import { Context, type Effect } from "effect"
import type { JsonObject } from "../protocol/Json.ts"
import type { EffectiveDescriptor } from "../protocol/Descriptor.ts"
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
}

export class Broker extends Context.Service<Broker, BrokerShape>()("magi-code/broker/Broker") {}
