/** A whole connection over memory pipes, with a small backend: the real broker, a runner that the test plays. */
import { type Context, Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approvals } from "../../src/agent/Approvals.ts"
import { Models } from "../../src/agent/model/Models.ts"
import { Runner } from "../../src/agent/Runner.ts"
import { Broker } from "../../src/broker/Broker.ts"
import * as BrokerLive from "../../src/broker/BrokerLive.ts"
import { ProtectedResults } from "../../src/broker/ProtectedResult.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { serve } from "../../src/server/Connection.ts"
import type { Startup } from "../../src/server/Startup.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { type SessionHandle, SessionStore, SessionUnavailable, StaleRevision } from "../../src/store/SessionStore.ts"
import { FrameReader } from "../../src/transport/FrameReader.ts"
import { EventWriter } from "../../src/transport/FrameWriter.ts"
import { makePair } from "../../src/transport/MemoryTransport.ts"
import { Transport } from "../../src/transport/Transport.ts"
import { descriptor } from "./BrokerHarness.ts"
import { settings } from "./settings.ts"

export interface Frame {
  readonly id?: string | null
  readonly result?: { readonly [key: string]: Json }
  readonly error?: { readonly code: string; readonly message: string; readonly path?: string }
  readonly event?: string
  readonly sequence?: number
  readonly data?: { readonly [key: string]: Json }
}

const session = (sessionId: string): SessionHandle => ({
  sessionId,
  delegated: { _tag: "TopLevel" },
  durable: Effect.succeed(false),
  revision: Effect.succeed("r0"),
  title: Effect.succeed(null),
  append: () => Effect.succeed("r1"),
  setTitle: () => Effect.void,
  setSelection: () => Effect.void,
  selection: Effect.succeed(null),
  records: Effect.succeed([]),
  page: () => Effect.fail(new StaleRevision({ message: "not the current revision" })),
  timeline: () => Effect.void
})

/** What a run of the test does: calls `client__a` as often as told, and ends when all have ended or it is cancelled. */
const runnerLayer = (calls: number) =>
  Layer.effect(
    Runner,
    Effect.gen(function* () {
      const broker = yield* Broker
      const writer = yield* EventWriter
      return {
        prepare: ({ session: { sessionId }, finished }) =>
          Effect.gen(function* () {
            const runId = "run-1"
            const ended = yield* Deferred.make<void>()
            const fiber = yield* Deferred.make<Fiber.Fiber<void>>()
            const identity = { sessionId, runId, taskId: null, subagentId: null }
            const body = Effect.forEach(
              Array.from({ length: calls }),
              () =>
                Effect.ignore(
                  broker.call({
                    identity,
                    tool: descriptor(),
                    arguments: {},
                    started: Effect.void,
                    published: () => {}
                  })
                ),
              { concurrency: "unbounded", discard: true }
            )
            const finish = (status: string) =>
              Effect.andThen(
                Effect.sync(finished),
                writer.event({ event: "run.finished", data: { session_id: sessionId, run_id: runId, status } })
              )
            const go = Effect.gen(function* () {
              yield* writer.event({ event: "run.started", data: { session_id: sessionId, run_id: runId } })
              const running = yield* Effect.forkChild(body, { startImmediately: true })
              yield* Deferred.succeed(fiber, running)
              const exit = yield* Fiber.await(running)
              yield* finish(exit._tag === "Success" ? "completed" : "cancelled")
              yield* Deferred.succeed(ended, undefined)
            })
            const cancel = Effect.flatMap(Deferred.await(fiber), (running) => Fiber.interrupt(running))
            return { runId, go, cancel, close: Effect.andThen(cancel, Deferred.await(ended)) }
          })
      } satisfies Context.Service.Shape<typeof Runner>
    })
  )

export interface HarnessOptions {
  /** How many client calls the run makes. */
  readonly calls?: number
  /** Runs while starting up. */
  readonly startup?: Effect.Effect<void>
  /** Chunks each direction of the pipe holds. */
  readonly chunks?: number
  readonly protect?: Effect.Effect<void>
  /** `session.list` waits for this. */
  readonly list?: Effect.Effect<void>
  readonly closeRequested?: Effect.Effect<void>
  /** A finalizer of the backend. */
  readonly finalizer?: Effect.Effect<void>
}

