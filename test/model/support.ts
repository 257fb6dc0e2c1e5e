/** A real HTTP server that plays a provider, and what tests of a model need around it. */
import { Buffer } from "node:buffer"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Effect, Redacted, Stream } from "effect"
import { type LanguageModel, type Prompt, type Response, Tool, Toolkit } from "effect/ai"
import type { ModelFailure } from "../../src/agent/model/Models.ts"
import type { ProviderOptions } from "../../src/agent/model/Provider.ts"
import { modelFailure } from "../../src/agent/model/ProviderFailure.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import type { ModelSettings, ProviderSettings } from "../../src/settings/Settings.ts"

export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  /** The request's body as it was sent. */
  readonly raw: string
  /** Resolves with the time when the connection of this request is gone. */
  readonly gone: Promise<number>
}

export type Answer = (response: ServerResponse, asked: Asked, n: number) => unknown

export interface Server {
  readonly url: string
  readonly asked: ReadonlyArray<Asked>
}

/** Listens on loopback until the scope closes. */
export const serve = (answer: Answer) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<Asked> = []
      const sockets = new Set<Socket>()
      const server = createServer(async (request, response) => {
        const chunks: Array<Buffer> = []
        for await (const chunk of request) chunks.push(Buffer.from(chunk))
        const raw = Buffer.concat(chunks).toString()
        const gone = new Promise<number>((done) => response.on("close", () => done(performance.now())))
        const one = { path: request.url ?? "", headers: request.headers, body: JSON.parse(raw || "{}"), raw, gone }
        asked.push(one)
        await answer(response, one, asked.length - 1)
      })
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
      })
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
      const { port } = server.address() as AddressInfo
      return { url: `http://127.0.0.1:${port}`, asked, server, sockets }
    }),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        await new Promise((done) => server.close(done))
      })
  )

export const sse = { "content-type": "text/event-stream" }

/** Sends a stream of events as it is, in the given pieces, a turn of the event loop apart. */
export const pieces = async (response: ServerResponse, parts: ReadonlyArray<Uint8Array | string>): Promise<void> => {
  if (!response.headersSent) response.writeHead(200, sse)
  for (const part of parts) {
    response.write(part)
    await new Promise((done) => setImmediate(done))
  }
}

/** Cuts bytes at places that a seed decides, inside characters and line ends too. */
export const cutAt = (bytes: Uint8Array, seed: number, most: number): Array<Uint8Array> => {
  let state = seed
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; ) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    const size = 1 + ((state >>> 8) % most)
    parts.push(bytes.subarray(at, at + size))
    at += size
  }
  return parts
}

export const chunk = (delta: JsonObject, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

export const done = "data: [DONE]\n\n"

export const event = (data: JsonObject): string => `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`

export const options = (
  kind: "openai" | "anthropic",
  url: string,
  more: {
    readonly model?: Partial<ModelSettings>
    readonly provider?: Partial<ProviderSettings>
    readonly idleMs?: number
  } = {}
): ProviderOptions => ({
  name: "local",
  provider: {
    kind,
    base_url: kind === "openai" ? `${url}/v1` : url,
    api_key_env: null,
    api_key: null,
    insecure: false,
    models: [],
    script: null,
    ...more.provider
  },
  model: { id: "m", context_tokens: 128_000, max_output_tokens: 8192, ...more.model },
  ...(more.idleMs === undefined ? {} : { idleMs: more.idleMs })
})

export const withKey = (key: string): Partial<ProviderSettings> => ({
  api_key_env: "TEST_KEY",
  api_key: Redacted.make(key)
})

export const toolkitOf = (tools: ReadonlyArray<{ readonly name: string; readonly schema?: JsonObject }>) => {
  const made = tools.map(({ name, schema }) =>
    Tool.dynamic(name, {
      description: `About ${name}.`,
      parameters: schema ?? { type: "object", properties: {}, additionalProperties: false }
    })
  )
  const kit = Toolkit.make(...made)
  return Effect.provide(kit, kit.toLayer(Object.fromEntries(made.map(({ name }) => [name, () => Effect.succeed("")]))))
}

/** Asks as the runner does. */
export const ask = (
  model: LanguageModel.LanguageModel,
  prompt: Prompt.RawInput = "hello",
  tools: ReadonlyArray<{ readonly name: string; readonly schema?: JsonObject }> = []
): Stream.Stream<Response.StreamPart<Record<string, Tool.Any>, "deferred">, unknown> =>
  model.streamText({
    prompt,
    toolkit: toolkitOf(tools),
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  }) as Stream.Stream<Response.StreamPart<Record<string, Tool.Any>, "deferred">, unknown>

export interface Heard {
  readonly text: string
  readonly refusal: string
  readonly calls: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly params: unknown
    readonly invalid: Json
  }>
  readonly finish: string
  readonly input: number | undefined
  readonly uncached: number | undefined
  readonly output: number | undefined
  readonly types: ReadonlyArray<string>
}

/** What came, put together. */
export const heard = (parts: ReadonlyArray<Response.StreamPart<Record<string, Tool.Any>, "deferred">>): Heard => {
  const deltas = (refusal: boolean) =>
    parts.map((p) => (p.type === "text-delta" && (p.id === "refusal") === refusal ? p.delta : "")).join("")
  const finish = parts.find((p) => p.type === "finish")
  return {
    text: deltas(false),
    refusal: deltas(true),
    calls: parts.flatMap((p) => {
      if (p.type !== "tool-call") return []
      const own = p.metadata["magi-code"]
      const invalid = typeof own === "object" && own !== null && "invalidArguments" in own ? own.invalidArguments : null
      return [{ id: p.id, name: p.name, params: p.params, invalid: (invalid ?? null) as Json }]
    }),
    finish: finish?.reason ?? "",
    input: finish?.usage.inputTokens.total,
    uncached: finish?.usage.inputTokens.uncached,
    output: finish?.usage.outputTokens.total,
    types: parts.map((p) => p.type)
  }
}

export const collect = (stream: ReturnType<typeof ask>): Effect.Effect<Heard, ModelFailure> =>
  Stream.runCollect(stream).pipe(Effect.map(heard), Effect.mapError(modelFailure))
