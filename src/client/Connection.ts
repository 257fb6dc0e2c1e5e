/**
 * One connection to an agent: reads its frames, settles requests, gives events in the order of the wire to one sink, and
 * turns everything that can go wrong with the transport into one `TransportLost`. product section 5, frames and time.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { decodeServerFrame } from "../protocol/Envelope.ts"
import { errorCodes } from "../protocol/ErrorCode.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { Limits } from "../protocol/Limits.ts"
import type { JsonFault } from "../protocol/StrictJson.ts"
import { FrameReader } from "../transport/FrameReader.ts"
import type { RequestError, RequestFailed } from "./AgentErrors.ts"
import type { AgentLink } from "./AgentLink.ts"
import * as FrameQueue from "./FrameQueue.ts"
import { type Answer, type IdUse, Requests } from "./Requests.ts"
import { type LossCause, TransportLost } from "./TransportLost.ts"

/** An event as it came off the wire. */
export interface WireEvent {
  readonly event: string
  readonly instanceId: string
  readonly sequence: number
  readonly data: JsonObject
  /** A call's arguments break a rule of JSON that is answered with an `error` reply; `data.arguments` is then empty. */
  readonly fault?: JsonFault
  /** Monotonic nanoseconds at which its bytes were read off the pipe. */
  readonly at: bigint
  /** Of its frame. */
  readonly bytes: number
}

/** What a connection tells, each synchronously and before anything else is read. */
export interface ConnectionSink {
  readonly event: (event: WireEvent) => void
  /** The transport is lost. The error with all that is known follows. */
  readonly lost: () => void
  /** The error that every waiting request fails with. */
  readonly told: (error: TransportLost) => void
}

/** An open connection. What fails on it fails with `RequestFailed`, a bound, or the one loss. */
export interface Connection {
  readonly requests: Requests
  /** Begins to read; before, nothing reaches the sink. To be run once, in the scope of the connection. */
  readonly start: Effect.Effect<void, never, Scope.Scope>
  /**
   * Sends a request and waits for its answer. `accept` reads the result in the step in which the answer is read, before any
   * event that follows it; `undefined` says that the result is not what the protocol promises, which is a loss. It runs also
   * when the waiting was interrupted: `wanted` is then false.
   */
  readonly request: <A>(
    method: string,
    params: JsonObject,
    accept: (result: JsonObject, wanted: boolean) => A | undefined,
    use?: IdUse
  ) => Effect.Effect<A, RequestError | TransportLost>
  /** Declares the transport lost. The first cause stays. */
  readonly lose: (reason: LossCause, description: string) => void
  /** Fails with the loss, once as much is known of the agent's end as can be waited for. */
  readonly lost: Effect.Effect<never, TransportLost>
  /** Ends at once, but after a loss when all that can be known of it was told. */
  readonly ended: Effect.Effect<void>
  /** EOF to the agent: nothing is sent any more, what still comes is passed over, and its end is no loss. */
  readonly end: Effect.Effect<void>
}

/** How long a loss waits for the exit code and the rest of stderr before it is told. */
const END_GRACE_MS = 400
/** How long what a dead agent wrote may take to arrive, where another process holds its stdout open. */
const DRAIN_MS = 250