export const makeConnection = (options: HarnessOptions = {}) =>
  Effect.gen(function* () {
    const [parent, child] = yield* makePair({ chunks: options.chunks ?? 4096 })
    const startup: Startup = ({ instanceId }) => {
      const base = Layer.mergeAll(
        Layer.effectDiscard(
          Effect.gen(function* () {
            yield* Effect.addFinalizer(() => options.finalizer ?? Effect.void)
            yield* options.startup ?? Effect.void
          })
        ),
        Layer.succeed(Settings, settings),
        Layer.succeed(Models, {
          catalog: [{ provider: "offline", model: "offline" }],
          revision: "m1",
          initial: { provider: "offline", model: "offline" },
          get: () => Effect.succeed(undefined)
        }),
        Layer.succeed(SessionStore, {
          create: ({ sessionId }) => Effect.succeed(session(sessionId)),
          open: () =>
            Effect.fail(new SessionUnavailable({ code: "session_not_found", message: "there is no such session" })),
          list: () =>
            Effect.as(options.list ?? Effect.void, { entries: [], revision: "l1", cursor: null, complete: true })
        }),
        Layer.succeed(Approvals, {
          request: () => Effect.void,
          answer: () => Effect.succeed(false),
          pending: Effect.succeed(0)
        }),
        Layer.succeed(ProtectedResults, {
          protect: (value) => Effect.as(options.protect ?? Effect.void, value),
          maskText: Effect.succeed
        })
      )
      return runnerLayer(options.calls ?? 1).pipe(
        Layer.provideMerge(BrokerLive.layer({ instanceId })),
        Layer.provideMerge(base)
      )
    }
    const scope = yield* Effect.scope
    const exit = yield* Effect.forkIn(
      serve({
        workspace: "/workspace",
        startup,
        server: { name: "magi-code", version: "0" },
        ...(options.closeRequested ? { closeRequested: options.closeRequested } : {})
      }).pipe(Effect.provideService(Transport, child)),
      scope
    )
    const frames: Array<Frame> = []
    const reader = new FrameReader(65_536)
    /** Reads what is there. */
    const pump = Effect.gen(function* () {
      for (;;) {
        const chunk = yield* parent.read
        if (chunk === null) return
        for (const frame of reader.push(chunk).frames) frames.push(JSON.parse(new TextDecoder().decode(frame)))
      }
    })
    let pumping: Fiber.Fiber<void, unknown> | undefined
    /** Lets everything run that can, until nothing more is said. */
    const settle: Effect.Effect<void> = Effect.suspend(() => {
      const before = frames.length
      return Effect.forEach(Array.from({ length: 50 }), () => TestClock.adjust(0), { discard: true }).pipe(
        Effect.andThen(Effect.suspend(() => (frames.length > before ? settle : Effect.void)))
      )
    })
    let lastId = 0
    const text = (method: string, params: JsonObject, id: string) =>
      `${JSON.stringify({ version: 1, id, method, params })}\n`
    const raw = (chunk: string) => Effect.andThen(parent.write(new TextEncoder().encode(chunk)), settle)
    const startReading = Effect.gen(function* () {
      pumping ??= yield* Effect.forkIn(pump, scope)
      yield* settle
    })
    yield* startReading
    const request = (method: string, params: JsonObject = {}) =>
      Effect.gen(function* () {
        const id = `q${++lastId}`
        yield* raw(text(method, params, id))
        return frames.find((frame) => frame.id === id)
      })
    return {
      frames,
      raw,
      text,
      request,
      settle,
      /** The parent stops reading: its pipe fills. */
      stopReading: Effect.suspend(() => {
        const fiber = pumping
        pumping = undefined
        return fiber ? Fiber.interrupt(fiber) : Effect.void
      }),
      startReading,
      eof: Effect.andThen(parent.end, settle),
      /** The parent is gone: its end of both pipes is closed. */
      close: Effect.andThen(parent.close, settle),
      exit,
      exitCode: Effect.sync(() => {
        const ended = exit.pollUnsafe()
        return ended?._tag === "Success" ? ended.value : undefined
      }),
      events: (name: string) => frames.filter((frame) => frame.event === name),
      /** Initialized with `client__a`, a session, and a turn that is running. */
      running: Effect.gen(function* () {
        yield* request("initialize", {
          required_capabilities: ["client.tools"],
          client_tools: [{ name: "client__a", description: "A tool.", input_schema: { type: "object" } }]
        })
        const created = yield* request("session.create")
        const sessionId = String(created?.result?.session_id)
        yield* request("turn.start", { session_id: sessionId, prompt: "go" })
        return sessionId
      }),
      reply: (nth: number, id: string): string => {
        const call = frames.filter((frame) => frame.event === "client.tool.call")[nth]
        const instance = frames.find((frame) => frame.result?.instance_id !== undefined)?.result?.instance_id ?? ""
        return text(
          "client.tool.result",
          {
            instance_id: instance,
            session_id: call?.data?.session_id ?? "",
            run_id: call?.data?.run_id ?? "",
            call_id: call?.data?.call_id ?? "",
            task_id: null,
            subagent_id: null,
            status: "success",
            text: "ok"
          },
          id
        )
      }
    }
  })

export type { Scope }
