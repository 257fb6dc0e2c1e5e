/**
 * The one ordered writer of a process: 32 queued frames, places kept, an absolute two-second deadline for each frame.
 *
 * A frame takes its place synchronously, so that whoever settles a call can settle it and place its acknowledgement in one
 * step. The places beyond the 32 queued frames belong to producers that wait: `admitted` tells them when to go on. A
 * sequence number is given with the place; a place once taken is kept, so the wire has no gap.
 *
 * base-protocol section 3 (Output, Closing).
 */
import { Clock, Context, Deferred, Duration, Effect, Exit, Latch, type Scope } from "effect"
import * as CompactJson from "../protocol/CompactJson.ts"
import * as Envelope from "../protocol/Envelope.ts"
import { DROP_AT_FRAMES, Limits, RESPONSE_BACKLOG_BYTES } from "../protocol/Limits.ts"
import type { FrameWriterShape, OutputEvent, Place } from "./FrameWriter.ts"
import { TransportFailed, type TransportShape } from "./Transport.ts"

interface QueuedFrame {
  readonly bytes: Uint8Array
  /** Monotonic nanoseconds at which its producer asked for the place: the two seconds count from here. */
  readonly askedAt: bigint
  readonly isResponse: boolean
  /** Completed when the frame is one of the 32; absent where it was so at once. */
  readonly admitted: Deferred.Deferred<void> | undefined
}

/** What became of the placed frames. `broken`: the other side is gone; `stalled`: it is there and does not read. */
export type Drained = "written" | "broken" | "stalled"

export interface OrderedWriterShape extends FrameWriterShape {
  /** Gives a response its place, synchronously. The text is a whole envelope without its LF. */
  readonly placeResponse: (envelope: string) => Place
  /** Waits while more than 1 MiB of responses wait: input is not read meanwhile (section 3, Output). */
  readonly backlog: Effect.Effect<void>
  /** Ends when every placed frame is written, or the transport has failed: tells which. */
  readonly drained: Effect.Effect<Drained>
  /** Fails when the pipe broke or a frame was not fully written two seconds after its producer asked. Never succeeds. */
  readonly failure: Effect.Effect<never, TransportFailed>
  /** From here on nothing is placed any more; what has a place is still written. */
  readonly seal: Effect.Effect<void>
  readonly queued: Effect.Effect<number>
}

/** The whole writer; responses belong to the server alone. */
export class OrderedWriter extends Context.Service<OrderedWriter, OrderedWriterShape>()(
  "magi-code/transport/OrderedWriter"
) {}

const encoder = new TextEncoder()
const encodeFrame = (envelope: string): Uint8Array => encoder.encode(`${envelope}\n`)
const CLOSED: Place = { _tag: "Closed" }
const TOO_LARGE: Place = { _tag: "TooLarge" }
const DROPPED: Place = { _tag: "Dropped" }
const QUEUED: Place = { _tag: "Placed", admitted: Effect.void }

