/**
 * The child of bench/broker.ts: the real connection, dispatcher, writer and broker over stdio, with a run that makes client
 * calls and nothing else. No model and no disk: what is measured is the protocol and the broker.
 */
import { type Context, Effect, Layer } from "effect"
import { Approvals } from "../src/agent/Approvals.ts"
import { Models } from "../src/agent/model/Models.ts"
import { Runner } from "../src/agent/Runner.ts"
import { Broker } from "../src/broker/Broker.ts"
import * as BrokerLive from "../src/broker/BrokerLive.ts"
import { ProtectedResults } from "../src/broker/ProtectedResult.ts"
import { ProtectedResultsLive } from "../src/broker/protected/ProtectedResultsLive.ts"
import { uuid } from "../src/platform/Ids.ts"
import { serve } from "../src/server/Connection.ts"
import type { Startup } from "../src/server/Startup.ts"
import { Settings } from "../src/settings/Settings.ts"
import { MemorySessionStore } from "../src/store/MemorySessionStore.ts"
import { EventWriter } from "../src/transport/FrameWriter.ts"
import * as StdioTransport from "../src/transport/StdioTransport.ts"
import { settings } from "../test/support/settings.ts"

/** A turn's prompt: how many calls, how many at once, how many bytes of arguments. */
interface Load {
  readonly calls: number
  readonly atOnce: number
  readonly bytes: number
}

/** `protection: "worker"` scans results as the product does, `"none"` leaves the scan out. */
const protection = process.argv[2] === "none" ? "none" : "worker"

const runnerLayer = (tool: Parameters<Context.Service.Shape<typeof Broker>["call"]>[0]["tool"]) =>
  Layer.effect(
    Runner,
    Effect.gen(function* () {
      const broker = yield* Broker
      const writer = yield* EventWriter
      return {
        prepare: ({ session: { sessionId }, prompt, finished }) =>
          Effect.gen(function* () {
            const runId = yield* uuid
            const load: Load = JSON.parse(prompt)
            const identity = { sessionId, runId, taskId: null, subagentId: null }
            const common = { session_id: sessionId, run_id: runId }
            const text = "x".repeat(Math.max(0, load.bytes - 11))
            const one = Effect.gen(function* () {
              const activity_id = yield* uuid
              yield* writer.event({
                event: "activity.started",
                data: { ...common, activity_id, parent_id: null, kind: "tool", name: tool.name, task_id: null }
              })
              let call_id = ""
              yield* broker.call({
                identity,
                tool,
                arguments: { text },
                started: Effect.void,
                published: (id) => {
                  call_id = id
                }
              })
              yield* writer.event({
                event: "activity.finished",
                data: { ...common, activity_id, status: "success", call_id, code: null }
              })
            })
            const go = Effect.forEach(Array.from({ length: load.calls }), () => one, {
              concurrency: load.atOnce,
              discard: true
            }).pipe(
              Effect.orDie,
              Effect.andThen(Effect.sync(finished)),
              Effect.andThen(
                writer.event({
                  event: "run.finished",
                  data: {
                    ...common,
                    status: "completed",
                    error: null,
                    persistence: "complete",
                    history_revision: "r",
                    usage: null
                  }
                })
              ),
              Effect.asVoid
            )
            return { runId, go, cancel: Effect.void, close: Effect.void }
          })
      } satisfies Context.Service.Shape<typeof Runner>
    })
  )

const startup: Startup = ({ admission, instanceId }) => {
  const [tool] = admission.clientTools ?? []
  if (tool === undefined) throw new Error("the bench registers one tool")
  const results =
    protection === "worker"
      ? ProtectedResultsLive.pipe(Layer.provide(Layer.succeed(Settings, settings)))
      : Layer.succeed(ProtectedResults, { protect: Effect.succeed, maskText: Effect.succeed })
  return runnerLayer(tool).pipe(
    Layer.provideMerge(BrokerLive.layer({ instanceId })),
    Layer.provideMerge(results),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(Settings, settings),
        MemorySessionStore,
        Layer.succeed(Models, {
          catalog: [{ provider: "offline", model: "offline" }],
          revision: "m",
          initial: { provider: "offline", model: "offline" },
          get: () => Effect.succeed(undefined)
        }),
        Layer.succeed(Approvals, {
          request: () => Effect.void,
          answer: () => Effect.succeed(false),
          pending: Effect.succeed(0)
        })
      )
    )
  )
}

const code = await Effect.runPromise(
  serve({ workspace: process.cwd(), startup, server: { name: "bench", version: "0" } }).pipe(
    Effect.provide(StdioTransport.layer),
    Effect.orDie
  )
)
process.exit(code)
