/** A real broker over a writer that records, protection that can be held up, and the test's own clock. */
import { type Context, Deferred, Effect, Exit, type Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ReplyVerdict } from "../../src/broker/Broker.ts"
import * as BrokerLive from "../../src/broker/BrokerLive.ts"
import { ProtectedResults, ResultRejected, type ResultValue } from "../../src/broker/ProtectedResult.ts"
import type { EffectiveDescriptor } from "../../src/protocol/Descriptor.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"
import type { AgentIdentity, ToolFailure, ToolOutput } from "../../src/tools/Tool.ts"
import { EventWriter, type OutputEvent, type Place } from "../../src/transport/FrameWriter.ts"

/** What reached the wire, in its order: events, and acknowledgements of replies. */
export type Wire =
  | { readonly kind: "call"; readonly call_id: string; readonly timeout_ms: number }
  | { readonly kind: "cancel"; readonly call_id: string; readonly reason: string }
  | { readonly kind: "accepted"; readonly tag: string }

export const INSTANCE = "instance-1"
export const IDENTITY: AgentIdentity = { sessionId: "session-1", runId: "run-1", taskId: null, subagentId: null }

export const descriptor = (timeout_ms = 30_000): EffectiveDescriptor => ({
  name: "client__a",
  description: "A tool.",
  input_schema: { type: "object" },
  timeout_ms
})

export interface CallHandle {
  readonly fiber: Fiber.Fiber<ToolOutput, ToolFailure>
  /** How the call ended: the output's text, a failure code, or `pending`. */
  readonly ended: () => string
}

export const makeHarness = (options?: { readonly results?: Context.Service.Shape<typeof ProtectedResults> }) =>
  Effect.gen(function* () {
    const wire: Array<Wire> = []
    let place: Place["_tag"] = "Placed"
    let gate: Deferred.Deferred<void> | undefined
    let rejected = false
    const writer: Context.Service.Shape<typeof EventWriter> = {
      placeEvent: (event: OutputEvent): Place => {
        if (place !== "Placed") return { _tag: place }
        const call_id = String(event.data.call_id)
        if (event.event === "client.tool.call") {
          wire.push({ kind: "call", call_id, timeout_ms: Number(event.data.timeout_ms) })
        } else wire.push({ kind: "cancel", call_id, reason: String(event.data.reason) })
        return { _tag: "Placed", admitted: Effect.void }
      },
      event: (event) => Effect.sync(() => writer.placeEvent(event)._tag)
    }
    const results = options?.results ?? {
      protect: (value: ResultValue) =>
        Effect.suspend(() => (gate ? Deferred.await(gate) : Effect.void)).pipe(
          Effect.andThen(
            Effect.suspend(() =>
              rejected
                ? Effect.fail(
                    new ResultRejected({ rule: "collision", path: "/structured", message: "two keys collide" })
                  )
                : Effect.succeed(value)
            )
          )
        ),
      maskText: (text: string) => Effect.succeed(text)
    }
    const broker = yield* BrokerLive.make({ instanceId: INSTANCE }).pipe(
      Effect.provideService(EventWriter, writer),
      Effect.provideService(ProtectedResults, results)
    )

    const start = (
      timeout = 30_000,
      more?: {
        readonly identity?: Partial<AgentIdentity>
        readonly started?: Effect.Effect<void, ToolFailure>
        readonly arguments?: JsonObject
      }
    ) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          broker.call({
            identity: { ...IDENTITY, ...more?.identity },
            tool: descriptor(timeout),
            arguments: more?.arguments ?? {},
            started: more?.started ?? Effect.void,
            published: () => {}
          }),
          { startImmediately: true }
        )
        const ended = () => {
          const exit = fiber.pollUnsafe()
          if (exit === undefined) return "pending"
          if (Exit.isSuccess(exit)) return exit.value.text
          const failure = Exit.findErrorOption(exit)
          return failure._tag === "Some" ? failure.value.code : "interrupted"
        }
        return { fiber, ended } satisfies CallHandle
      })

    const params = (callId: string, more: Record<string, unknown> = {}): JsonObject =>
      JSON.parse(
        JSON.stringify({
          instance_id: INSTANCE,
          session_id: IDENTITY.sessionId,
          run_id: IDENTITY.runId,
          call_id: callId,
          task_id: null,
          subagent_id: null,
          status: "success",
          text: "ok",
          ...more
        })
      )

    const reply = (callId: string, more: Record<string, unknown> = {}): Effect.Effect<ReplyVerdict> =>
      broker.reply(params(callId, more), () => {
        wire.push({ kind: "accepted", tag: String(more.text ?? "ok") })
      })

    return {
      broker,
      wire,
      start,
      reply,
      /** The id of the n-th call that reached the wire. */
      callId: (n: number): string => wire.filter((frame) => frame.kind === "call")[n]?.call_id ?? "never published",
      /** From now on protection waits until `release`. */
      hold: Effect.sync(() => {
        gate = Deferred.makeUnsafe()
      }),
      release: Effect.suspend(() => (gate ? Deferred.succeed(gate, undefined) : Effect.succeed(false))),
      rejectResults: Effect.sync(() => {
        rejected = true
      }),
      /** What becomes of events that ask for a place from now on. */
      places: (tag: Place["_tag"]) =>
        Effect.sync(() => {
          place = tag
        }),
      settle: TestClock.adjust(0)
    }
  })

export const code = (verdict: ReplyVerdict): string => (verdict._tag === "Accepted" ? "accepted" : verdict.code)
