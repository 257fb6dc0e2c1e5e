/**
 * Every interleaving of small cases, run through the real broker: the atomic steps of a reply (its first checks; its
 * settlement), of a deadline, of a cancellation and of closing. An oracle of a few lines says who wins; after each step the
 * slots must be what the oracle has pending, at the end the wire must be what it foretold.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type CallHandle, code, makeHarness } from "../support/BrokerHarness.ts"

type Step =
  /** The reply passes its checks, or is refused; its protection begins. */
  | { readonly do: "check"; readonly call: number }
  /** The protection ends: the reply settles the call, or finds it settled. Always after its `check`. */
  | { readonly do: "accept"; readonly call: number }
  /** The clock reaches this call's deadline. */
  | { readonly do: "deadline"; readonly call: number }
  | { readonly do: "cancel"; readonly call: number }
  | { readonly do: "close" }

/** All orders of the steps in which `accept` comes after its `check`. */
function* interleavings(steps: ReadonlyArray<Step>, done: ReadonlyArray<Step> = []): Generator<ReadonlyArray<Step>> {
  if (steps.length === 0) yield done
  for (const [at, step] of steps.entries()) {
    const waitsForItsCheck =
      step.do === "accept" && steps.some((other) => other.do === "check" && other.call === step.call)
    if (!waitsForItsCheck) yield* interleavings(steps.toSpliced(at, 1), [...done, step])
  }
}

const timeoutOf = (call: number) => 1000 * (call + 1)

/** Who wins, by the rules of base-protocol section 6 alone. */
class Oracle {
  readonly endings: Array<
    "pending" | "ok" | "client_tool_timeout" | "client_tool_cancelled" | "client_tool_unavailable"
  >
  readonly wire: Array<string> = []
  readonly #checked = new Set<number>()
  #now = 0

  constructor(calls: number) {
    this.endings = Array.from({ length: calls }, () => "pending")
    this.wire.push(...this.endings.map((_, call) => `call ${call}`))
  }

  get pending(): number {
    return this.endings.filter((ending) => ending === "pending").length
  }

  #end(call: number, ending: Exclude<Oracle["endings"][number], "pending">, frame: string): void {
    if (this.endings[call] !== "pending") return
    this.endings[call] = ending
    this.wire.push(`${frame} ${call}`)
  }

  take(step: Step): void {
    switch (step.do) {
      case "check":
        if (this.endings[step.call] === "pending") this.#checked.add(step.call)
        return
      case "accept":
        if (this.#checked.has(step.call)) this.#end(step.call, "ok", "accepted")
        return
      case "deadline":
        this.#now = Math.max(this.#now, timeoutOf(step.call))
        this.endings.forEach((_, call) => {
          if (timeoutOf(call) <= this.#now) this.#end(call, "client_tool_timeout", "cancel:timeout")
        })
        return
      case "cancel":
        this.#end(step.call, "client_tool_cancelled", "cancel:cancelled")
        return
      case "close":
        this.endings.forEach((_, call) => {
          this.#end(call, "client_tool_unavailable", "cancel:shutdown")
        })
    }
  }
}

/** Of the millions that are made here nearly all hold: only one that does not is worth the assertion's own work. */
const same = (actual: string | number, expected: string | number): void => {
  if (actual !== expected) assert.strictEqual(actual, expected)
}

const run = (calls: number, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const gates = Array.from({ length: calls }, () => Deferred.makeUnsafe<void>())
    const h = yield* makeHarness({
      results: {
        protect: (value) => {
          const gate = gates[Number(value.structured)]
          return gate ? Effect.as(Deferred.await(gate), value) : Effect.succeed(value)
        },
        maskText: (text) => Effect.succeed(text)
      }
    })
    const start = yield* Clock.currentTimeMillis
    const handles: Array<CallHandle> = []
    for (let call = 0; call < calls; call++) handles.push(yield* h.start(timeoutOf(call)))
    const oracle = new Oracle(calls)
    const replies = new Map<number, Fiber.Fiber<string>>()
    for (const step of steps) {
      switch (step.do) {
        case "check": {
          const reply = Effect.map(h.reply(h.callId(step.call), { structured: step.call, text: "ok" }), code)
          replies.set(step.call, yield* Effect.forkChild(reply, { startImmediately: true }))
          break
        }
        case "accept": {
          const gate = gates[step.call]
          const reply = replies.get(step.call)
          if (gate) yield* Deferred.succeed(gate, undefined)
          const verdict = reply ? yield* Fiber.join(reply) : "never sent"
          const wins = oracle.endings[step.call] === "pending"
          same(verdict, wins ? "accepted" : "stale_client_tool_call")
          break
        }
        case "deadline": {
          const now = yield* Clock.currentTimeMillis
          yield* TestClock.adjust(Math.max(0, start + timeoutOf(step.call) - now))
          break
        }
        case "cancel": {
          const handle = handles[step.call]
          if (handle) yield* Fiber.interrupt(handle.fiber)
          break
        }
        case "close":
          yield* h.broker.close
      }
      oracle.take(step)
      same(yield* h.broker.pending, oracle.pending)
    }
    yield* h.settle
    const number = new Map(handles.map((_, call) => [h.callId(call), call]))
    let accepted = oracle.wire.filter((frame) => frame.startsWith("accepted"))
    const wire = h.wire.map((frame) => {
      if (frame.kind === "call") return `call ${number.get(frame.call_id)}`
      if (frame.kind === "cancel") return `cancel:${frame.reason} ${number.get(frame.call_id)}`
      const [first = "accepted by nobody", ...rest] = accepted
      accepted = rest
      return first
    })
    same(wire.join(), oracle.wire.join())
    same(handles.map((handle) => handle.ended()).join(), oracle.endings.join())
  }).pipe(Effect.scoped)

