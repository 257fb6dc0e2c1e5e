/**
 * The real runner, pipeline, broker, approvals and offline model over a store in memory and a writer that records. No
 * process, no disk; time is the test's.
 */
import { Context, Effect, Fiber, Layer } from "effect"
import { Approvals } from "../../src/agent/Approvals.ts"
import * as ApprovalsLive from "../../src/agent/ApprovalsLive.ts"
import { Hooks } from "../../src/agent/hooks/Hooks.ts"
import { type ModelHandle, Models } from "../../src/agent/model/Models.ts"
import * as ModelsLive from "../../src/agent/model/ModelsLive.ts"
import { NestedCalls } from "../../src/agent/NestedCalls.ts"
import { Runner } from "../../src/agent/Runner.ts"
import * as RunnerLive from "../../src/agent/RunnerLive.ts"
import { Broker } from "../../src/broker/Broker.ts"
import * as BrokerLive from "../../src/broker/BrokerLive.ts"
import { ProtectedResults, ResultRejected } from "../../src/broker/ProtectedResult.ts"
import * as CompactJson from "../../src/protocol/CompactJson.ts"
import type { EffectiveDescriptor } from "../../src/protocol/Descriptor.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { type EffectiveSettings, Settings } from "../../src/settings/Settings.ts"
import { MemorySessionStore } from "../../src/store/MemorySessionStore.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { type SessionHandle, SessionStore } from "../../src/store/SessionStore.ts"
import * as ClientTools from "../../src/tools/client/ClientTools.ts"
import type { AgentTool, ToolFailure, ToolOutput } from "../../src/tools/Tool.ts"
import { EventWriter, type OutputEvent, type Place } from "../../src/transport/FrameWriter.ts"
import { settings as plainSettings } from "../support/settings.ts"

export const INSTANCE = "instance-1"

export const script = (steps: Json): string => `script:${JSON.stringify(steps)}`
export const call = (name: string, args: Json = {}) => ({ name, arguments: args })

export const client = (name: string, more: Partial<EffectiveDescriptor> = {}): EffectiveDescriptor => ({
  name: `client__${name}`,
  description: `The ${name} tool.`,
  input_schema: { type: "object" },
  timeout_ms: 30_000,
  ...more
})

/** A built-in that does what the test says. */
export const builtin = (
  name: string,
  execute: (args: JsonObject) => Effect.Effect<ToolOutput, ToolFailure>,
  more: Partial<AgentTool> = {}
): AgentTool => ({
  name,
  description: `Built-in ${name}.`,
  inputSchema: { type: "object" },
  origin: "builtin",
  role: "generic",
  fingerprint: null,
  compact: false,
  prepare: (args) => Effect.succeed({ approval: null, lines: [], execute: execute(args) }),
  ...more
})

const outcomesOf = (calls: Json) =>
  Effect.gen(function* () {
    const nested = yield* NestedCalls
    const outcomes = yield* Effect.forEach(
      Array.isArray(calls) ? calls : [],
      (one: JsonObject) => nested.call(String(one["name"]), one["arguments"] ?? {}),
      { concurrency: "unbounded" }
    )
    return { text: "", structured: outcomes.map((one) => one.error?.code ?? one.structured ?? one.text) }
  })

/** What a script is to the pipeline: a tool that makes calls of its own, all at once. */
export const codeMode: AgentTool = builtin("code_mode", () => Effect.succeed({ text: "" }), {
  role: "code_mode",
  compact: true,
  prepare: (args) => Effect.succeed({ approval: null, lines: [], execute: outcomesOf(args["calls"] ?? []) })
})

export interface AgentOptions {
  readonly tools?: ReadonlyArray<AgentTool>
  readonly client?: ReadonlyArray<EffectiveDescriptor>
  readonly settings?: Partial<EffectiveSettings>
  readonly cards?: boolean
  readonly hooks?: Partial<Context.Service.Shape<typeof Hooks>>
  /** What becomes of a session's appends and reads. */
  readonly session?: (handle: SessionHandle) => SessionHandle
  readonly model?: (handle: ModelHandle) => ModelHandle
  readonly maskText?: (text: string) => string
  /** When an event that was placed is admitted. */
  readonly admitted?: (event: OutputEvent) => Effect.Effect<void>
}

/** Lets everything run that can without the test's time passing: real turns of the event loop, since files are looked for. */
export const until = (what: string, done: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    const deadline = performance.now() + 10_000
    for (let turn = 0; !done(); turn++) {
      if (performance.now() > deadline) throw new Error(`it never came: ${what}`)
      await new Promise<unknown>((resolve) => (turn < 200 ? setImmediate(resolve, 0) : setTimeout(resolve, 2)))
    }
  })

