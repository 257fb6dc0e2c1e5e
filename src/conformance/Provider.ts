/**
 * A scripted OpenAI-compatible provider on 127.0.0.1: `POST …/chat/completions`, streamed as server-sent events. It keeps
 * every request. It and what it is just answering end with the scope.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from "node:http"
import { Effect, FiberSet, type Scope } from "effect"
import { isJsonObject, type Json, type JsonObject } from "../protocol/index.ts"
import { at } from "./Json.ts"

/** One response of the model. */
export interface ProviderStep {
  readonly text?: string
  /** `arguments`: any JSON, or a string that is sent as it is. */
  readonly calls?: ReadonlyArray<{ readonly name: string; readonly arguments?: Json; readonly id?: string }>
  /** An HTTP status instead of an answer, with this error as its body's `error`. */
  readonly status?: number
  readonly error?: JsonObject
  /** Milliseconds before the answer. */
  readonly delay_ms?: number
  /** Milliseconds after each event. */
  readonly slow_ms?: number
  /** No answer at all. */
  readonly hang?: boolean
  /** Each event comes in two pieces, divided inside it. */
  readonly cut?: boolean
  /** The connection is destroyed before the end of the stream. */
  readonly broken?: boolean
  readonly usage?: JsonObject
}

/** The steps in turn (then `done`), or a function of the request's body and its number, from 0. */
export type ProviderPlan = ReadonlyArray<ProviderStep> | ((body: Json, n: number) => ProviderStep | undefined)

export interface ProviderRequest {
  /** Null where it is no JSON in strict UTF-8. */
  readonly body: Json
  readonly text: string
  readonly headers: IncomingHttpHeaders
}

export interface Provider {
  /** Every request so far. */
  readonly requests: ReadonlyArray<ProviderRequest>
  /** The names of the tools offered in request `n` (default: the last). */
  readonly tools: (n?: number) => ReadonlyArray<string>
  /** `{ name: "local", … }` of the settings, to build other settings from. */
  readonly entry: JsonObject
  /** Settings with this provider, `local`, models `m` and `m2`, the first selected; `more` joins the provider's entry. */
  readonly settingsWith: (more: JsonObject) => JsonObject
  readonly settings: JsonObject
}

const FRAGMENT = 7

const read = (request: IncomingMessage): Effect.Effect<Buffer> =>
  Effect.promise(async () => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    return Buffer.concat(chunks)
  })

const parsed = (bytes: Buffer): Json => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}

const refuse = (response: ServerResponse, status: number, step: ProviderStep): void => {
  const error = step.error ?? { message: `status ${status}`, type: "error", param: null, code: null }
  response.writeHead(status, { "content-type": "application/json", "retry-after": "0" })
  response.end(JSON.stringify({ error }))
}

/** The deltas of a step, in order: text in pieces, each call's head, the pieces of all calls' arguments interleaved. */
const deltasOf = (step: ProviderStep, n: number): ReadonlyArray<JsonObject> => {
  const deltas: Array<JsonObject> = [{ role: "assistant", content: "" }]
  const { calls = [], text = "" } = step
  for (let from = 0; from < text.length; from += 40) deltas.push({ content: text.slice(from, from + 40) })
  const pieces = calls.map((call, index) => {
    const raw = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {})
    const head = { name: call.name, arguments: "" }
    deltas.push({ tool_calls: [{ index, id: call.id ?? `call_${n}_${index}`, type: "function", function: head }] })
    // A long text in one piece: thousands of events would only take time.
    const size = raw.length < 4000 ? FRAGMENT : raw.length
    return Array.from({ length: Math.ceil(raw.length / size) }, (_, i) => raw.slice(i * size, (i + 1) * size))
  })
  for (let at = 0; pieces.some((one) => at < one.length); at++) {
    for (const [index, one] of pieces.entries()) {
      const piece = one[at]
      if (piece !== undefined) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  return deltas
}

const stream = (response: ServerResponse, step: ProviderStep, n: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const head = { id: `r${n}`, object: "chat.completion.chunk", created: 1, model: "m" }
    const send = (more: JsonObject) =>
      Effect.gen(function* () {
        const bytes = Buffer.from(`data: ${JSON.stringify({ ...head, ...more })}\n\n`)
        const half = step.cut ? bytes.length >> 1 : bytes.length
        response.write(bytes.subarray(0, half))
        if (step.cut) {
          yield* Effect.sleep(2)
          response.write(bytes.subarray(half))
        }
        if (step.slow_ms !== undefined) yield* Effect.sleep(step.slow_ms)
      })
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const delta of deltasOf(step, n)) yield* send({ choices: [{ index: 0, delta, finish_reason: null }] })
    if (step.broken) return void response.destroy()
    const finish_reason = step.calls === undefined || step.calls.length === 0 ? "stop" : "tool_calls"
    yield* send({ choices: [{ index: 0, delta: {}, finish_reason }] })
    if (step.usage !== undefined) yield* send({ choices: [], usage: step.usage })
    response.end("data: [DONE]\n\n")
  })

const listening: Effect.Effect<Server, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    })
)

/** Starts one; it listens until the scope closes. */
export const startProvider = (plan: ProviderPlan): Effect.Effect<Provider, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<ProviderRequest> = []
    const stepFor = typeof plan === "function" ? plan : (_: Json, n: number) => plan[n]
    const server = yield* listening
    const run = yield* FiberSet.makeRuntime<never, void>()
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      Effect.gen(function* () {
        const raw = yield* read(request)
        if (!request.url?.endsWith("/chat/completions")) return void response.writeHead(404).end("{}")
        const n = requests.length
        const body = parsed(raw)
        requests.push({ body, text: raw.toString(), headers: request.headers })
        const step = stepFor(body, n) ?? { text: "done" }
        if (step.delay_ms !== undefined) yield* Effect.sleep(step.delay_ms)
        if (step.hang) return
        if (step.status !== undefined) return refuse(response, step.status, step)
        yield* stream(response, step, n)
      })
    server.on("request", (request, response) => run(answer(request, response)))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const entry = { kind: "openai", base_url: `http://127.0.0.1:${port}/v1`, models: ["m", "m2"] }
    const settingsWith = (more: JsonObject): JsonObject => ({
      model: { provider: "local", model: "m" },
      providers: { local: { ...entry, ...more } }
    })
    return {
      requests,
      tools: (n = requests.length - 1) => {
        const offered = at(requests[n]?.body, "tools")
        if (!Array.isArray(offered)) return []
        return offered.map((one) => at(one, "function", "name")).filter((name) => typeof name === "string")
      },
      entry,
      settingsWith,
      settings: settingsWith({})
    }
  })

/** The messages of a request. */
export const messagesOf = (request: ProviderRequest | undefined): ReadonlyArray<JsonObject> => {
  const messages = at(request?.body, "messages")
  return Array.isArray(messages) ? messages.filter((one) => isJsonObject(one)) : []
}
