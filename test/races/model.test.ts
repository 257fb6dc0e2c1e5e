/**
 * Random histories of the broker over the real writer, against an oracle that knows only the sentences of the spec: calls
 * whose start takes time to record, replies valid and invalid, duplicates, cancellations, ends of the run, time, a reader
 * that stops and goes on, closing. A failing history shrinks to a minimal one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Broker } from "../../src/broker/Broker.ts"
import * as BrokerLive from "../../src/broker/BrokerLive.ts"
import { ProtectedResults } from "../../src/broker/ProtectedResult.ts"
import { ToolFailure } from "../../src/tools/Tool.ts"
import { EventWriter } from "../../src/transport/FrameWriter.ts"
import * as OrderedWriter from "../../src/transport/OrderedWriter.ts"
import { descriptor, IDENTITY, INSTANCE } from "../support/BrokerHarness.ts"

const HISTORIES = 2500

type Fault = "none" | "shape" | "run" | "instance" | "size"

type Op =
  /** `slow`: its start stays unrecorded until `recorded`. */
  | { readonly do: "call"; readonly timeout: number; readonly slow: boolean }
  | { readonly do: "recorded"; readonly nth: number; readonly fails: boolean }
  | { readonly do: "reply"; readonly nth: number; readonly fault: Fault }
  | { readonly do: "cancel"; readonly nth: number }
  | { readonly do: "time"; readonly ms: number }
  | { readonly do: "reader"; readonly reads: boolean }
  | { readonly do: "endRun" }
  | { readonly do: "close" }