export const makeAgent = (options: AgentOptions = {}) =>
  Effect.gen(function* () {
    const frames: Array<OutputEvent> = []
    let protections = 0
    const writer: Context.Service.Shape<typeof EventWriter> = {
      placeEvent: (event): Place => {
        frames.push(event)
        return { _tag: "Placed", admitted: options.admitted?.(event) ?? Effect.void }
      },
      event: (event) => Effect.sync(() => writer.placeEvent(event)._tag)
    }
    const settings = { ...plainSettings, ...options.settings }
    const rename = options.session ?? ((handle: SessionHandle) => handle)
    const base = Layer.mergeAll(
      Layer.succeed(EventWriter, writer),
      Layer.succeed(Settings, settings),
      Layer.succeed(Hooks, {
        before: (one) => Effect.succeed(one.arguments),
        after: () => Effect.void,
        ...options.hooks
      }),
      Layer.succeed(ProtectedResults, {
        protect: (value, maxBytes) => {
          protections += 1
          return CompactJson.byteLength(value.structured ?? "") + Buffer.byteLength(value.text) > maxBytes + 2
            ? Effect.fail(new ResultRejected({ rule: "too_large", path: "/text", message: "too large" }))
            : Effect.succeed(value)
        },
        maskText: (text) => Effect.succeed(options.maskText?.(text) ?? text)
      }),
      Layer.effect(
        SessionStore,
        Effect.map(SessionStore, (store) => ({
          ...store,
          create: (one) => Effect.map(store.create(one), rename),
          open: (one) => Effect.map(store.open(one), rename)
        }))
      ).pipe(Layer.provide(MemorySessionStore))
    )
    const models = Layer.effect(
      Models,
      Effect.map(Models, (live) => ({
        ...live,
        get: (entry) =>
          Effect.map(live.get(entry), (handle) => (handle && options.model ? options.model(handle) : handle))
      }))
    ).pipe(Layer.provide(ModelsLive.layer))
    const runner = Layer.unwrap(
      Effect.map(ClientTools.make(options.client ?? []), (tools) =>
        RunnerLive.layer({ tools: [...(options.tools ?? []), ...tools], cards: options.cards ?? false })
      )
    )
    const context = yield* Layer.build(
      runner.pipe(
        Layer.provideMerge(Layer.mergeAll(ApprovalsLive.layer, BrokerLive.layer({ instanceId: INSTANCE }), models)),
        Layer.provideMerge(base)
      )
    )
    const broker = Context.get(context, Broker)
    const store = Context.get(context, SessionStore)
    const session = yield* store.create({ sessionId: "session-1", workspace: settings.workspace })
    let finishedCalls = 0

    const events = (name: string): ReadonlyArray<JsonObject> =>
      frames.filter((frame) => frame.event === name).map((frame) => frame.data)
    const finished = () => events("run.finished")

    const prepare = (prompt: string, handle: SessionHandle = session, model = "offline") =>
      Context.get(context, Runner).prepare({
        session: handle,
        prompt,
        selection: { provider: "offline", model },
        finished: () => {
          finishedCalls += 1
        }
      })

    /** Starts a turn; it is not waited for. */
    const start = (prompt: Json, handle?: SessionHandle) =>
      Effect.gen(function* () {
        const run = yield* prepare(typeof prompt === "string" ? prompt : script(prompt), handle)
        const fiber = yield* Effect.forkDetach(run.go, { startImmediately: true })
        return { ...run, fiber }
      })

    const calls = () => events("client.tool.call")

    const replyTo = (one: JsonObject, more: JsonObject = {}) =>
      broker.reply(
        {
          instance_id: INSTANCE,
          session_id: one["session_id"] ?? "",
          run_id: one["run_id"] ?? "",
          call_id: one["call_id"] ?? "",
          task_id: one["task_id"] ?? null,
          subagent_id: one["subagent_id"] ?? null,
          status: "success",
          text: "ok",
          ...more
        },
        () => {}
      )

    return {
      frames,
      names: () => frames.map((frame) => frame.event),
      events,
      broker,
      approvals: Context.get(context, Approvals),
      store,
      session,
      prepare,
      start,
      /** Runs a turn that needs nobody to its end. */
      run: (prompt: Json, handle?: SessionHandle) =>
        Effect.gen(function* () {
          const before = finished().length
          const { fiber } = yield* start(prompt, handle)
          yield* until("the end of the run", () => finished().length > before)
          yield* Fiber.await(fiber)
          return finished()[before] ?? {}
        }),
      finished,
      ended: until("run.finished", () => finished().length > 0),
      finishedCalls: () => finishedCalls,
      protections: () => protections,
      calls,
      pending: (count: number) => until(`${count} calls`, () => calls().length >= count),
      replyTo,
      reply: (nth: number, more: JsonObject = {}) => Effect.suspend(() => replyTo(calls()[nth] ?? {}, more)),
      cancels: () => events("client.tool.cancel").map((data) => data["reason"]),
      /** The text of the last message. */
      text: () => {
        const parts = events("message.reconcile")
        const last = parts.at(-1)?.["message_id"]
        return parts
          .filter((part) => part["message_id"] === last)
          .map((part) => part["text"])
          .join("")
      },
      /** The `{{results}}` lines of the last message. */
      results: (): ReadonlyArray<{ name: string; success: boolean; content: Json; error?: { code: string } }> => {
        const parts = events("message.reconcile")
        const last = parts.at(-1)?.["message_id"]
        const text = parts.filter((part) => part["message_id"] === last).map((part) => part["text"])
        return text
          .join("")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
      },
      records: Effect.orDie(session.records),
      outcomes: Effect.map(Effect.orDie(session.records), (records) =>
        records.filter(
          (record): record is Extract<SessionRecord, { kind: "call_outcome" }> => record.kind === "call_outcome"
        )
      )
    }
  })
