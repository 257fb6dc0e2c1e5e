/**
 * An agent in memory for the tests of an application: it executes nothing by itself, it calls the application's tools as a
 * test tells it to and hands back what they replied. No process and no clock of its own, so `TestClock` rules.
 * product section 4 (`magi-code/testing`).
 */
import { Data, Deferred, Effect, type Scope } from "effect"
import { type AgentLink, fromTransport } from "../client/AgentLink.ts"
import { baseCapabilities } from "../protocol/Capability.ts"
import type { CancelReason } from "../protocol/ErrorCode.ts"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import { ClientToolLimits, Limits } from "../protocol/Limits.ts"
import { FrameReader } from "../transport/FrameReader.ts"
import { makePair } from "../transport/MemoryTransport.ts"

/** What a tool replied, as it came over the wire. */
export interface ScriptedReply {
  readonly status: "success" | "error"
  readonly text: string
  /** Absent when there was none. */
  readonly structured?: Json
}

/** The script asked for what cannot be: a call outside of a turn, or the client is gone. */
export class ScriptFault extends Data.TaggedError("ScriptFault")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** One call in flight. */
export interface ScriptedCall {
  readonly callId: string
  /** Waits for the reply; fails when the client goes before it. A cancelled call gets none. */
  readonly reply: Effect.Effect<ScriptedReply, ScriptFault>
  /** Sends `client.tool.cancel`. */
  readonly cancel: (reason?: CancelReason) => Effect.Effect<void>
}

/** What a script can do while a turn runs. */
export interface ScriptedRun {
  readonly prompt: string
  /** Publishes a call of a registered tool; `name` with or without `client__`. `timeoutMs` is what the call announces. */
  readonly start: (
    name: string,
    args?: JsonObject,
    options?: { readonly timeoutMs?: number }
  ) => Effect.Effect<ScriptedCall, ScriptFault>
  /** `start`, and its reply. */
  readonly call: (name: string, args?: JsonObject) => Effect.Effect<ScriptedReply, ScriptFault>
}

/** What the agent does. */
export interface ScriptedAgentOptions {
  /** Plays one turn; its string is the final text. A failure ends the run as `failed`. */
  readonly onTurn: (run: ScriptedRun) => Effect.Effect<string, ScriptFault>
}

/** An agent without a process, and what it has seen. */
export interface ScriptedAgent {
  /** For `Agent.over`. */
  readonly link: AgentLink
  /** Names that the client registered, in order; empty before `initialize`. */
  readonly tools: Effect.Effect<ReadonlyArray<string>>
  /** Methods of all requests so far, in the order read. */
  readonly requests: Effect.Effect<ReadonlyArray<string>>
}

const INSTANCE = "scripted-instance"

interface Request {
  readonly id: string
  readonly method: string
  readonly params: JsonObject
}

/** The client of this package wrote it; anything else is not for a scripted agent. */
const requestOf = (line: Uint8Array): Request => {
  const frame: Json = JSON.parse(new TextDecoder().decode(line))
  const json: JsonObject = isJsonObject(frame) ? frame : {}
  const params = json["params"] ?? {}
  return { id: String(json["id"]), method: String(json["method"]), params: isJsonObject(params) ? params : {} }
}

const gone = new ScriptFault({ reason: "the client is gone" })

