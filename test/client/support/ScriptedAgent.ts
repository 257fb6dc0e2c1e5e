/** An agent in memory: it answers what a client needs to get going, and says what a test tells it to. */
import { Deferred, Effect, Queue, type Scope } from "effect"
import { type AgentLink, fromTransport } from "../../../src/client/AgentLink.ts"
import { ClientToolLimits, Limits } from "../../../src/protocol/Limits.ts"
import { FrameReader } from "../../../src/transport/FrameReader.ts"
import * as MemoryTransport from "../../../src/transport/MemoryTransport.ts"

export interface Seen {
  readonly id: string
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames
  readonly params: any
}

export interface ScriptOptions {
  readonly limits?: Partial<Record<keyof typeof Limits, number>>
  readonly toolLimits?: Partial<Record<keyof typeof ClientToolLimits, number>>
  /** Methods that are not answered by themselves. */
  readonly silent?: ReadonlyArray<string>
  /** What methods are answered with, beside or in place of the usual; a string is the code of an error. */
  readonly answers?: Readonly<Record<string, object | string>>
  /** Do not read at all after this many requests. */
  readonly readAtMost?: number
}

export const INSTANCE = "inst-1"
export const SESSION = "sess-1"
export const RUN = "run-1"

export interface ScriptedAgent {
  readonly link: AgentLink
  /** Everything that was read, in order. */
  readonly seen: ReadonlyArray<Seen>
  /** Waits for the next request of a method that was not taken yet. */
  readonly take: (method: string) => Effect.Effect<Seen>
  readonly results: () => ReadonlyArray<Seen["params"]>
  readonly answer: (id: string, result?: object) => Effect.Effect<void>
  readonly fail: (id: string | null, code: string, message?: string) => Effect.Effect<void>
  /** An event of the run; `envelope` replaces members of the envelope. */
  readonly event: (event: string, data?: object, envelope?: object) => Effect.Effect<void>
  readonly call: (callId: string, name: string, args?: object, more?: object) => Effect.Effect<void>
  readonly cancel: (callId: string, reason?: string) => Effect.Effect<void>
  readonly finish: (status?: string, error?: object | null) => Effect.Effect<void>
  readonly raw: (bytes: string | Uint8Array) => Effect.Effect<void>
  readonly close: Effect.Effect<void>
  /** Ends when the client has given EOF. */
  readonly eof: Effect.Effect<void>
}

export const make = (options: ScriptOptions = {}): Effect.Effect<ScriptedAgent, never, Scope.Scope> =>
  Effect.gen(function* () {
    const [client, agent] = yield* MemoryTransport.makePair()
    const seen: Array<Seen> = []
    const queues = new Map<string, Queue.Queue<Seen>>()
    const eof = yield* Deferred.make<void>()
    const encoder = new TextEncoder()
    let sequence = 0
    let tools: ReadonlyArray<{ readonly name: string }> = []

    const queueOf = (method: string) =>
      Effect.suspend(() => {
        const known = queues.get(method)
        if (known !== undefined) return Effect.succeed(known)
        return Effect.tap(Queue.unbounded<Seen>(), (made) => Effect.sync(() => queues.set(method, made)))
      })
    const raw = (bytes: string | Uint8Array) =>
      Effect.ignore(agent.write(typeof bytes === "string" ? encoder.encode(bytes) : bytes))
    const send = (frame: object) => raw(`${JSON.stringify(frame)}\n`)
    const answer = (id: string, result: object = { accepted: true }) => send({ version: 1, id, result })
    const fail = (id: string | null, code: string, message = "refused by the test") =>
      send({ version: 1, id, error: { code, message } })
    const limits = { ...ClientToolLimits, ...options.toolLimits }
    const defaults: Record<string, () => object> = {
      initialize: () => ({
        protocol: "magi-code.local-agent",
        version: 1,
        instance_id: INSTANCE,
        server: { name: "scripted", version: "1" },
        workspace: "/",
        capabilities: ["initialize", "session.create", "turn.start", "turn.cancel", "client.tools"],
        limits: { ...Limits, ...options.limits },
        selection: { provider: "offline", model: "offline", revision: "sel-1" },
        extensions: {},
        ...(tools.length > 0 ? { client_tools: { tools: tools.map((tool) => tool.name), limits } } : {})
      }),
      "session.create": () => ({ session_id: SESSION, durable: false, history_revision: "h-1" }),
      "turn.start": () => ({ run_id: RUN, accepted: true }),
      "turn.cancel": () => ({ accepted: true }),
      "approval.answer": () => ({ accepted: true }),
      "client.tool.result": () => ({ accepted: true })
    }
    const receive = (line: Uint8Array) =>
      Effect.gen(function* () {
        const request: Seen = JSON.parse(new TextDecoder().decode(line))
        seen.push(request)
        if (request.method === "initialize") tools = request.params.client_tools ?? []
        yield* Effect.flatMap(queueOf(request.method), (queue) => Queue.offer(queue, request))
        if (options.silent?.includes(request.method) === true) return
        const reply = options.answers?.[request.method] ?? defaults[request.method]?.()
        if (typeof reply === "string") yield* fail(request.id, reply)
        else if (reply !== undefined) yield* answer(request.id, reply)
      })
    const splitter = new FrameReader(Limits.input_frame_bytes)
    const read = Effect.gen(function* () {
      if (seen.length >= (options.readAtMost ?? Number.POSITIVE_INFINITY)) return yield* Effect.never
      const chunk = yield* Effect.orElseSucceed(agent.read, () => null)
      if (chunk === null) {
        yield* Deferred.succeed(eof, undefined)
        return yield* Effect.never
      }
      for (const line of splitter.push(chunk).frames) yield* receive(line)
    })
    yield* Effect.forkScoped(Effect.forever(read))

    const event = (name: string, data: object = {}, envelope: object = {}) =>
      Effect.suspend(() => {
        sequence += 1
        return send({
          version: 1,
          event: name,
          instance_id: INSTANCE,
          sequence,
          data: { session_id: SESSION, run_id: RUN, ...data },
          ...envelope
        })
      })
    const ofCall = (callId: string) => ({ call_id: callId, task_id: null, subagent_id: null })
    return {
      link: fromTransport(client),
      seen,
      take: (method) => Effect.flatMap(queueOf(method), Queue.take),
      results: () => seen.filter((one) => one.method === "client.tool.result").map((one) => one.params),
      answer,
      fail,
      event,
      call: (callId, name, args = {}, more = {}) =>
        event("client.tool.call", { ...ofCall(callId), name, arguments: args, timeout_ms: 30_000, ...more }),
      cancel: (callId, reason = "cancelled") => event("client.tool.cancel", { ...ofCall(callId), reason }),
      finish: (status = "completed", error = null) =>
        event("run.finished", { status, error, persistence: "complete", history_revision: "h-2", usage: null }),
      raw,
      close: agent.close,
      eof: Deferred.await(eof)
    } satisfies ScriptedAgent
  })
