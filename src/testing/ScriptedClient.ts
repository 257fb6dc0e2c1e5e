/** A client in memory for the tests of an agent: frames in, frames out, nothing interpreted. product section 4. */
import { Effect, Queue, type Scope } from "effect"
import type { Json, JsonObject } from "../protocol/Json.ts"
import { Limits } from "../protocol/Limits.ts"
import { FrameReader } from "../transport/FrameReader.ts"
import { makePair } from "../transport/MemoryTransport.ts"
import type { TransportShape } from "../transport/Transport.ts"

/** A client that says what the test tells it to. */
export interface ScriptedClient {
  /** The agent's end: `Transport` for `serve` of `magi-code/server`. */
  readonly transport: TransportShape
  /** Sends a request with a fresh id, and gives the id. */
  readonly send: (method: string, params?: JsonObject) => Effect.Effect<string>
  /** Sends bytes as they are. */
  readonly raw: (text: string) => Effect.Effect<void>
  /** The next frame that the agent wrote, in order. */
  readonly next: Effect.Effect<Json>
  /** EOF to the agent. */
  readonly end: Effect.Effect<void>
}

/** Makes the client; what it reads is kept until `next` takes it. */
export const make: Effect.Effect<ScriptedClient, never, Scope.Scope> = Effect.gen(function* () {
  const [client, server] = yield* makePair()
  const received = yield* Queue.unbounded<Json>()
  const frames = new FrameReader(Limits.output_frame_bytes)
  let ids = 0
  const raw = (text: string) => Effect.ignore(client.write(new TextEncoder().encode(text)))
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      for (;;) {
        const chunk = yield* Effect.orElseSucceed(client.read, () => null)
        if (chunk === null) return
        for (const line of frames.push(chunk).frames) {
          yield* Queue.offer(received, JSON.parse(new TextDecoder().decode(line)))
        }
      }
    })
  )
  return {
    transport: server,
    send: (method, params = {}) =>
      Effect.suspend(() => {
        ids += 1
        const id = `request-${ids}`
        return Effect.as(raw(`${JSON.stringify({ version: 1, id, method, params })}\n`), id)
      }),
    raw,
    next: Queue.take(received),
    end: client.end
  }
})
