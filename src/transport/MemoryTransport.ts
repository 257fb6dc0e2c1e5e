/**
 * Two transports joined in memory, for tests and for embedding. Each direction is a pipe of bounded size, so that a side
 * that does not read stalls the other as a real pipe does.
 */
import { Deferred, Effect, Option, Queue } from "effect"
import { TransportFailed, type TransportShape } from "./Transport.ts"

/** One end of the pair. */
export interface MemoryEnd extends TransportShape {
  /** EOF for the other side's reads; it may still write. */
  readonly end: Effect.Effect<void>
  /** `end`, and the other side's writes fail from now on as on a closed pipe. */
  readonly close: Effect.Effect<void>
}

interface Pipe {
  readonly read: Effect.Effect<Uint8Array | null>
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, TransportFailed>
  readonly end: Effect.Effect<void>
  readonly breakPipe: Effect.Effect<void>
}

const makePipe = (chunks: number): Effect.Effect<Pipe> =>
  Effect.gen(function* () {
    // One chunk a place: `write` ends when its chunk has left the hands of the writer, as a pipe's buffer takes it.
    const queue = yield* Queue.bounded<Uint8Array>(chunks)
    const ended = yield* Deferred.make<void>()
    const broken = yield* Deferred.make<never, TransportFailed>()
    return {
      read: Effect.suspend(() =>
        Queue.poll(queue).pipe(
          Effect.flatMap(
            Option.match({
              onSome: (chunk): Effect.Effect<Uint8Array | null> => Effect.succeed(chunk),
              onNone: () =>
                Effect.raceFirst(
                  Queue.take(queue),
                  Effect.flatMap(Deferred.await(ended), () => Effect.map(Queue.poll(queue), Option.getOrNull))
                )
            })
          )
        )
      ),
      write: (bytes) =>
        Effect.suspend(() =>
          Deferred.isDoneUnsafe(broken) || Deferred.isDoneUnsafe(ended)
            ? Effect.fail(new TransportFailed({ reason: "EPIPE" }))
            : Effect.raceFirst(Effect.asVoid(Queue.offer(queue, bytes.slice())), Deferred.await(broken))
        ),
      end: Effect.asVoid(Deferred.succeed(ended, undefined)),
      breakPipe: Effect.asVoid(Deferred.fail(broken, new TransportFailed({ reason: "EPIPE" })))
    }
  })

/** A joined pair. `chunks`: how many writes a direction holds before its writer waits (default 16). */
export const makePair = (options?: { readonly chunks?: number }): Effect.Effect<readonly [MemoryEnd, MemoryEnd]> =>
  Effect.gen(function* () {
    const left = yield* makePipe(options?.chunks ?? 16)
    const right = yield* makePipe(options?.chunks ?? 16)
    const end = (incoming: Pipe, outgoing: Pipe): MemoryEnd => ({
      read: incoming.read,
      write: outgoing.write,
      end: outgoing.end,
      close: Effect.andThen(outgoing.end, incoming.breakPipe)
    })
    return [end(right, left), end(left, right)] as const
  })