const nth = fc.nat(20)
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      timeout: fc.integer({ min: 1000, max: 3000 }),
      slow: fc.boolean()
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("recorded" as const), nth, fails: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("reply" as const),
      nth,
      fault: fc.constantFrom<Fault>("none", "none", "none", "shape", "run", "instance", "size")
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("cancel" as const), nth }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("time" as const), ms: fc.integer({ min: 1, max: 1500 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reader" as const), reads: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant<Op>({ do: "endRun" }) },
  { weight: 1, arbitrary: fc.constant<Op>({ do: "close" }) }
)

interface Call {
  ending: string
  published: boolean
  readonly timeout: number
  deadline: number
}

/** The sentences of the spec, and nothing of the implementation. */
class Oracle {
  readonly calls: Array<Call> = []
  /** Frames that got their place, and when. */
  readonly placed: Array<{ readonly frame: string; readonly at: number }> = []
  written = 0
  now = 0
  reads = true
  failed = false
  closed = false

  get pending(): number {
    return this.calls.filter((call) => call.ending === "pending").length
  }

  #place(frame: string): boolean {
    if (this.failed) return false
    this.placed.push({ frame, at: this.now })
    if (this.reads) this.written = this.placed.length
    return true
  }

  #end(index: number, ending: string, notice?: string): void {
    const call = this.calls[index]
    if (call?.ending !== "pending") return
    call.ending = ending
    if (call.published && notice) this.#place(`cancel:${notice} ${index}`)
  }

  #publish(index: number): void {
    const call = this.calls[index]
    if (call?.ending !== "pending") return
    if (this.#place(`call ${index}`)) {
      call.published = true
      call.deadline = this.now + call.timeout
    } else call.ending = "client_tool_unavailable"
  }

  call(timeout: number, slow: boolean): void {
    const ending = this.closed ? "client_tool_unavailable" : this.pending >= 16 ? "client_tool_busy" : "pending"
    this.calls.push({ ending, published: false, timeout, deadline: Number.POSITIVE_INFINITY })
    if (!slow) this.#publish(this.calls.length - 1)
  }

  recorded(index: number, fails: boolean): void {
    if (fails) this.#end(index, "tool_failed")
    else this.#publish(index)
  }

  reply(index: number, fault: Fault): string {
    if (fault === "shape") return "invalid_params"
    const call = this.calls[index]
    if (fault === "run" || fault === "instance" || call?.ending !== "pending" || !call.published) {
      return "stale_client_tool_call"
    }
    if (fault === "size") return "invalid_params"
    call.ending = "ok"
    this.#place(`accepted ${index}`)
    return "accepted"
  }

  cancel(index: number): void {
    this.#end(index, "client_tool_cancelled", "cancelled")
  }

  endRun(): void {
    this.calls.forEach((_, index) => this.#end(index, "client_tool_cancelled", "run_finished"))
  }

  close(): void {
    this.closed = true
    this.calls.forEach((_, index) => this.#end(index, "client_tool_unavailable", "shutdown"))
  }

  reader(reads: boolean): void {
    this.reads = reads
    if (reads && !this.failed) this.written = this.placed.length
  }

  time(ms: number): void {
    const until = this.now + ms
    for (;;) {
      const stalled = this.failed ? undefined : this.placed[this.written]
      const failure = stalled && !this.reads ? stalled.at + 2000 : Number.POSITIVE_INFINITY
      const deadlines = this.calls.map((call) => (call.ending === "pending" ? call.deadline : Number.POSITIVE_INFINITY))
      const next = Math.min(failure, ...deadlines)
      if (next > until) break
      this.now = next
      if (failure === next) this.failed = true
      deadlines.forEach((deadline, index) => {
        if (deadline === next) this.#end(index, "client_tool_timeout", "timeout")
      })
    }
    this.now = until
  }
}

const history = (ops: ReadonlyArray<Op>) =>
  Effect.gen(function* () {
    const oracle = new Oracle()
    const numbers = new Map<string, number>()
    const wire: Array<string> = []
    let reading = Deferred.makeUnsafe<void>()
    Deferred.doneUnsafe(reading, Exit.void)
    const describeFrame = (bytes: Uint8Array): string => {
      const frame = JSON.parse(new TextDecoder().decode(bytes))
      if (frame.id !== undefined) return `accepted ${frame.id}`
      const number = numbers.get(frame.data.call_id)
      return frame.event === "client.tool.call" ? `call ${number}` : `cancel:${frame.data.reason} ${number}`
    }
    const writer = yield* OrderedWriter.make({
      instanceId: INSTANCE,
      transport: {
        write: (bytes) =>
          Effect.andThen(
            Effect.suspend(() => Deferred.await(reading)),
            Effect.sync(() => wire.push(describeFrame(bytes)))
          ).pipe(Effect.asVoid)
      }
    })
    const context = yield* Layer.build(
      BrokerLive.layer({ instanceId: INSTANCE }).pipe(
        Layer.provide(Layer.succeed(EventWriter, writer)),
        Layer.provide(
          Layer.succeed(ProtectedResults, {
            protect: (value, maxBytes) =>
              value.text.length > maxBytes ? Effect.die("the size is checked by protection") : Effect.succeed(value),
            maskText: Effect.succeed
          })
        )
      )
    )
    const broker = Context.get(context, Broker)
    const calls: Array<{
      readonly fiber: Fiber.Fiber<unknown, ToolFailure>
      readonly start: Deferred.Deferred<void, ToolFailure>
      id: string
    }> = []
    // A frame a turn of the scheduler: where the reader reads, what was placed is read.
    const settle = Effect.andThen(
      TestClock.adjust(0),
      Effect.suspend(() => (Deferred.isDoneUnsafe(reading) ? writer.drained : Effect.void))
    )

    const perform = (step: Op) =>
      Effect.gen(function* () {
        switch (step.do) {
          case "call": {
            const start = Deferred.makeUnsafe<void, ToolFailure>()
            if (!step.slow) Deferred.doneUnsafe(start, Exit.void)
            const index = calls.length
            const entry = { start, id: "never published" }
            const fiber = yield* Effect.forkChild(
              broker.call({
                identity: IDENTITY,
                tool: descriptor(step.timeout),
                arguments: {},
                started: Deferred.await(start),
                published: (callId) => {
                  numbers.set(callId, index)
                  entry.id = callId
                }
              }),
              { startImmediately: true }
            )
            calls.push(Object.assign(entry, { fiber }))
            oracle.call(step.timeout, step.slow)
            return
          }
          case "recorded": {
            const call = calls[step.nth % Math.max(1, calls.length)]
            if (!call || Deferred.isDoneUnsafe(call.start)) return
            Deferred.doneUnsafe(
              call.start,
              step.fails ? Exit.fail(new ToolFailure({ code: "tool_failed", message: "no" })) : Exit.void
            )
            yield* settle
            return oracle.recorded(step.nth % calls.length, step.fails)
          }
          case "reply": {
            const index = step.nth % Math.max(1, calls.length)
            const verdict = yield* broker.reply(
              {
                instance_id: step.fault === "instance" ? "other" : INSTANCE,
                session_id: IDENTITY.sessionId,
                run_id: step.fault === "run" ? "other" : IDENTITY.runId,
                call_id: calls[index]?.id ?? "none",
                task_id: null,
                subagent_id: null,
                status: step.fault === "shape" ? "perhaps" : "success",
                text: step.fault === "size" ? "x".repeat(32_769) : "ok"
              },
              () => {
                writer.placeResponse(`{"version":1,"id":"${index}","result":{"accepted":true}}`)
              }
            )
            const seen = verdict._tag === "Accepted" ? "accepted" : verdict.code
            return assert.strictEqual(seen, oracle.reply(index, step.fault))
          }
          case "cancel": {
            const call = calls[step.nth % Math.max(1, calls.length)]
            if (!call) return
            yield* Fiber.interrupt(call.fiber)
            return oracle.cancel(step.nth % calls.length)
          }
          case "time":
            yield* TestClock.adjust(step.ms)
            return oracle.time(step.ms)
          case "reader":
            if (step.reads) Deferred.doneUnsafe(reading, Exit.void)
            else if (Deferred.isDoneUnsafe(reading)) reading = Deferred.makeUnsafe()
            yield* settle
            return oracle.reader(step.reads)
          case "endRun":
            yield* broker.endRun(IDENTITY.runId)
            yield* settle
            return oracle.endRun()
          case "close":
            yield* broker.close
            yield* settle
            return oracle.close()
        }
      })

    for (const step of ops) {
      yield* settle
      yield* perform(step)
      yield* settle
      assert.strictEqual(yield* broker.pending, oracle.pending, "pending calls")
      assert.isAtMost(yield* broker.pending, 16)
      assert.deepStrictEqual(
        wire,
        oracle.placed.slice(0, oracle.written).map(({ frame }) => frame),
        "the wire"
      )
    }
    const endings = calls.map(({ fiber }) => {
      const exit = fiber.pollUnsafe()
      if (exit === undefined) return "pending"
      if (Exit.isSuccess(exit)) return "ok"
      const failure = Exit.findErrorOption(exit)
      return failure._tag === "Some" ? failure.value.code : "interrupted"
    })
    assert.deepStrictEqual(
      endings,
      oracle.calls.map((call) => call.ending),
      "endings"
    )
  })

describe("random histories", () => {
  it(`${HISTORIES} histories end as the oracle says`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 60 }), (ops) =>
        Effect.runPromise(
          Effect.gen(function* () {
            // Time begins at 0 for the oracle; the clock is the test's own.
            assert.strictEqual(yield* Clock.currentTimeMillis, 0)
            yield* history(ops)
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
        )
      ),
      { numRuns: HISTORIES }
    )
  }, 180_000)
})
