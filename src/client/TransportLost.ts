/** The one error of a connection that has ended before its time. product sections 4 and 5. */
import * as Data from "effect/Data"

/** What ended the connection. */
export type LossCause =
  /** The agent's process ended. */
  | "exit"
  /** The agent closed its stdout and lives on. */
  | "eof"
  /** The agent takes no more input (EPIPE). */
  | "broken_pipe"
  /** The agent did not take a frame within two seconds. */
  | "stalled"
  /** A frame that is not clean: size, UTF-8, JSON, envelope, sequence, or the data of an event that a run depends on. */
  | "unclean_frame"
  /** The agent says that a frame of ours was unreadable: an error envelope whose id is null. */
  | "rejected_frame"
  /** More calls than a client remembers. */
  | "too_many_calls"
  /** Our own side closed the agent; not a fault of the agent. */
  | "closed"

/**
 * The agent is gone, or cannot be trusted to speak the protocol any more. Every waiting request fails with it within a
 * second, all handlers are interrupted, and nothing is replayed.
 */
export class TransportLost extends Data.TaggedError("TransportLost")<{
  readonly reason: LossCause
  /** One bounded line without a value of any frame. */
  readonly description: string
  /** `null`: still running when this was made, or ended by a signal. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** The end of what the agent wrote to its stderr, at most 64 KiB. Raw text of another program: escape it to show it. */
  readonly stderrTail: string
}> {
  override get message(): string {
    const how =
      this.signal !== null ? `, ended by ${this.signal}` : this.exitCode !== null ? `, exit code ${this.exitCode}` : ""
    return `the agent was lost: ${this.description}${how}`
  }
}
