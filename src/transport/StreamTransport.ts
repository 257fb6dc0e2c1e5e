/** A transport over any pair of Node streams: a socket, another process's pipes. base-protocol section 1. */
import type { Readable, Writable } from "node:stream"
import { Effect, type Scope } from "effect"
import { guardErrors, readChunk, writeChunk } from "./NodeStreams.ts"
import type { TransportShape } from "./Transport.ts"

/** A transport, and how this side leaves it. */
export interface StreamEnd extends TransportShape {
  /** EOF to the other side after everything written; idempotent. */
  readonly close: Effect.Effect<void>
}

/**
 * The transport over `input` and `output` (one duplex stream may be both). Both are destroyed when the scope closes. Bytes
 * pass as they are; frames are the connection's business. A failed stream is `TransportFailed` at the read or write that
 * meets it, and nowhere else.
 */
export const fromStreams = (input: Readable, output: Writable): Effect.Effect<StreamEnd, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* guardErrors(input)
    if (output !== (input as unknown)) yield* guardErrors(output)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // Kept for good: a reset that arrives after the scope has closed belongs to nobody.
        input.on("error", ignore)
        output.on("error", ignore)
        input.destroy()
        output.destroy()
      })
    )
    return {
      read: readChunk(input),
      write: (bytes) => writeChunk(output, bytes),
      close: Effect.sync(() => {
        if (!output.writableEnded && !output.destroyed) output.end()
      })
    }
  })

const ignore = () => {}
