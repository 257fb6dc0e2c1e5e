/** docs/library.md, MCP servers: the tools of a connected server run. A real server as a child process, with the SDK's client. */
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import { Agent } from "../../src/client/Agent.ts"
import * as McpTools from "../../src/client/McpTools.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"
import { makeScriptedAgent, type ScriptedReply } from "../../src/testing/index.ts"
import { isGone } from "./support/processes.ts"

const server = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url)
)

interface Connected {
  readonly client: Client
  readonly pid: number
  /** Messages that went to the server. */
  readonly sent: ReadonlyArray<{ readonly method?: string }>
}

const connect = async (signal: AbortSignal): Promise<Connected> => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [server, "stdio"], stderr: "ignore" })
  const client = new Client({ name: "test", version: "1" })
  const sent: Array<{ readonly method?: string }> = []
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    sent.push("method" in message ? { method: message.method } : {})
    return send(message)
  }
  await client.connect(transport, { signal })
  return { client, pid: transport.pid ?? 0, sent }
}

const connected = Effect.acquireRelease(Effect.promise(connect), ({ client }) => Effect.promise(() => client.close()))

/** What the tools of the connection reply to one call, over the whole path of the protocol. */
const replyTo = (connection: McpTools.McpConnection, name: string, args: JsonObject = {}, timeoutMs?: number) =>
  Effect.gen(function* () {
    const { tools } = yield* McpTools.make(connection)
    const reply = yield* Deferred.make<ScriptedReply, unknown>()
    const scripted = yield* makeScriptedAgent({
      onTurn: (run) =>
        Effect.gen(function* () {
          const call = yield* run.start(name, args, timeoutMs === undefined ? {} : { timeoutMs })
          yield* Deferred.into(call.reply, reply)
          return "done"
        })
    })
    const agent = yield* Agent.over(scripted.link, { tools })
    yield* agent.createSession
    yield* agent.run("go")
    return yield* Deferred.await(reply)
  })

describe("a real server", { timeout: 60_000 }, () => {
  it.live("its tools are listed, called under their own names, and their results mapped", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const { leftOut, tools } = yield* McpTools.make(client)
      const names = tools.tools.map(({ descriptor }) => descriptor.name)
      const listed = yield* Effect.promise(() => client.listTools())
      assert.lengthOf([...names, ...leftOut], listed.tools.length)
      assert.include(names, "client__get_structured_content")
      assert.deepStrictEqual(yield* replyTo(client, "echo", { message: "hello" }), {
        status: "success",
        text: "Echo: hello"
      })
      const structured = yield* replyTo(client, "get_structured_content", { location: "Chicago" })
      assert.hasAllKeys(structured.structured, ["temperature", "conditions", "humidity"])
      const image = yield* replyTo(client, "get_tiny_image")
      assert.include(image.text, "[image block not shown: image/png]")
      const mismatch = yield* replyTo(client, "get_structured_content", { location: "Atlantis" })
      assert.strictEqual(mismatch.status, "error")
      assert.include(mismatch.text, "/location")
    }).pipe(Effect.scoped)
  )

  it.live("a call that is cancelled is cancelled at the server", () =>
    Effect.gen(function* () {
      const { client, sent } = yield* connected
      const { tools } = yield* McpTools.make(client)
      const scripted = yield* makeScriptedAgent({
        onTurn: (run) =>
          Effect.gen(function* () {
            const call = yield* run.start("trigger_long_running_operation", { duration: 50, steps: 5 })
            while (!sent.some(({ method }) => method === "tools/call")) yield* Effect.sleep(5)
            yield* call.cancel()
            while (!sent.some(({ method }) => method === "notifications/cancelled")) yield* Effect.sleep(5)
            return "told"
          })
      })
      const agent = yield* Agent.over(scripted.link, { tools })
      yield* agent.createSession
      assert.strictEqual((yield* agent.run("go")).text, "told")
      // The connection goes on.
      assert.strictEqual((yield* replyTo(client, "echo", { message: "on" })).text, "Echo: on")
    }).pipe(Effect.scoped)
  )

  it.live("a server that dies in a call, and one that is gone before it, are error replies", () =>
    Effect.gen(function* () {
      const { client, pid, sent } = yield* connected
      const dying = Effect.gen(function* () {
        while (!sent.some(({ method }) => method === "tools/call")) yield* Effect.sleep(5)
        process.kill(pid, "SIGKILL")
      })
      const long = replyTo(client, "trigger_long_running_operation", { duration: 50, steps: 5 })
      const [reply] = yield* Effect.all([long, dying], { concurrency: "unbounded" })
      assert.strictEqual(reply.status, "error")
      assert.match(reply.text, /^the MCP server did not answer: .*closed/i)
      const exit = yield* Effect.exit(McpTools.make(client))
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      assert.strictEqual(error?._tag, "McpUnavailable")
    }).pipe(Effect.scoped)
  )

  it.live("scoped: the connection ends with the scope", () =>
    Effect.gen(function* () {
      let pid = 0
      const names = yield* Effect.scoped(
        Effect.map(
          McpTools.scoped(
            async (signal) => {
              const made = await connect(signal)
              pid = made.pid
              return made.client
            },
            { prefix: "all" }
          ),
          ({ tools }) => tools.tools.map(({ descriptor }) => descriptor.name)
        )
      )
      assert.include(names, "client__all__echo")
      assert.isTrue(isGone(pid))
    })
  )
})

