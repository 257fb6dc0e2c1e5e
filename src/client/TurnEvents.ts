/**
 * What a turn tells as it happens: the agent's events as received, and the replies that were sent, in one order. What is
 * not read is bounded in bytes; first what the protocol lets anyone drop is dropped.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { EventsOverflow } from "./AgentErrors.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import type { TransportLost } from "./TransportLost.ts"

/** A reply to a call was handed to the pipe. */
export interface ReplySent {
  readonly _tag: "Reply"
  /** The call that it answers. */
  readonly callId: string
  /** Of the reply. */
  readonly status: "success" | "error"
  /** Monotonic nanoseconds. */
  readonly at: bigint
}

/** What a turn tells: the agent's events, and the replies that this client sends to its calls; told apart by `_tag`. */
export type TurnEvent = AgentEvent | ReplySent

/** Bytes of unread events before droppable ones are dropped, and before the reader is told that it lost the thread. */
const DROP_AT_BYTES = 8_388_608
const MOST_BYTES = 16_777_216
const REPLY_BYTES = 256

const isDroppable = (event: AgentEvent) => event.event === "message.delta" || event.event === "activity.updated"

interface Queued {
  readonly event: TurnEvent
  readonly bytes: number
}

type EndOfEvents = TransportLost | EventsOverflow | Cause.Done

/** One turn's events. Everything but reading is synchronous. */
export class TurnEvents {
  readonly #queue: Queue.Queue<Queued, EndOfEvents>
  #unread = 0
  #open = true

  private constructor(queue: Queue.Queue<Queued, EndOfEvents>) {
    this.#queue = queue
  }

  static readonly make: Effect.Effect<TurnEvents> = Effect.map(
    Queue.unbounded<Queued, EndOfEvents>(),
    (queue) => new TurnEvents(queue)
  )

  received(event: AgentEvent, bytes: number): void {
    if (!isDroppable(event) || this.#unread <= DROP_AT_BYTES) this.#offer(event, bytes)
  }

  replied(callId: string, status: "success" | "error", at: bigint): void {
    this.#offer({ _tag: "Reply", callId, status, at }, REPLY_BYTES)
  }

  /** Nothing follows; what is queued is still read. */
  end(): void {
    this.#open = false
    Queue.endUnsafe(this.#queue)
  }

  /** What is queued is still read, then the stream fails. */
  fail(error: TransportLost): void {
    this.#open = false
    Queue.failCauseUnsafe(this.#queue, Cause.fail(error))
  }

  /** To be read once. */
  get stream(): Stream.Stream<TurnEvent, TransportLost | EventsOverflow> {
    return Stream.map(Stream.fromQueue(this.#queue), (queued) => {
      this.#unread -= queued.bytes
      return queued.event
    })
  }

  #offer(event: TurnEvent, bytes: number): void {
    if (!this.#open) return
    if (this.#unread + bytes > MOST_BYTES) {
      this.#open = false
      Queue.failCauseUnsafe(this.#queue, Cause.fail(new EventsOverflow({ bytes: MOST_BYTES })))
      Queue.shutdownUnsafe(this.#queue)
      return
    }
    this.#unread += bytes
    Queue.offerUnsafe(this.#queue, { event, bytes })
  }
}
