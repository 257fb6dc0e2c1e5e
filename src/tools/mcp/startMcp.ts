/**
 * The MCP servers of the settings, started together at initialize and ended together. The client itself is loaded only
 * where there is a server. product section 2 (MCP), base-protocol section 7.
 */
import { Clock, Data, Effect, Exit, Scope } from "effect"
import type { Children } from "../../platform/Children.ts"
import { join } from "../../protocol/JsonPointer.ts"
import { ERROR_MESSAGE_BYTES } from "../../protocol/Limits.ts"
import type { EffectiveSettings, McpServerSettings } from "../../settings/Settings.ts"
import { headOf } from "../builtin/BoundedText.ts"
import type { AgentTool } from "../Tool.ts"

/** One server has so long to start, and all of them. */
const SERVER_START_MS = 10_000
export const ALL_START_MS = 20_000
/** Servers that start at the same time. */
const CONCURRENCY = 4
const CALL_MS = 120_000

/**
 * A required server could not be started (`mcp_failed`). `message` is one line for a person, at most 256 bytes; `path`
 * points into the settings.
 */
export class McpFailed extends Data.TaggedError("McpFailed")<{
  readonly server: string
  readonly message: string
  readonly path: string
}> {}

export interface McpServers {
  /** In the order of the settings. */
  readonly tools: ReadonlyArray<AgentTool>
  /** Servers that were not started though they may be missing, tools that were left out. */
  readonly notices: ReadonlyArray<string>
}

export interface McpOptions {
  /** Told of a server that dies, hangs or changes its tools while it runs. Default: a warning in the log. */
  readonly notice?: (text: string) => Effect.Effect<void>
  /** Milliseconds that all of these servers have; fewer where others were started before them. */
  readonly allStartMs?: number
  /** For tests. */
  readonly startMs?: number
  readonly callMs?: number
}

const failed = (server: string, message: string) =>
  new McpFailed({ server, message: headOf(message, ERROR_MESSAGE_BYTES), path: join("/mcp/servers", server) })

/**
 * Starts the servers and takes their tools, once. They end with the scope, all at the same time and in bounded time,
 * with everything that they started.
 */
export const startMcp = (
  settings: Pick<EffectiveSettings, "mcp">,
  options: McpOptions = {}
): Effect.Effect<McpServers, McpFailed, Children | Scope.Scope> =>
  Effect.gen(function* () {
    if (settings.mcp.length === 0) return { tools: [], notices: [] }
    const { start } = yield* Effect.promise(() => import("./McpServer.ts"))
    const { allStartMs = ALL_START_MS, callMs = CALL_MS, startMs = SERVER_START_MS } = options
    const notice = options.notice ?? ((text: string) => Effect.logWarning(text))
    const together = yield* Scope.fork(yield* Scope.Scope, "parallel")
    const until = (yield* Clock.currentTimeMillis) + allStartMs

    const startOne = (server: McpServerSettings) =>
      Effect.gen(function* () {
        const scope = yield* Scope.fork(together)
        const millis = Math.max(0, Math.min(startMs, until - (yield* Clock.currentTimeMillis)))
        return yield* start(server, { notice, callMs }).pipe(
          Scope.provide(scope),
          Effect.timeoutOrElse({
            duration: millis,
            orElse: () => Effect.fail({ why: `it did not answer within ${millis / 1000} s` })
          }),
          Effect.onError(() => Scope.close(scope, Exit.void)),
          Effect.catch(({ why }) => {
            const message = `MCP server "${server.name}" could not be started: ${why}`
            return server.required
              ? Effect.fail(failed(server.name, message))
              : Effect.succeed({ tools: [], notices: [message] })
          })
        )
      })

    const started = yield* Effect.forEach(settings.mcp, startOne, { concurrency: CONCURRENCY })
    return {
      tools: started.flatMap(({ tools }) => tools),
      notices: started.flatMap(({ notices }) => notices)
    }
  })
