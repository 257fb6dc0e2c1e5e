import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Limits } from "../../src/protocol/Limits.ts"
import type { OutputEvent } from "../../src/transport/FrameWriter.ts"
import * as OrderedWriter from "../../src/transport/OrderedWriter.ts"
import { TransportFailed } from "../../src/transport/Transport.ts"

/** A sink whose other side reads a frame each time `read` is run. */
const makeSink = Effect.sync(() => {
  const wire: Array<Record<string, unknown>> = []
  const writing: Array<Deferred.Deferred<void, TransportFailed>> = []
  return {
    wire,
    stuck: () => writing.length,
    transport: {
      write: (bytes: Uint8Array) =>
        Effect.suspend(() => {
          const line = new TextDecoder().decode(bytes)
          assert.isTrue(line.endsWith("\n"))
          wire.push(JSON.parse(line))
          const done = Deferred.makeUnsafe<void, TransportFailed>()
          writing.push(done)
          return Deferred.await(done)
        })
    },
    read: Effect.suspend(() => {
      const done = writing.shift()
      return done ? Effect.asVoid(Deferred.succeed(done, undefined)) : Effect.void
    }),
    breakPipe: Effect.suspend(() => {
      const done = writing.shift()
      return done ? Effect.asVoid(Deferred.fail(done, new TransportFailed({ reason: "EPIPE" }))) : Effect.void
    })
  }
})

const delta = (n: number): OutputEvent => ({ event: "message.delta", data: { n }, droppable: true })
const critical = (n: number): OutputEvent => ({ event: "activity.finished", data: { n } })

const setup = Effect.gen(function* () {
  const sink = yield* makeSink
  const writer = yield* OrderedWriter.make({ transport: sink.transport, instanceId: "i" })
  return { sink, writer }
})

/** Lets every fiber that can run do so. */
const settle = TestClock.adjust(0)

const readAll = (sink: { readonly read: Effect.Effect<void>; readonly stuck: () => number }) =>
  Effect.gen(function* () {
    yield* settle
    while (sink.stuck() > 0) {
      yield* sink.read
      yield* settle
    }
  })

