/** Node streams as effects: one pull at a time, one write at a time, no listener outlives its wait. */
import type { Readable, Writable } from "node:stream"
import { Effect } from "effect"
import { TransportFailed } from "./Transport.ts"

const reasonOf = (error: NodeJS.ErrnoException) => error.code ?? error.name

/** The next chunk of a readable in paused mode; `null` at its end. Backpressure is the pipe's own. */
export const readChunk = (stream: Readable): Effect.Effect<Uint8Array | null, TransportFailed> =>
  Effect.callback((resume) => {
    const settle = (effect: Effect.Effect<Uint8Array | null, TransportFailed>) => {
      remove()
      resume(effect)
    }
    const pull = () => {
      const chunk: unknown = stream.read()
      if (chunk instanceof Uint8Array) settle(Effect.succeed(chunk))
      else if (stream.errored) settle(Effect.fail(new TransportFailed({ reason: reasonOf(stream.errored) })))
      else if (stream.readableEnded || stream.destroyed) settle(Effect.succeed(null))
    }
    const onEnd = () => settle(Effect.succeed(null))
    const onError = (error: Error) => settle(Effect.fail(new TransportFailed({ reason: reasonOf(error) })))
    const remove = () => {
      stream.off("readable", pull)
      stream.off("end", onEnd)
      stream.off("close", onEnd)
      stream.off("error", onError)
    }
    stream.on("readable", pull)
    stream.on("end", onEnd)
    stream.on("close", onEnd)
    stream.on("error", onError)
    pull()
    return Effect.sync(remove)
  })

/** Writes and waits until the bytes have left this process. The writable keeps an `error` listener of its owner's. */
export const writeChunk = (stream: Writable, bytes: Uint8Array): Effect.Effect<void, TransportFailed> =>
  Effect.callback((resume) => {
    if (stream.destroyed) return resume(Effect.fail(new TransportFailed({ reason: "EPIPE" })))
    stream.write(bytes, (error) => {
      resume(error ? Effect.fail(new TransportFailed({ reason: reasonOf(error) })) : Effect.void)
    })
  })

/** Swallows `error` events for as long as the scope is open: every failure is seen by the write or read it belongs to. */
export const guardErrors = (stream: Readable | Writable) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const ignore = () => {}
      stream.on("error", ignore)
      return ignore
    }),
    (ignore) => Effect.sync(() => stream.off("error", ignore))
  )
