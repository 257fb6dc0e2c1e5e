/** Bytes in, bytes out: what a connection needs of the world. base-protocol section 1. */
import { Context, Data, type Effect } from "effect"

/** The pipe broke. `reason` is for the log; it carries no bytes of any frame. */
export class TransportFailed extends Data.TaggedError("TransportFailed")<{ readonly reason: string }> {}

/** A connection's two directions of bytes. */
export interface TransportShape {
  /** The next bytes in order; `null` at EOF, and again on every read after it. */
  readonly read: Effect.Effect<Uint8Array | null, TransportFailed>
  /**
   * Ends when all bytes are handed over to the other side's pipe. Never called concurrently. Interrupting it abandons
   * the wait, not the bytes: after that the transport counts as failed.
   */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, TransportFailed>
}

/** The transport of a connection: `fromStreams`, `makeMemoryPair`, or one of your own. */
export class Transport extends Context.Service<Transport, TransportShape>()("magi-code/transport/Transport") {}
