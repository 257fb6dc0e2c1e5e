/** What a handler can know and ask about the call it answers. product section 4. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CallIdentity } from "../protocol/CallIdentity.ts"
import type { CancelReason } from "../protocol/ErrorCode.ts"

/**
 * Why a call ended before its handler did: the agent's reason, the deadline as counted here, the loss of the transport,
 * the closing of the agent, or the last request ids.
 */
export type Ending = CancelReason | "deadline" | "lost" | "closed" | "ids_exhausted"

/** What `ToolCall` offers to a handler. */
export interface ToolCallShape {
  /** All six members: instance, root session and run, call, and the executing subagent's task and activity. */
  readonly identity: CallIdentity
  /** The registered name, `client__` included. */
  readonly name: string
  /** Monotonic nanoseconds of the `Clock` at which the call's time is over. */
  readonly deadline: bigint
  /** Milliseconds to the deadline, never negative; at 0 the handler is being interrupted. */
  readonly remainingMs: Effect.Effect<number>
  /** Why the call was ended; `undefined` while it has not been. For finalizers, which run after it. */
  readonly ending: Effect.Effect<Ending | undefined>
  /**
   * Asks whoever approves for this agent; false when nobody does. `summary` is shown as it is given, escaped. The question
   * ends with the call.
   */
  readonly approve: (summary: string) => Effect.Effect<boolean>
}

/**
 * The call that a handler answers. A tool of an `effect/ai` toolkit declares it in its `dependencies`, or reads it with
 * `Effect.serviceOption`, which needs no declaration.
 */
export class ToolCall extends Context.Service<ToolCall, ToolCallShape>()("magi-code/client/ToolCall") {}
