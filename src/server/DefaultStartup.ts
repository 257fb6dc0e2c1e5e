/**
 * The backend that `magi-code serve` starts: settings of `$MC_HOME` and the workspace, their models, the durable store,
 * built-in, MCP and client tools. Every layer here lives in the backend's scope and ends with it.
 */
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { Effect, Layer } from "effect"
import * as ApprovalsLive from "../agent/ApprovalsLive.ts"
import { codeModeTool } from "../agent/code-mode/codeModeTool.ts"
import { Sandbox } from "../agent/code-mode/Sandbox.ts"
import { SandboxPool } from "../agent/code-mode/SandboxPool.ts"
import { HooksLive } from "../agent/hooks/HooksLive.ts"
import { checkConfigured } from "../agent/model/Configured.ts"
import type { Models } from "../agent/model/Models.ts"
import * as ModelsLive from "../agent/model/ModelsLive.ts"
import * as RunnerLive from "../agent/RunnerLive.ts"
import * as BrokerLive from "../broker/BrokerLive.ts"
import { ProtectedResultsLive } from "../broker/protected/ProtectedResultsLive.ts"
import { Children } from "../platform/Children.ts"
import type { Json } from "../protocol/Json.ts"
import { givenSettings } from "../settings/givenSettings.ts"
import { loadSettings } from "../settings/loadSettings.ts"
import { type EffectiveSettings, Settings } from "../settings/Settings.ts"
import type { SessionStore } from "../store/SessionStore.ts"
import { SqliteSessionStore } from "../store/SqliteSessionStore.ts"
import { builtinTools } from "../tools/builtin/BuiltinTools.ts"
import * as ClientTools from "../tools/client/ClientTools.ts"
import { type Startup, StartupFailed, type StartupInput } from "./Startup.ts"

/** `MC_HOME`, default `~/.magi-code` (base-protocol section 1). */
export const mcHome = (env: { readonly [name: string]: string | undefined }): string =>
  env["MC_HOME"] || join(homedir(), ".magi-code")

/** The selected provider must have its key before anything is asked of it. */
const checkProvider = (settings: EffectiveSettings) => {
  const provider = settings.providers.get(settings.model.provider)
  const lacking = provider === undefined ? undefined : checkConfigured(provider)
  return lacking === undefined
    ? Effect.void
    : Effect.fail(
        new StartupFailed({
          code: "provider_unconfigured",
          message: `the provider ${settings.model.provider} cannot be used: ${lacking}`,
          path: "/model/provider"
        })
      )
}

/** All tools but `subagents`, in catalogue order: built-in, Code Mode, MCP, client. */
const runnerLayer = ({ admission }: StartupInput, settings: EffectiveSettings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const children = yield* Children
      // What a killed backend of this home left behind; start-up does not wait for it.
      yield* Effect.forkScoped(children.recover)
      const codeMode = settings.capabilities.code_mode.enabled ? [yield* codeModeTool] : []
      const mcp = yield* startServers(settings)
      const client = yield* ClientTools.make(admission.clientTools ?? [])
      return RunnerLive.layer({
        tools: [...builtinTools({ settings, children }), ...codeMode, ...mcp, ...client],
        cards: admission.cards
      })
    })
  )

/** MCP is loaded only where the settings name a server. */
const startServers = (settings: EffectiveSettings) =>
  settings.mcp.length === 0
    ? Effect.succeed([])
    : Effect.gen(function* () {
        const { startMcp } = yield* Effect.promise(() => import("../tools/mcp/startMcp.ts"))
        const { tools, notices } = yield* startMcp(settings)
        for (const notice of notices) yield* Effect.logWarning(notice)
        return tools
      }).pipe(
        Effect.catchTag("McpFailed", (error) =>
          Effect.fail(new StartupFailed({ code: "mcp_failed", message: error.message, path: error.path }))
        )
      )

/** What an embedding program may put in place of what `serve` takes. Absent: as `serve` has it. */
export interface BackendOptions {
  /** The folder of sessions, trust and run files. Default: `MC_HOME` of `env`, else `~/.magi-code`. */
  readonly home?: string
  /** The environment that keys are taken from. Default: this process's. */
  readonly env?: { readonly [name: string]: string | undefined }
  /**
   * The settings, in the format of `settings.json`, in place of the files of home and workspace. What is wrong with them
   * fails `initialize` with `configuration_invalid`. Relative paths resolve against `home`.
   */
  readonly settings?: Json
  /** The models, in place of those of the settings; see `modelsFromLanguageModel`. */
  readonly models?: Layer.Layer<Models, StartupFailed, Settings>
  /** Where sessions are kept, in place of files under `home`; see `MemorySessionStore`. */
  readonly store?: Layer.Layer<SessionStore, StartupFailed, Settings>
}

/**
 * The backend of `serve` with parts of one's own. The layers are built for each connection, after its `initialize` has
 * passed its preflight, and closed with it; to share one among connections, build it once and give `Layer.succeed`.
 */
export const startupWith =
  (options: BackendOptions): Startup =>
  (input) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const { instanceId, workspace } = input
        const env = options.env ?? process.env
        const home = resolve(options.home ?? mcHome(env))
        const place = { home, workspace, env }
        const read = options.settings === undefined ? loadSettings(place) : givenSettings(options.settings, place)
        const settings = yield* read.pipe(
          Effect.mapError(({ code, message, path }) => new StartupFailed({ code, message, path }))
        )
        if (options.models === undefined) yield* checkProvider(settings)
        const settingsLive = Layer.succeed(Settings, settings)
        const base = Layer.mergeAll(
          settingsLive,
          Children.layer({ mark: instanceId, home, secretEnv: settings.secretEnv }),
          Layer.provide(options.store ?? SqliteSessionStore.layer({ home }), settingsLive)
        )
        return runnerLayer(input, settings).pipe(
          Layer.provideMerge(Layer.mergeAll(HooksLive, ApprovalsLive.layer, BrokerLive.layer({ instanceId }))),
          Layer.provideMerge(
            Layer.mergeAll(
              ProtectedResultsLive,
              options.models ?? ModelsLive.layer,
              Layer.provide(Sandbox.layer, SandboxPool.layer)
            )
          ),
          Layer.provideMerge(base)
        )
      })
    )

/** What `magi-code serve` starts. */
export const defaultStartup: Startup = startupWith({})
