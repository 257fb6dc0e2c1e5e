/**
 * A connected MCP server's tools as client tools that run: its list is taken once, each call goes to the server and its result
 * becomes the reply. The connection is any object with `listTools` and `callTool`, such as the SDK's `Client`; this library does
 * not depend on one. product section 4; client-tools, Bounds and schemas, Execute and reply.
 */
import { Buffer } from "node:buffer"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { bounded } from "../platform/Bounded.ts"
import { truncateText } from "../protocol/CompactJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { textOfContent } from "../protocol/McpContent.ts"
import { sizeOf } from "../protocol/ToolResult.ts"
import { mismatchText } from "./ArgumentsSchema.ts"
import { type ClientTool, type ClientTools, ToolFailed, type ToolReplyValue } from "./ClientTool.ts"
import { jsonOf } from "./JsonOf.ts"
import { type AdaptedTool, type AdaptOptions, adaptServer, type LeftOut, type McpTool } from "./McpToolAdapter.ts"
import * as Registry from "./Registry.ts"
import { ToolCall } from "./ToolCall.ts"
import { notJsonText, textOfThrow } from "./ToolResultOf.ts"

/** What is said to the server with a request. */
export interface McpRequestOptions {
  /** Aborts when the call is over: cancelled, past its deadline, or the agent lost. The server is then told. */
  readonly signal: AbortSignal
  /** Milliseconds after which the connection may give up, at least 1: what is left of the call's time. */
  readonly timeout: number
}

/** A connection that is open. `Client` of `@modelcontextprotocol/sdk` is one. */
export interface McpConnection {
  /** One page of the list; asked again with `nextCursor` while there is one. */
  readonly listTools: (
    params: { readonly cursor?: string },
    options: McpRequestOptions
  ) => Promise<{ readonly tools: ReadonlyArray<unknown>; readonly nextCursor?: string | undefined }>
  /** The second argument is the SDK's schema of the result; its own default is used. */
  readonly callTool: (
    params: { name: string; arguments: Record<string, unknown> },
    resultSchema: undefined,
    options: McpRequestOptions
  ) => Promise<unknown>
}

/** The server's list of tools could not be had, or the connection could not be made. */
export class McpUnavailable extends Data.TaggedError("McpUnavailable")<{ readonly reason: string }> {
  override get message(): string {
    return `the MCP server cannot be used: ${this.reason}`
  }
}

/** The tools that run, and those of the server that cannot be registered, each with its reason. */
export interface McpTools {
  readonly tools: ClientTools
  readonly leftOut: ReadonlyArray<LeftOut>
}

/** The whole list of a server, all its pages, has this long. */
const LIST_MS = 30_000
/** Far more than the 32 that can be registered. */
const MOST_LISTED = 1000
/** Bytes of what is told of a failure. */
const MOST_REASON = 1000
/** How long a connection may take to close. */
const CLOSE_MS = 2000

/**
 * Lists the tools and binds each to the connection, which stays the caller's: it must live as long as the agent does. What
 * cannot be registered is in `leftOut`, by the rule of `McpToolAdapter.adaptServer`.
 *
 * A call's arguments are checked against the tool's schema and go to the server under the tool's own name there. Of the result,
 * text blocks are joined by LF into the text, other blocks named in their places; `structuredContent` is the structured
 * value; `isError` makes an `error` reply. Together they keep `result_bytes`: the value first, whole or not at all (then the reply
 * is an error), of the text as much as fits, with a note. Whatever rejects, a lost connection too, is an `error` reply.
 */
export const make = (connection: McpConnection, options: AdaptOptions = {}): Effect.Effect<McpTools, McpUnavailable> =>
  Effect.gen(function* () {
    const listed = yield* list(connection)
    const adapted = adaptServer(listed, options)
    const tools: Array<ClientTool> = []
    const leftOut: Array<LeftOut> = [...adapted.leftOut]
    for (const one of adapted.tools) {
      const made = yield* Effect.result(Registry.make([draftOf(connection, one)]))
      if (Result.isSuccess(made)) tools.push(...made.success.tools)
      else {
        const { path, reason } = made.failure
        leftOut.push({ mcpName: one.mcpName, reason, ...(path === undefined ? {} : { path }) })
      }
    }
    return { tools: { tools }, leftOut }
  })

/** Connects, and closes the connection with the scope, for which it gets two seconds. */
export const scoped = (
  connect: (signal: AbortSignal) => Promise<McpConnection & { readonly close: () => Promise<void> }>,
  options: AdaptOptions = {}
): Effect.Effect<McpTools, McpUnavailable, Scope.Scope> =>
  Effect.gen(function* () {
    let over = false
    let connection: { readonly close: () => Promise<void> } | undefined
    // Before there is one: between the promise's end and whoever waits for it an interruption may come.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        over = true
        return connection === undefined ? Effect.void : closed(connection)
      })
    )
    const connected = yield* Effect.tryPromise({
      try: async (signal) => {
        const made = await connect(signal)
        // Nobody waits for it any more, so nobody else closes it.
        if (signal.aborted || over) await made.close()
        else connection = made
        return made
      },
      catch: unavailable
    })
    return yield* make(connected, options)
  })

