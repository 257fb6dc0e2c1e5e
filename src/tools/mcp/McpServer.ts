/**
 * One MCP server: its process, its handshake, its tools, taken once. Closing its scope ends the process and all it
 * started, in bounded time. product section 2 (MCP), base-protocol section 3 (Closing).
 */
import { Clock, Effect, Ref, type Scope } from "effect"
import * as McpClient from "effect/ai/McpClient"
import type { McpClientError } from "effect/ai/McpClientError"
import type * as McpSchema from "effect/ai/McpSchema"
import { type Child, Children } from "../../platform/Children.ts"
import { version } from "../../platform/Version.ts"
import type { JsonObject } from "../../protocol/Json.ts"
import type { McpServerSettings } from "../../settings/Settings.ts"
import { headOf } from "../builtin/BoundedText.ts"
import { type AgentTool, ToolFailure, type ToolOutput } from "../Tool.ts"
import * as McpChannel from "./McpChannel.ts"
import { type NamedTool, namedTools } from "./McpNames.ts"
import { boundedResult } from "./McpResult.ts"

/** How long a server has to end by itself once its stdin is closed, before it is told to by signals. */
const LEAVE_MS = 150
const DESCRIPTION_BYTES = 4096

export interface McpServer {
  readonly tools: ReadonlyArray<AgentTool>
  /** What was left out of its list, for a person. */
  readonly notices: ReadonlyArray<string>
}

export interface McpServerOptions {
  /** Told while the server runs: it died, or says that its tools are others now. */
  readonly notice: (text: string) => Effect.Effect<void>
  /** How long one call may take. */
  readonly callMs: number
}

/** Why a server could not be started, as the end of a sentence that names it. */
export type StartFailure = { readonly why: string }

const end = (child: Child) =>
  Effect.andThen(child.end, Effect.asVoid(Effect.timeoutOption(Effect.interruptible(child.exit), LEAVE_MS)))

/** An error of the client for a person, without anything the server wrote. */
const whyOf = (error: McpClientError): string => {
  const { reason } = error
  switch (reason._tag) {
    case "TransportError":
      return reason.description ?? "its pipes failed"
    case "LimitError":
      return "it sends more than a server may"
    case "ProtocolError":
      return reason.code === undefined ? "its answer is not understood" : `it refused with code ${reason.code}`
    case "UnsupportedError":
      return "it speaks a revision of MCP that is not known here"
    case "TimeoutError":
      return "it did not answer in time"
    default:
      return "its answer is not understood"
  }
}

const unavailable = (server: string, why: string) =>
  new ToolFailure({ code: "mcp_unavailable", message: `the MCP server "${server}" cannot be used: ${why}` })

/** What a failed call is to the model. Only an error that the server itself answered with is its tool's. */
const callFailure = (server: string, error: McpClientError): ToolFailure => {
  const { reason } = error
  if (reason._tag !== "ProtocolError" || reason.code === undefined) return unavailable(server, whyOf(error))
  return new ToolFailure({
    code: "tool_failed",
    message: `the MCP server "${server}" refused the call`,
    output: boundedResult(reason.description ?? "", undefined)
  })
}

/** Whatever the client of effect/ai hands out here was parsed from JSON. */
const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const schemaOf = (schema: unknown): JsonObject => (isObject(schema) ? schema : {})

const outputOf = (result: McpSchema.CallToolResult): ToolOutput => {
  // `McpAdapt` made this form: one text block, and the value in an object of its own.
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n")
  const wrapped = result.structuredContent
  return boundedResult(text, isObject(wrapped) ? wrapped["value"] : undefined)
}

const toolOf = (
  server: string,
  client: McpClient.McpClient,
  listed: McpSchema.Tool,
  named: NamedTool,
  { callMs, notice }: McpServerOptions
): AgentTool => {
  const call = (args: JsonObject) =>
    client.callTool({ tool: listed, arguments: args }).pipe(
      Effect.mapError((error) => callFailure(server, error)),
      Effect.timeoutOrElse({
        duration: callMs,
        orElse: () =>
          Effect.andThen(
            notice(`MCP server "${server}" did not answer a call of ${named.fullName} within ${callMs / 1000} s`),
            Effect.fail(unavailable(server, `it did not answer within ${callMs / 1000} s`))
          )
      }),
      Effect.flatMap((result) => {
        const output = outputOf(result)
        return result.isError === true
          ? Effect.fail(new ToolFailure({ code: "tool_failed", message: "the tool reports an error", output }))
          : Effect.succeed(output)
      })
    )
  return {
    name: named.fullName,
    description: headOf(named.description, DESCRIPTION_BYTES),
    inputSchema: named.inputSchema,
    origin: "mcp",
    role: "generic",
    fingerprint: null,
    compact: false,
    prepare: (args) => Effect.succeed({ approval: null, lines: [], execute: call(args) })
  }
}

/** Starts a server and takes the list of its tools. The caller bounds the time. */
export const start = (
  settings: McpServerSettings,
  options: McpServerOptions
): Effect.Effect<McpServer, StartFailure, Children | Scope.Scope> =>
  Effect.gen(function* () {
    const { args, command, cwd, env, name } = settings
    const children = yield* Children
    const child = yield* Effect.mapError(
      children.spawn({ command, args, cwd, env, input: { open: true } }),
      (error) => ({
        why:
          error.reason === "ENOENT"
            ? `its command or folder does not exist (${command})`
            : `it cannot be run: ${error.reason}`
      })
    )
    const dropped = yield* Ref.make(0)
    const isStarted = yield* Ref.make(false)
    // Until it has started, what goes wrong is the reason why it could not be started.
    const tell = (text: string) =>
      Effect.flatMap(Ref.get(isStarted), (started) => (started ? options.notice(text) : Effect.void))
    let toldOfChange = false
    const transport = yield* McpChannel.make(child, {
      died: (why) => tell(`MCP server "${name}" cannot be used any more: ${why}`),
      toolsChanged: Effect.suspend(() => {
        if (toldOfChange) return Effect.void
        toldOfChange = true
        return tell(
          `MCP server "${name}" changed its tools; the list of the start stays until the agent is started again`
        )
      }),
      dropped: (count) => Ref.update(dropped, (before) => before + count)
    })
    yield* Effect.addFinalizer(() => Effect.andThen(Ref.set(isStarted, false), end(child)))
    const begun = yield* Clock.currentTimeMillis
    const client = yield* McpClient.make({ name: "magi-code", version, timeout: "1 minute" }).pipe(
      Effect.provideService(McpClient.Transport, transport)
    )
    const listed = yield* client.listTools()
    const { skipped, tools } = namedTools(
      name,
      listed.map(({ description = "", inputSchema, name }) => ({
        name,
        description,
        inputSchema: schemaOf(inputSchema)
      }))
    )
    yield* Effect.logDebug(`MCP server "${name}" started in ${(yield* Clock.currentTimeMillis) - begun} ms`)
    yield* Ref.set(isStarted, true)
    const notTools = yield* Ref.get(dropped)
    return {
      tools: tools.flatMap((named) => {
        const tool = listed.find((one) => one.name === named.name)
        return tool === undefined ? [] : [toolOf(name, client, tool, named, options)]
      }),
      notices: [
        ...skipped,
        ...(notTools > 0 ? [`MCP server "${name}": ${notTools} entries of its list are no tools and are left out`] : [])
      ]
    }
  }).pipe(Effect.mapError((error) => ("why" in error ? error : { why: whyOf(error) })))