/** Starts the writer fiber in the current scope. */
export const make = (options: {
  readonly transport: Pick<TransportShape, "write">
  readonly instanceId: string
}): Effect.Effect<OrderedWriterShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const limit = Limits.pending_output_frames
    const deadlineNanos = Duration.toNanosUnsafe(Duration.millis(Limits.output_deadline_ms))
    const frames: Array<QueuedFrame> = []
    const work = Latch.makeUnsafe(false)
    const failed = Deferred.makeUnsafe<never, TransportFailed>()
    // Completed and replaced at each of its occasions: waiters look again at the state they wait for.
    let progress = Deferred.makeUnsafe<void>()
    let sequence = 0
    let responseBytes = 0
    let sealed = false
    let lost: Drained = "written"

    const signalProgress = () => {
      const waiting = progress
      progress = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(waiting, Exit.void)
    }

    const fail = (error: TransportFailed) => {
      if (!Deferred.doneUnsafe(failed, Exit.fail(error))) return
      sealed = true
      lost = error === stalled ? "stalled" : "broken"
      const skipped = frames.splice(0)
      responseBytes = 0
      for (const frame of skipped) if (frame.admitted) Deferred.doneUnsafe(frame.admitted, Exit.void)
      signalProgress()
    }

    const place = (bytes: Uint8Array, isResponse: boolean): Place => {
      const admitted = frames.length < limit ? undefined : Deferred.makeUnsafe<void>()
      frames.push({ bytes, askedAt: clock.monotonicTimeNanosUnsafe(), isResponse, admitted })
      if (isResponse) responseBytes += bytes.length
      work.openUnsafe()
      return admitted ? { _tag: "Placed", admitted: Deferred.await(admitted) } : QUEUED
    }

    const placeResponse = (envelope: string): Place => {
      if (sealed) return CLOSED
      const bytes = encodeFrame(envelope)
      return bytes.length > Limits.output_frame_bytes ? TOO_LARGE : place(bytes, true)
    }

    const placeEvent = (event: OutputEvent): Place => {
      if (sealed) return CLOSED
      if (event.droppable && frames.length >= DROP_AT_FRAMES) return DROPPED
      // The envelope is one container around `data`.
      if (CompactJson.depth(event.data) + 1 > Limits.json_depth) return TOO_LARGE
      const bytes = encodeFrame(
        Envelope.event({
          event: event.event,
          instance_id: options.instanceId,
          sequence: sequence + 1,
          data: event.data
        })
      )
      if (bytes.length > Limits.output_frame_bytes) return TOO_LARGE
      sequence += 1
      return place(bytes, false)
    }

    const written = (head: QueuedFrame) => {
      if (frames[0] !== head) return
      frames.shift()
      if (head.isResponse) responseBytes -= head.bytes.length
      const next = frames[limit - 1]
      if (next?.admitted) Deferred.doneUnsafe(next.admitted, Exit.void)
      if (frames.length === 0) work.closeUnsafe()
      signalProgress()
    }

    const writeHead = Effect.suspend(() => {
      const head = frames[0]
      if (head === undefined) return Effect.void
      const left = Number(head.askedAt + deadlineNanos - clock.monotonicTimeNanosUnsafe()) / 1_000_000
      const write = options.transport.write(head.bytes)
      // Places are kept, so the head asked first: while it is in time, so is every frame behind it.
      return (
        left <= 0
          ? Effect.fail(stalled)
          : Effect.timeoutOrElse(write, { duration: left, orElse: () => Effect.fail(stalled) })
      ).pipe(
        Effect.matchEffect({
          onSuccess: () => Effect.sync(() => written(head)),
          onFailure: (error) =>
            Effect.andThen(
              Effect.sync(() => fail(error)),
              Effect.never
            )
        })
      )
    })
    // Opening the latch runs whoever waits for it at once. The writer yields first: a frame never leaves inside the
    // synchronous step that gives it its place, so nobody can answer it before that step is over.
    const loop = work.await.pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(writeHead))
    yield* Effect.forkScoped(Effect.forever(loop))

    const until = (done: () => boolean): Effect.Effect<void> =>
      Effect.suspend(() => (done() ? Effect.void : Effect.andThen(Deferred.await(progress), until(done))))

    return {
      placeEvent,
      event: (event) =>
        Effect.suspend(() => {
          const given = placeEvent(event)
          return given._tag === "Placed" ? Effect.as(given.admitted, given._tag) : Effect.succeed(given._tag)
        }),
      placeResponse,
      backlog: until(() => responseBytes <= RESPONSE_BACKLOG_BYTES),
      drained: Effect.map(
        until(() => frames.length === 0),
        () => lost
      ),
      failure: Deferred.await(failed),
      seal: Effect.sync(() => {
        sealed = true
      }),
      queued: Effect.sync(() => frames.length)
    } satisfies OrderedWriterShape
  })

const stalled = new TransportFailed({
  reason: `an output frame was not written within ${Limits.output_deadline_ms} ms`
})