/** Makes the agent; it ends with the scope. */
export const make = (options: ScriptedAgentOptions): Effect.Effect<ScriptedAgent, never, Scope.Scope> =>
  Effect.gen(function* () {
    const [client, agent] = yield* makePair()
    const scope = yield* Effect.scope
    const encoder = new TextEncoder()
    const requests: Array<string> = []
    const calls = new Map<string, Deferred.Deferred<ScriptedReply, ScriptFault>>()
    let tools: ReadonlyArray<string> = []
    let made = 0
    let sequence = 0
    let session = ""
    let run: { readonly id: string; readonly cancelled: Deferred.Deferred<void> } | undefined

    const send = (frame: object) => Effect.ignore(agent.write(encoder.encode(`${JSON.stringify(frame)}\n`)))
    const answer = (id: string, result: object) => send({ version: 1, id, result })
    const refuse = (id: string, code: string) =>
      send({ version: 1, id, error: { code, message: "refused by a script" } })
    const event = (runId: string, name: string, data: object) =>
      Effect.suspend(() => {
        sequence += 1
        const whole = { session_id: session, run_id: runId, ...data }
        return send({ version: 1, event: name, instance_id: INSTANCE, sequence, data: whole })
      })

    const start =
      (runId: string): ScriptedRun["start"] =>
      (given, args = {}, more) =>
        Effect.gen(function* () {
          const name = given.startsWith("client__") ? given : `client__${given}`
          if (run?.id !== runId) return yield* new ScriptFault({ reason: "the turn is over" })
          if (!tools.includes(name)) return yield* new ScriptFault({ reason: `${name} is not registered` })
          made += 1
          const callId = `call-${made}`
          const identity = { call_id: callId, task_id: null, subagent_id: null }
          const replied = yield* Deferred.make<ScriptedReply, ScriptFault>()
          calls.set(callId, replied)
          const timeout_ms = more?.timeoutMs ?? ClientToolLimits.default_timeout_ms
          yield* event(runId, "client.tool.call", { ...identity, name, arguments: args, timeout_ms })
          return {
            callId,
            reply: Deferred.await(replied),
            cancel: (reason = "cancelled") =>
              Effect.suspend(() =>
                calls.delete(callId) ? event(runId, "client.tool.cancel", { ...identity, reason }) : Effect.void
              )
          }
        })

    const play = (runId: string, prompt: string, cancelled: Deferred.Deferred<void>) =>
      Effect.gen(function* () {
        yield* event(runId, "run.started", { provider: "scripted", model: "scripted" })
        const begin = start(runId)
        const script = options.onTurn({
          prompt,
          start: begin,
          call: (name, args) => Effect.flatMap(begin(name, args), (call) => call.reply)
        })
        const ended = yield* Effect.raceFirst(
          Effect.match(script, {
            onSuccess: (text) => ({ status: "completed", text, error: null }),
            onFailure: ({ reason }) => ({
              status: "failed",
              text: "",
              error: { code: "internal_error", message: reason }
            })
          }),
          Effect.as(Deferred.await(cancelled), { status: "cancelled", text: "", error: null })
        )
        for (const [callId] of calls) {
          const reason = ended.status === "cancelled" ? "cancelled" : "run_finished"
          yield* event(runId, "client.tool.cancel", { call_id: callId, task_id: null, subagent_id: null, reason })
        }
        calls.clear()
        const { error, status, text } = ended
        if (text !== "") yield* event(runId, "message.reconcile", { message_id: `m-${runId}`, part: 0, parts: 1, text })
        run = undefined
        const rest = { persistence: "complete", history_revision: `h-${runId}`, usage: null }
        yield* event(runId, "run.finished", { status, error, ...rest })
      })

    const initialized = (params: JsonObject) => {
      const given = params["client_tools"]
      if (Array.isArray(given)) tools = given.map((tool) => (isJsonObject(tool) ? String(tool["name"]) : ""))
      const asked = params["required_capabilities"]
      const client_tools = { tools, limits: ClientToolLimits }
      const negotiated = Array.isArray(asked) && asked.includes("client.tools")
      return {
        protocol: "magi-code.local-agent",
        version: 1,
        instance_id: INSTANCE,
        server: { name: "scripted", version: "1" },
        workspace: "/",
        capabilities: [...baseCapabilities, ...(negotiated ? ["client.tools"] : [])],
        limits: Limits,
        selection: { provider: "scripted", model: "scripted", revision: "s-1" },
        extensions: negotiated
          ? { "client.tools": { schema_version: 1, registration: "startup_only", ...client_tools } }
          : {},
        ...(negotiated ? { client_tools } : {})
      }
    }

    const receive = ({ id, method, params }: Request): Effect.Effect<void> =>
      Effect.gen(function* () {
        requests.push(method)
        switch (method) {
          case "initialize":
            return yield* answer(id, initialized(params))
          case "session.create":
            made += 1
            session = `session-${made}`
            return yield* answer(id, { session_id: session, durable: false, history_revision: "h-0" })
          case "turn.start": {
            if (run !== undefined) return yield* refuse(id, "run_active")
            made += 1
            const runId = `run-${made}`
            const cancelled = yield* Deferred.make<void>()
            run = { id: runId, cancelled }
            yield* answer(id, { run_id: runId, accepted: true })
            yield* Effect.forkIn(play(runId, String(params["prompt"]), cancelled), scope)
            return
          }
          case "turn.cancel":
            if (run === undefined) return yield* refuse(id, "stale_run")
            yield* answer(id, { accepted: true })
            yield* Deferred.succeed(run.cancelled, undefined)
            return
          case "client.tool.result": {
            const callId = String(params["call_id"])
            const waiting = calls.get(callId)
            if (waiting === undefined) return yield* refuse(id, "stale_client_tool_call")
            calls.delete(callId)
            yield* answer(id, { accepted: true })
            const { status, structured, text } = params
            const reply: ScriptedReply = {
              status: status === "success" ? "success" : "error",
              text: String(text),
              ...(structured === undefined ? {} : { structured })
            }
            yield* Deferred.succeed(waiting, reply)
            return
          }
          case "approval.answer":
          case "shutdown":
            return yield* answer(id, { accepted: true })
          default:
            return yield* refuse(id, "unsupported_method")
        }
      })

    const frames = new FrameReader(Limits.input_frame_bytes)
    const read = Effect.gen(function* () {
      for (;;) {
        const chunk = yield* Effect.orElseSucceed(agent.read, () => null)
        if (chunk === null) break
        for (const line of frames.push(chunk).frames) yield* receive(requestOf(line))
      }
      for (const waiting of calls.values()) yield* Deferred.fail(waiting, gone)
      yield* agent.close
    })
    yield* Effect.forkScoped(read)
    return {
      link: fromTransport(client),
      tools: Effect.sync(() => tools),
      requests: Effect.sync(() => [...requests])
    }
  })
