/**
 * Frames on their way to the agent: placed synchronously, written in order, one at a time. A frame that the agent does
 * not take within two seconds of its turn is a stalled pipe. product section 5, Time.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import type { AgentLink } from "./AgentLink.ts"
import * as ClientMetrics from "./ClientMetrics.ts"

/** How long the agent may take to take one frame. */
export const STALL_MS = 2000
/** Far above what sixteen calls and their replies need: an agent that asks and never reads is a stalled pipe too. */
const MOST_BYTES = 16_777_216

/** Why nothing can be written any more. */
export interface WriteFault {
  readonly reason: "broken_pipe" | "stalled"
  readonly description: string
}

const stalled: WriteFault = { reason: "stalled", description: `it did not take a frame within ${STALL_MS} ms` }
const flooded: WriteFault = { reason: "stalled", description: `it left ${MOST_BYTES} bytes of frames unread` }
const broken: WriteFault = { reason: "broken_pipe", description: "it takes no more input (EPIPE)" }

/** The one writer of a connection. */
export interface FrameQueue {
  /** Gives a frame (an envelope without its LF) its place. False: the queue has failed or was ended. */
  readonly place: (envelope: string) => boolean
  /** EOF after what has a place; after a failure at once. Nothing is placed any more. */
  readonly end: Effect.Effect<void>
  /** The first fault; never ends otherwise. */
  readonly fault: Effect.Effect<WriteFault>
}

const encoder = new TextEncoder()

/** Starts the writer fiber in the current scope. */
export const make = Effect.fnUntraced(function* (link: AgentLink) {
  const frames = yield* Queue.unbounded<Uint8Array | "end">()
  const fault = Deferred.makeUnsafe<WriteFault>()
  const context = yield* Effect.context<never>()
  let waiting = 0
  let queued = 0
  let open = true

  const count = (change: 1 | -1) => {
    queued += change
    ClientMetrics.queuedFrames.updateUnsafe(queued, context)
  }
  const fail = (why: WriteFault) => {
    open = false
    Deferred.doneUnsafe(fault, Exit.succeed(why))
  }
  const writeNext = Effect.gen(function* () {
    const frame = yield* Queue.take(frames)
    if (frame === "end") {
      yield* link.end
      return yield* Effect.never
    }
    const why = yield* link.write(frame).pipe(
      Effect.as(undefined),
      Effect.orElseSucceed(() => broken),
      Effect.timeoutOrElse({ duration: STALL_MS, orElse: () => Effect.succeed(stalled) })
    )
    waiting -= frame.length
    count(-1)
    if (why === undefined) return
    fail(why)
    return yield* Effect.never
  })
  yield* Effect.forkScoped(Effect.forever(writeNext))

  return {
    place: (envelope) => {
      if (!open) return false
      const bytes = encoder.encode(`${envelope}\n`)
      waiting += bytes.length
      if (waiting > MOST_BYTES) {
        fail(flooded)
        return false
      }
      count(1)
      return Queue.offerUnsafe(frames, bytes)
    },
    end: Effect.suspend(() => {
      open = false
      if (Deferred.isDoneUnsafe(fault)) return link.dropInput
      Queue.offerUnsafe(frames, "end")
      return Effect.void
    }),
    fault: Deferred.await(fault)
  } satisfies FrameQueue
})