/** Failures are values here that nobody reads the stack of; taking it is a fifth of the time. */
const withoutStacks = Effect.acquireRelease(
  Effect.sync(() => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    return limit
  }),
  (limit) =>
    Effect.sync(() => {
      Error.stackTraceLimit = limit
    })
)

const explore = (calls: number, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    yield* withoutStacks
    let explored = 0
    for (const order of interleavings(steps)) {
      yield* run(calls, order).pipe(
        Effect.catchDefect((defect) =>
          Effect.die(new Error(`${JSON.stringify(order)}: ${defect instanceof Error ? defect.message : defect}`))
        )
      )
      explored += 1
    }
    return explored
  }).pipe(Effect.scoped)

const reply = (call: number): ReadonlyArray<Step> => [
  { do: "check", call },
  { do: "accept", call }
]
const deadline = (call: number): Step => ({ do: "deadline", call })
const cancel = (call: number): Step => ({ do: "cancel", call })

/** n! orders, halved for each reply: its `accept` comes after its `check`. */
const orders = (steps: number, replies: number) => {
  let all = 1
  for (let n = 2; n <= steps; n++) all *= n
  return all / 2 ** replies
}

describe("exactly one outcome in every interleaving", () => {
  it.effect("one call: reply, deadline, cancellation, closing", () =>
    Effect.gen(function* () {
      const steps = [...reply(0), deadline(0), cancel(0), { do: "close" } as const]
      assert.strictEqual(yield* explore(1, steps), orders(5, 1))
    })
  )

  it.effect(
    "two calls, three competing events each: reply, deadline, cancellation",
    () =>
      Effect.gen(function* () {
        const steps = [0, 1].flatMap((call) => [...reply(call), deadline(call), cancel(call)])
        assert.strictEqual(yield* explore(2, steps), orders(8, 2))
      }),
    120_000
  )

  it.effect(
    "two calls: reply and cancellation each, and closing",
    () =>
      Effect.gen(function* () {
        const steps: ReadonlyArray<Step> = [
          ...[0, 1].flatMap((call) => [...reply(call), cancel(call)]),
          { do: "close" }
        ]
        assert.strictEqual(yield* explore(2, steps), orders(7, 2))
      }),
    60_000
  )

  it.effect(
    "three calls, two competing events each: replies against deadline, cancellation and deadline",
    () =>
      Effect.gen(function* () {
        const steps = [...reply(0), deadline(0), ...reply(1), cancel(1), ...reply(2), deadline(2)]
        assert.strictEqual(yield* explore(3, steps), orders(9, 3))
      }),
    240_000
  )
})