describe("OrderedWriter (base-protocol section 3, Output)", () => {
  it.effect("writes in the order of the places, with sequence numbers that have no gap", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      for (let n = 0; n < 3; n++) {
        writer.placeEvent(critical(n))
        writer.placeResponse(`{"version":1,"id":"r${n}","result":{}}`)
      }
      yield* readAll(sink)
      assert.deepStrictEqual(
        sink.wire.map((frame) => frame.id ?? frame.sequence),
        [1, "r0", 2, "r1", 3, "r2"]
      )
      yield* writer.drained
    })
  )

  it.effect("discards droppable events while 24 frames are queued, and takes no sequence number for them", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      const given = Array.from({ length: 26 }, (_, n) => writer.placeEvent(delta(n))._tag)
      assert.deepStrictEqual(given, [...Array(24).fill("Placed"), "Dropped", "Dropped"])
      assert.strictEqual(writer.placeEvent(critical(99))._tag, "Placed")
      yield* readAll(sink)
      assert.deepStrictEqual(
        sink.wire.map((frame) => frame.sequence),
        Array.from({ length: 25 }, (_, n) => n + 1)
      )
    })
  )

  it.effect("lets the producer of the 33rd frame wait, in its order, until one is written", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      for (let n = 0; n < Limits.pending_output_frames; n++) writer.placeEvent(critical(n))
      const first = yield* Effect.forkChild(writer.event(critical(100)), { startImmediately: true })
      const second = yield* Effect.forkChild(writer.event(critical(101)), { startImmediately: true })
      yield* settle
      assert.isUndefined(first.pollUnsafe())
      yield* sink.read
      yield* settle
      assert.isDefined(first.pollUnsafe())
      assert.isUndefined(second.pollUnsafe())
      yield* sink.read
      yield* settle
      assert.isDefined(second.pollUnsafe())
      yield* readAll(sink)
      assert.deepStrictEqual(
        sink.wire.map((frame) => frame.sequence),
        Array.from({ length: 34 }, (_, n) => n + 1)
      )
    })
  )

  it.effect("refuses an event beyond the frame or its depth, and takes nothing for it", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      const head = JSON.stringify({
        version: 1,
        event: "activity.finished",
        instance_id: "i",
        sequence: 1,
        data: { t: "" }
      })
      const fits = Limits.output_frame_bytes - head.length - 1
      assert.strictEqual(
        writer.placeEvent({ event: "activity.finished", data: { t: "x".repeat(fits + 1) } })._tag,
        "TooLarge"
      )
      let deep: { readonly [key: string]: unknown } = {}
      for (let depth = 0; depth < 31; depth++) deep = { d: deep }
      assert.strictEqual(
        writer.placeEvent({ event: "activity.finished", data: JSON.parse(JSON.stringify(deep)) })._tag,
        "TooLarge"
      )
      assert.strictEqual(
        writer.placeEvent({ event: "activity.finished", data: { t: "x".repeat(fits) } })._tag,
        "Placed"
      )
      yield* readAll(sink)
      assert.deepStrictEqual(
        sink.wire.map((frame) => frame.sequence),
        [1]
      )
    })
  )

  it.effect("fails two seconds after the producer of a frame asked, waiting and partial writes included", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      writer.placeEvent(critical(1))
      yield* TestClock.adjust("1500 millis")
      writer.placeEvent(critical(2))
      yield* sink.read
      const failure = yield* Effect.forkChild(Effect.exit(writer.failure), { startImmediately: true })
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(failure.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(failure)))
      assert.strictEqual(writer.placeEvent(critical(3))._tag, "Closed")
      yield* writer.drained
    })
  )

  it.effect("the two seconds of a frame that waits behind another do not begin again when its turn comes", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      writer.placeEvent(critical(1))
      writer.placeEvent(critical(2))
      yield* TestClock.adjust("1900 millis")
      yield* sink.read
      yield* settle
      assert.strictEqual(writer.placeEvent(critical(3))._tag, "Placed")
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(writer.placeEvent(critical(4))._tag, "Closed")
    })
  )

  it.effect("a broken pipe releases every waiting producer, and nothing is placed afterwards", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      for (let n = 0; n < Limits.pending_output_frames; n++) writer.placeEvent(critical(n))
      const waiting = yield* Effect.forkChild(writer.event(critical(100)), { startImmediately: true })
      yield* settle
      yield* sink.breakPipe
      yield* settle
      assert.isDefined(waiting.pollUnsafe())
      assert.strictEqual(writer.placeResponse("{}")._tag, "Closed")
      assert.strictEqual(yield* writer.queued, 0)
    })
  )

  it.effect("sealed, it still writes what has its place", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      writer.placeEvent(critical(1))
      writer.placeEvent(critical(2))
      yield* writer.seal
      assert.strictEqual(writer.placeEvent(critical(3))._tag, "Closed")
      const drained = yield* Effect.forkChild(writer.drained, { startImmediately: true })
      yield* readAll(sink)
      yield* Fiber.join(drained)
      assert.strictEqual(sink.wire.length, 2)
    })
  )

  it.effect("holds up reading while more than 1 MiB of responses wait", () =>
    Effect.gen(function* () {
      const { sink, writer } = yield* setup
      const big = JSON.stringify({ version: 1, id: "r", result: { t: "x".repeat(60_000) } })
      for (let n = 0; n < 17; n++) writer.placeResponse(big)
      yield* settle
      const below = yield* Effect.forkChild(writer.backlog, { startImmediately: true })
      assert.isDefined(below.pollUnsafe())
      for (let n = 0; n < 2; n++) writer.placeResponse(big)
      const waiting = yield* Effect.forkChild(writer.backlog, { startImmediately: true })
      yield* settle
      assert.isUndefined(waiting.pollUnsafe())
      yield* readAll(sink)
      assert.isDefined(waiting.pollUnsafe())
    })
  )
})