/** A connection that answers as told. */
const answering = (result: unknown, seen: (options: McpTools.McpRequestOptions, given: unknown) => void = () => {}) =>
  ({
    listTools: async ({ cursor }) =>
      cursor === undefined
        ? { tools: [{ name: "odd.name", inputSchema: { type: "object" } }], nextCursor: "more" }
        : {
            tools: [
              { name: "bad", inputSchema: { type: "object", properties: { a: { type: "string", pattern: "(" } } } }
            ]
          },
    callTool: async (params, _, options) => {
      seen(options, params)
      return result
    }
  }) satisfies McpTools.McpConnection

describe("results and bounds", () => {
  it.live("all pages are listed; what cannot be registered is named; the time that is left is the timeout", () =>
    Effect.gen(function* () {
      let timeout = 0
      let given: unknown
      const connection = answering({ content: [] }, (options, params) => {
        timeout = options.timeout
        given = params
      })
      const { leftOut, tools } = yield* McpTools.make(connection)
      assert.deepStrictEqual(
        leftOut.map(({ mcpName, path }) => [mcpName, path]),
        [["bad", "/input_schema/properties/a/pattern"]]
      )
      assert.lengthOf(tools.tools, 1)
      yield* replyTo(connection, "odd_name", { a: 1 }, 5000)
      assert.deepStrictEqual(given, { name: "odd.name", arguments: { a: 1 } })
      assert.isAtMost(timeout, 5000)
      assert.isAbove(timeout, 4000)
    }).pipe(Effect.scoped)
  )

  it.live("whenever the connecting is interrupted, the connection is closed, once", () =>
    Effect.gen(function* () {
      for (let steps = 0; steps < 12; steps += 1) {
        let closings = 0
        let interrupt = () => {}
        const close = async () => {
          closings += 1
        }
        const connect = () =>
          new Promise<McpTools.McpConnection & { readonly close: typeof close }>((resolve) =>
            setImmediate(() => {
              resolve({ ...answering({}), listTools: () => new Promise(() => {}), close })
              // From before anyone knows of the connection until after all do.
              const later = (left: number) => (left === 0 ? interrupt() : queueMicrotask(() => later(left - 1)))
              later(steps)
            })
          )
        const fiber = yield* Effect.forkChild(Effect.scoped(McpTools.scoped(connect)), { startImmediately: true })
        interrupt = () => fiber.interruptUnsafe()
        yield* Fiber.await(fiber)
        yield* Effect.sleep(1)
        assert.strictEqual(closings, 1, `interrupted ${steps} steps after`)
      }
    })
  )

  it.live("a failure is told within its bound and never cut inside a character", () =>
    Effect.gen(function* () {
      for (const before of ["x", "xx"]) {
        const connection = { ...answering({}), callTool: () => Promise.reject(new Error(before + "🎉".repeat(1000))) }
        const reply = yield* Effect.scoped(replyTo(connection, "odd_name"))
        assert.match(reply.text, /^the MCP server did not answer: xx?🎉+$/u)
        assert.isAtMost(Buffer.byteLength(reply.text), 1000)
      }
    })
  )

  it.live("isError is an error reply with its value; text that is too much is cut with a note, a value never", () =>
    Effect.gen(function* () {
      const reply = (result: unknown) => Effect.scoped(replyTo(answering(result), "odd_name"))
      const text = (text: string) => ({ content: [{ type: "text", text }] })
      assert.deepStrictEqual(yield* reply({ ...text("no"), structuredContent: { a: 1 }, isError: true }), {
        status: "error",
        text: "no",
        structured: { a: 1 }
      })
      assert.deepStrictEqual(yield* reply({ structuredContent: { a: 1 } }), {
        status: "success",
        text: "",
        structured: { a: 1 }
      })
      const long = yield* reply(text("é".repeat(100_000)))
      assert.strictEqual(long.status, "success")
      assert.isAtMost(Buffer.byteLength(long.text), 32_768)
      assert.isAbove(Buffer.byteLength(long.text), 32_600)
      assert.match(long.text, /^é+\n\[the first of 200000 bytes; the rest was too much to send\]$/)
      const both = yield* reply({ ...text("x".repeat(40_000)), structuredContent: { a: "y".repeat(32_000) } })
      assert.strictEqual(both.status, "success")
      assert.deepStrictEqual(both.structured, { a: "y".repeat(32_000) })
      const value = yield* reply({ ...text("x"), structuredContent: { a: "y".repeat(33_000) } })
      assert.strictEqual(value.status, "error")
      assert.include(value.text, "at most 32768 can be sent")
      const image = yield* reply({ content: [{ type: "image", data: "A".repeat(500_000), mimeType: "image/png" }] })
      assert.strictEqual(image.text, "[image block not shown: image/png]")
      for (const none of [{}, null, "x"]) assert.strictEqual((yield* reply(none)).status, "error")
    })
  )
})
