/**
 * The agent's backend inside another program, served over a Unix socket: `node examples/embed-server.ts [SOCKET]`. In another
 * project the imports are from "magi-code/server" and "magi-code".
 *
 * Everything is the program's own: the transport, the model, the settings, and the store, which here all connections share.
 * Without a socket's path it serves one of its own and asks it something, so that there is something to see.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, connect as open, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Context, Effect, FiberSet, Layer, Option, Stream } from "effect"
import { LanguageModel } from "effect/ai"
import { Agent, fromTransport, ToolkitTools } from "../src/index.ts"
import {
  fromStreams,
  MemorySessionStore,
  modelsFromLanguageModel,
  SessionStore,
  serve,
  startupWith,
  Transport
} from "../src/server/index.ts"
import records from "./tools.ts"

/** A model of one's own. It looks R-17 up, once, and then says that it has. Any provider's Layer goes in its place. */
const OwnModel = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.succeed([]),
    streamText: ({ prompt }) => {
      const usage = {
        inputTokens: { uncached: undefined, total: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: undefined, reasoning: undefined }
      }
      const last = prompt.content.at(-1)
      return last?.role === "tool"
        ? Stream.make(
            { type: "text-start" as const, id: "t" },
            { type: "text-delta" as const, id: "t", delta: "R-17 was looked up." },
            { type: "text-end" as const, id: "t" },
            { type: "finish" as const, reason: "stop" as const, usage, response: undefined }
          )
        : Stream.make(
            {
              type: "tool-call" as const,
              id: "call-1",
              name: "client__lookup_record",
              params: { record_id: "R-17" }
            },
            { type: "finish" as const, reason: "tool-calls" as const, usage, response: undefined }
          )
    }
  })
)

/** Serves the agent on a socket until the scope closes: a backend for each connection, all with one store. */
export const serveOn = (path: string) =>
  Effect.gen(function* () {
    const store = Context.get(yield* Layer.build(MemorySessionStore), SessionStore)
    const startup = startupWith({
      settings: { schema_version: 2, capabilities: { tools: { disabled: ["bash", "write", "edit"] } } },
      models: Layer.provide(modelsFromLanguageModel({ provider: "own", model: "own-1" }), OwnModel),
      store: Layer.succeed(SessionStore, store)
    })
    const connection = (socket: Socket) =>
      Effect.gen(function* () {
        const transport = yield* fromStreams(socket, socket)
        const running = serve({ workspace: process.cwd(), startup, server: { name: "embedded", version: "1.0.0" } })
        yield* Effect.provideService(running, Transport, transport)
        yield* transport.close
      }).pipe(Effect.scoped)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((socket) => fork(connection(socket)))
        server.listen(path, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
  })

/** An agent behind a socket, for the client of this package. */
export const connectTo = (path: string) =>
  Effect.gen(function* () {
    const socket = yield* Effect.callback<Socket, Error>((resume) => {
      const socket = open(path, () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(Effect.fail(error)))
    })
    return fromTransport(yield* fromStreams(socket, socket))
  })

const ask = (path: string) =>
  Effect.gen(function* () {
    const tools = yield* ToolkitTools.make(records.toolkit)
    const agent = yield* Agent.over(yield* connectTo(path), { tools })
    yield* agent.createSession
    const outcome = yield* agent.run("What about R-17?")
    yield* Console.log(`${agent.info.server.name}: ${outcome.status}: ${outcome.text}`)
    return outcome
  }).pipe(Effect.scoped, Effect.provide(records.layer))

/** A socket that lives as long as the scope. */
const ownSocket = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "embedded-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "agent.sock")
)

export const main = (given: Option.Option<string>) =>
  Option.match(given, {
    onSome: (path) => Effect.andThen(serveOn(path), Effect.never),
    onNone: () => Effect.flatMap(ownSocket, (path) => Effect.andThen(serveOn(path), ask(path)))
  }).pipe(Effect.scoped)

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main(Option.fromUndefinedOr(process.argv[2])))
