/**
 * JSON-RPC with one MCP server over the pipes of its process: the transport under the client of effect/ai.
 *
 * Not the stdio transport that effect/ai brings: that one takes every stray line as the end of the server, keeps an
 * unbounded queue, and waits five seconds for a server to end. Here a line that is no message is passed over, everything
 * held is bounded, and a server that dies, floods or closes its output fails what waits for it at once.
 */
import { Deferred, Effect, Option, Scope, Stream } from "effect"
import type * as McpClient from "effect/ai/McpClient"
import {
  LimitError,
  McpClientError,
  type McpClientErrorReason,
  ProtocolError,
  TransportError
} from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import type { Child } from "../../platform/Children.ts"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { FrameReader } from "../../transport/FrameReader.ts"
import { adaptCallResult, adaptInitialize, adaptToolList } from "./McpAdapt.ts"

/** A message of a server, before its LF. */
const MESSAGE_BYTES = 4 * 1024 * 1024
/** What a server may send without an answer to anything among it; a line counts some bytes more for its own cost. */
const UNASKED_BYTES = 16 * 1024 * 1024
const LINE_COST = 256
/** How much is looked at in one turn of the event loop. */
const PIECE_BYTES = 8192
const LINES_AT_ONCE = 128
const METHOD_NOT_FOUND = -32601

const failure = (reason: McpClientErrorReason) => new McpClientError({ reason })

interface Pending {
  readonly method: string
  readonly response: Deferred.Deferred<McpSchema.JsonRpcResponse, McpClientError>
}

type Answer = { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } }

export interface ChannelEvents {
  /** The server cannot be used any more; said once, with the reason for a person. */
  readonly died: (why: string) => Effect.Effect<void>
  /** It says that its tools are not those it listed. */
  readonly toolsChanged: Effect.Effect<void>
  /** Entries of its list that are no tools. */
  readonly dropped: (count: number) => Effect.Effect<void>
}

/** The messages of one line; a line of anything else has none. Old revisions send batches. */
const messagesOf = (line: Uint8Array): ReadonlyArray<JsonObject> => {
  // Most stray lines are told by how they begin; that is a hundred times cheaper than a parse that fails.
  if (line[0] !== 0x7b && line[0] !== 0x5b && line[0] !== 0x20 && line[0] !== 0x09) return []
  try {
    const parsed: Json = JSON.parse(new TextDecoder().decode(line))
    const messages: ReadonlyArray<Json> = Array.isArray(parsed) ? parsed : [parsed]
    return messages.filter(isJsonObject).filter((message) => message["jsonrpc"] === "2.0")
  } catch {
    return []
  }
}

const isId = (id: Json | undefined): id is number | string => typeof id === "number" || typeof id === "string"

/** What a message answers; `undefined` where it is neither a result nor an error. */
const answerOf = (message: JsonObject): Answer | undefined => {
  if (isJsonObject(message["result"])) return { result: message["result"] }
  const error = message["error"]
  if (!isJsonObject(error)) return undefined
  const code = Number.isInteger(error["code"]) ? Number(error["code"]) : 0
  const text = typeof error["message"] === "string" ? error["message"] : "the server gives no reason"
  return { error: { code, message: text } }
}