/** Starts the writer in the current scope. */
export const make = Effect.fnUntraced(function* (link: AgentLink, sink: ConnectionSink) {
  const clock = yield* Clock.Clock
  const frames = yield* FrameQueue.make(link)
  const requests = new Requests(frames.place)
  const lossSeen = Deferred.makeUnsafe<readonly [LossCause, string]>()
  const lost = Deferred.makeUnsafe<never, TransportLost>()
  let state: "open" | "ending" | "lost" = "open"
  let sequence = 0

  const lose = (reason: LossCause, description: string) => {
    if (state !== "open") return
    state = "lost"
    sink.lost()
    Deferred.doneUnsafe(lossSeen, Exit.succeed([reason, description]))
  }

  const dispatch = (line: Uint8Array, at: bigint) => {
    const decoded = decodeServerFrame(line)
    if (Result.isFailure(decoded)) return lose("unclean_frame", decoded.failure.message)
    const frame = decoded.success
    if (frame._tag === "Event") {
      if (frame.sequence !== sequence + 1) return lose("unclean_frame", "a gap or a repeat in the sequence of events")
      sequence = frame.sequence
      return sink.event({
        event: frame.event,
        instanceId: frame.instance_id,
        sequence: frame.sequence,
        data: frame.data,
        ...(frame.fault === undefined ? {} : { fault: frame.fault }),
        at,
        bytes: line.length + 1
      })
    }
    // A response to nothing is passed over, but an error without an id says that the two sides no longer agree.
    if (!requests.answer(frame) && frame._tag === "Failure" && frame.id === null) {
      const code = errorCodes.find((known) => known === frame.error.code) ?? "an unknown code"
      lose("rejected_frame", `it refused a frame (${code})`)
    }
  }

  const splitter = new FrameReader(Limits.output_frame_bytes - 1)
  const read = Effect.gen(function* () {
    const chunk = yield* Effect.orElseSucceed(link.read, () => null)
    const at = clock.monotonicTimeNanosUnsafe()
    if (chunk === null) {
      lose("eof", splitter.partial ? "its output ended inside a frame" : "its output ended")
      return yield* Effect.never
    }
    if (state !== "open") return
    const found = splitter.push(chunk)
    for (const line of found.frames) {
      if (state !== "open") return
      dispatch(line, at)
    }
    if (found.oversized) lose("unclean_frame", `a frame of over ${Limits.output_frame_bytes} bytes`)
  })
  // Everything that waits learns of the loss at once or within the grace: all that can be told is told once.
  const tell = Effect.gen(function* () {
    const [reason, description] = yield* Deferred.await(lossSeen)
    yield* frames.end
    const end = yield* link.describeEnd(END_GRACE_MS)
    const ended = end.exitCode !== null || end.signal !== null
    const error = new TransportLost({ reason: reason === "eof" && ended ? "exit" : reason, description, ...end })
    Deferred.doneUnsafe(lost, Exit.fail(error))
    requests.lose(error)
    sink.told(error)
  })

  const start = Effect.gen(function* () {
    yield* Effect.forkScoped(Effect.forever(read))
    yield* Effect.forkScoped(
      Effect.map(frames.fault, (fault) => {
        lose(fault.reason, fault.description)
      })
    )
    yield* link.exited.pipe(
      Effect.andThen(Effect.sleep(DRAIN_MS)),
      Effect.andThen(Effect.sync(() => lose("exit", "its process ended"))),
      Effect.forkScoped
    )
    yield* Effect.forkScoped(tell)
  })

  const request = <A>(
    method: string,
    params: JsonObject,
    accept: (result: JsonObject, wanted: boolean) => A | undefined,
    use: IdUse = "ordinary"
  ): Effect.Effect<A, RequestError | TransportLost> =>
    Effect.callback<A, RequestError | TransportLost>((resume) => {
      let wanted = true
      const settle = (answer: Answer) => {
        if (answer._tag !== "Success") return resume(Effect.fail<RequestFailed | TransportLost>(answer.error))
        const value = accept(answer.result, wanted)
        if (value !== undefined) return resume(Effect.succeed(value))
        lose("unclean_frame", `the result of ${method} is not what the protocol promises`)
        resume(Deferred.await(lost))
      }
      const refused = state === "open" ? requests.send(method, params, use, settle) : "closed"
      if (refused === "closed") resume(state === "ending" ? Effect.fail(closed) : Deferred.await(lost))
      else if (refused !== undefined) resume(Effect.fail(refused))
      return Effect.sync(() => {
        wanted = false
      })
    })

  return {
    requests,
    start,
    request,
    lose,
    lost: Deferred.await(lost),
    ended: Effect.suspend(() => (state === "lost" ? Effect.ignore(Deferred.await(lost)) : Effect.void)),
    end: Effect.suspend(() => {
      if (state !== "open") return frames.end
      state = "ending"
      requests.lose(closed)
      sink.told(closed)
      return frames.end
    })
  } satisfies Connection
})

const closed = new TransportLost({
  reason: "closed",
  description: "it was closed by this program",
  exitCode: null,
  signal: null,
  stderrTail: ""
})