const closed = (connection: { readonly close: () => Promise<void> }): Effect.Effect<void> =>
  Effect.flatMap(bounded(Effect.ignore(Effect.tryPromise(() => connection.close())), CLOSE_MS), (inTime) =>
    inTime ? Effect.void : Effect.logWarning("the connection to an MCP server did not close in time")
  )

const unavailable = (thrown: unknown) => new McpUnavailable({ reason: truncateText(textOfThrow(thrown), MOST_REASON) })

const list = (connection: McpConnection): Effect.Effect<ReadonlyArray<McpTool>, McpUnavailable> =>
  Effect.gen(function* () {
    const listed: Array<McpTool> = []
    let cursor: string | undefined
    do {
      const params = cursor === undefined ? {} : { cursor }
      const page = yield* Effect.tryPromise({
        try: (signal) => connection.listTools(params, { signal, timeout: LIST_MS }),
        catch: unavailable
      })
      for (const tool of page.tools) listed.push(yield* toolOf(tool))
      if (listed.length > MOST_LISTED) {
        return yield* new McpUnavailable({ reason: `it lists more than ${MOST_LISTED} tools` })
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return listed
  }).pipe(
    Effect.timeoutOrElse({
      duration: LIST_MS,
      orElse: () => Effect.fail(new McpUnavailable({ reason: `it did not list its tools within ${LIST_MS / 1000} s` }))
    })
  )

const toolOf = (given: unknown): Effect.Effect<McpTool, McpUnavailable> => {
  const tool = Result.getOrElse(jsonOf(given), () => undefined)
  const wrong = new McpUnavailable({ reason: "what it lists is not a tool" })
  if (!isJsonObject(tool)) return Effect.fail(wrong)
  const { description, inputSchema, name, title } = tool
  if (typeof name !== "string" || !isJsonObject(inputSchema)) return Effect.fail(wrong)
  return Effect.succeed({
    name,
    inputSchema,
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof title === "string" ? { title } : {})
  })
}

const draftOf = (connection: McpConnection, { descriptor, mcpName }: AdaptedTool): Registry.Draft => {
  const { name, ...rest } = descriptor
  return {
    name,
    descriptor: rest,
    build: (_, schema) => (args) =>
      Effect.gen(function* () {
        const mismatch = schema.mismatch(args)
        if (mismatch !== undefined) return yield* new ToolFailed({ text: mismatchText(mismatch) })
        const call = yield* ToolCall
        const timeout = Math.max(1, Math.ceil(yield* call.remainingMs))
        const result = yield* Effect.tryPromise({
          try: (signal) => connection.callTool({ name: mcpName, arguments: args }, undefined, { signal, timeout }),
          catch: (thrown) =>
            new ToolFailed({ text: truncateText(`the MCP server did not answer: ${textOfThrow(thrown)}`, MOST_REASON) })
        })
        return yield* replyOf(result)
      })
  }
}

const replyOf = (given: unknown): Effect.Effect<ToolReplyValue, ToolFailed> => {
  const { content, isError, structuredContent } = membersOf(given)
  const value = jsonOf(structuredContent)
  if (Result.isFailure(value)) return Effect.fail(new ToolFailed({ text: notJsonText(value.failure) }))
  const structured = value.success
  const most = ClientToolLimits.result_bytes
  const left = most - (structured === undefined ? 0 : sizeOf({ text: "", structured }))
  if (left < 0) {
    return Effect.fail(
      new ToolFailed({ text: `the tool's result has ${most - left} bytes; at most ${most} can be sent` })
    )
  }
  const text = textOf(content, structured)
  if (text === undefined) return Effect.fail(new ToolFailed({ text: "the MCP server's result has no content" }))
  const status = isError === true ? "error" : "success"
  const reply = { status, text: fitted(text, left) } as const
  return Effect.succeed(structured === undefined ? reply : { ...reply, structured })
}

const membersOf = (given: unknown): { readonly [member: string]: unknown } =>
  typeof given === "object" && given !== null ? { ...given } : {}

/** Content may be absent where there is a value, whose text it is by MCP's own advice. */
const textOf = (content: unknown, structured: Json | undefined): string | undefined => {
  if (!Array.isArray(content)) return structured === undefined ? undefined : ""
  const blocks: ReadonlyArray<unknown> = content
  return textOfContent(blocks.map((block) => plainBlock(membersOf(block))))
}

/** Of a block only what its text or its name is made of: an image may be larger than anything that can be sent. */
const plainBlock = (block: { readonly [member: string]: unknown }): JsonObject => {
  const resource = membersOf(block["resource"])
  const members = {
    type: block["type"],
    text: block["text"],
    uri: block["uri"] ?? resource["uri"],
    mimeType: block["mimeType"]
  }
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => (typeof value === "string" ? [[key, value.toWellFormed()]] : []))
  )
}

/** The beginning of a text, as much as fits together with the note that says how much does not. */
const fitted = (text: string, bytes: number): string => {
  const whole = Buffer.from(text.toWellFormed())
  if (whole.length <= bytes) return text.toWellFormed()
  const note = `\n[the first of ${whole.length} bytes; the rest was too much to send]`
  let end = Math.max(0, bytes - Buffer.byteLength(note))
  // Between characters: a byte 10xxxxxx goes on with one that began before it.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1
  const shown = `${whole.subarray(0, end).toString()}${note}`
  return Buffer.byteLength(shown) <= bytes ? shown : ""
}
