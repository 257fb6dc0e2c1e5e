/**
 * How a client reaches an agent: bytes both ways, and how the agent's end is learned and brought about. A child process
 * is one (`AgentProcess`); a pair in memory another, for tests and for an agent embedded in the same program.
 */
import * as Effect from "effect/Effect"
import type { Budget } from "../platform/Bounded.ts"
import type { TransportShape } from "../transport/Transport.ts"

/** What is known of an agent's end, for the error that tells of it. */
export interface AgentEnd {
  /** `null`: still running, or ended by a signal. */
  readonly exitCode: number | null
  /** The name of the signal that ended it. */
  readonly signal: string | null
  /** The end of its stderr, at most 64 KiB of raw text. */
  readonly stderrTail: string
}

/** One agent within reach: bytes both ways, and its end. What is written is taken in order; `read` gives `null` at EOF. */
export interface AgentLink extends TransportShape {
  /** EOF to the agent, after everything written. Idempotent. */
  readonly end: Effect.Effect<void>
  /** EOF to the agent at once, dropping what it did not take. Idempotent. */
  readonly dropInput: Effect.Effect<void>
  /** Ends when the agent's process has ended. */
  readonly exited: Effect.Effect<void>
  /** What is known of its end, after waiting for more of it for at most `millis`. */
  readonly describeEnd: (millis: number) => Effect.Effect<AgentEnd>
  /** Ends the agent and all it started within the budget; what closing means after EOF was given (`end`). */
  readonly close: (budget: Budget) => Effect.Effect<void>
}

const unknownEnd: AgentEnd = { exitCode: null, signal: null, stderrTail: "" }

/** A link over one end of a pair of transports in memory (`transport/MemoryTransport`). */
export const fromTransport = (end: TransportShape & { readonly close: Effect.Effect<void> }): AgentLink => ({
  read: end.read,
  write: end.write,
  end: end.close,
  dropInput: end.close,
  exited: Effect.never,
  describeEnd: () => Effect.succeed(unknownEnd),
  close: () => end.close
})