/** Opens the channel. It lives as long as the scope, or until the server ends or misbehaves. */
export const make = (child: Child, events: ChannelEvents): Effect.Effect<McpClient.Transport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Scope.Scope
    const pending = new Map<McpSchema.RequestId, Pending>()
    let failed: McpClientError | undefined
    let unasked = 0

    const die = (reason: McpClientErrorReason, why: string) =>
      Effect.suspend(() => {
        if (failed) return Effect.void
        const error = failure(reason)
        failed = error
        const waiting = [...pending.values()]
        pending.clear()
        for (const { response } of waiting) Deferred.doneUnsafe(response, Effect.fail(error))
        return Effect.andThen(events.died(why), Effect.forkIn(child.stop, scope))
      })

    const closed = new TransportError({ description: "it takes no more input" })
    const write = (message: McpSchema.JsonRpcMessage): Effect.Effect<void, McpClientError> =>
      Effect.suspend(() => {
        if (failed) return Effect.fail(failed)
        return Effect.mapError(child.write(Buffer.from(`${JSON.stringify(message)}\n`)), () => failure(closed))
      })

    /** This client offers nothing but an answer to a ping. */
    const answer = (id: number | string, method: string) =>
      Effect.ignore(
        write(
          method === "ping"
            ? { jsonrpc: "2.0", id, result: {} }
            : { jsonrpc: "2.0", id, error: { code: METHOD_NOT_FOUND, message: "not offered by this client" } }
        )
      )

    const adapt = (method: string, result: JsonObject): Effect.Effect<JsonObject> => {
      if (method === "initialize") return Effect.succeed(adaptInitialize(result))
      if (method === "tools/call") return Effect.succeed(adaptCallResult(result))
      if (method !== "tools/list") return Effect.succeed(result)
      const list = adaptToolList(result)
      return Effect.as(list.dropped > 0 ? events.dropped(list.dropped) : Effect.void, list.result)
    }

    const settle = (id: McpSchema.RequestId, { method, response }: Pending, message: JsonObject) =>
      Effect.gen(function* () {
        const answer = answerOf(message)
        if (answer === undefined) {
          const reason = new ProtocolError({ description: "the answer is neither a result nor an error" })
          Deferred.doneUnsafe(response, Effect.fail(failure(reason)))
          return
        }
        const adapted = "result" in answer ? { result: yield* adapt(method, answer.result) } : { error: answer.error }
        Deferred.doneUnsafe(response, Effect.succeed({ jsonrpc: "2.0" as const, id, ...adapted }))
      })

    const receive = (message: JsonObject): Effect.Effect<void> => {
      const { id, method } = message
      if (typeof method === "string") {
        if (isId(id)) return answer(id, method)
        return method === "notifications/tools/list_changed" ? events.toolsChanged : Effect.void
      }
      const waiting = isId(id) ? pending.get(id) : undefined
      if (!isId(id) || !waiting) return Effect.void
      pending.delete(id)
      unasked = 0
      return settle(id, waiting, message)
    }

    const reader = new FrameReader(MESSAGE_BYTES)
    const takeLines = (lines: ReadonlyArray<Uint8Array>) =>
      Effect.gen(function* () {
        for (const [index, line] of lines.entries()) {
          // A chunk may be thousands of lines: others have their turn between them.
          if (index % LINES_AT_ONCE === LINES_AT_ONCE - 1) yield* Effect.yieldNow
          for (const message of messagesOf(line)) yield* receive(message)
        }
      })
    const take = (chunk: Uint8Array) =>
      Effect.gen(function* () {
        const limit = new LimitError({ description: "it sends more than a server may" })
        for (let from = 0; from < chunk.length && failed === undefined; from += PIECE_BYTES) {
          const { frames, oversized } = reader.push(chunk.subarray(from, from + PIECE_BYTES))
          unasked += Math.min(PIECE_BYTES, chunk.length - from) + frames.length * LINE_COST
          yield* takeLines(frames)
          if (oversized) yield* die(limit, `it sent a message of more than ${MESSAGE_BYTES} bytes`)
          else if (unasked > UNASKED_BYTES) {
            yield* die(limit, `it sent more than ${UNASKED_BYTES} bytes that nobody asked for`)
          }
        }
        return failed === undefined
      })
    /** The output ends a little before the exit is known. */
    const ended = Effect.gen(function* () {
      const exit = yield* Effect.timeoutOption(child.exit, 200)
      const why = Option.match(exit, {
        onNone: () => "it closed its output",
        onSome: ({ code, signal }) => (code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`)
      })
      yield* die(new TransportError({ description: why }), why)
    })
    yield* Stream.runForEachWhile(child.stdout, take).pipe(Effect.andThen(ended), Effect.forkScoped)
    yield* Effect.forkScoped(Stream.runDrain(child.stderr))

    const request = (message: McpSchema.JsonRpcRequest): Effect.Effect<McpSchema.JsonRpcResponse, McpClientError> =>
      Effect.gen(function* () {
        const response = yield* Deferred.make<McpSchema.JsonRpcResponse, McpClientError>()
        pending.set(message.id, { method: message.method, response })
        return yield* Effect.raceFirst(Effect.andThen(write(message), Effect.never), Deferred.await(response))
      }).pipe(
        Effect.onInterrupt(() =>
          // In a fiber of its own: a server that reads nothing must not hold up who cancels.
          message.method === "initialize" || !pending.has(message.id)
            ? Effect.void
            : Effect.forkIn(
                Effect.ignore(
                  write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: message.id } })
                ),
                scope
              )
        ),
        Effect.ensuring(Effect.sync(() => pending.delete(message.id)))
      )

    return {
      "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
      protocol: McpProtocol.v2025_11_25,
      request,
      notify: write,
      isCallable: () => true
    }
  })
