/**
 * What one case gets: an `MC_HOME` and a workspace of its own, as many backends as it starts, a scripted provider,
 * settings of hooks and MCP servers that it can look into, and its checks. Everything ends with the case's scope.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Scope } from "effect"
import type { InitializeResult, JsonObject } from "../protocol/index.ts"
import { Backend } from "./Backend.ts"
import { type CaseFailed, CaseSkipped, fail } from "./CaseEnd.ts"
import { childFile } from "./children/childFile.ts"
import { same, shown } from "./Json.ts"
import { type Provider, type ProviderPlan, startProvider } from "./Provider.ts"
import { openWire } from "./Wire.ts"

/** The command of a backend: its program and arguments. */
export type Command = readonly [string, ...ReadonlyArray<string>]

export interface SpawnOptions {
  /** Added to the command. */
  readonly args?: ReadonlyArray<string>
  /** Added to the environment. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Default: the case's workspace. */
  readonly cwd?: string
  /** `MC_HOME` (default: the case's). */
  readonly home?: string
}

export interface ReadyOptions extends SpawnOptions {
  /** Written as `$MC_HOME/settings.json` first. */
  readonly settings?: JsonObject
  /** Required beside `client.tools`. */
  readonly capabilities?: ReadonlyArray<string>
  /** Opened, instead of a session created. */
  readonly session?: string
}

/** A backend that is initialized, with a session attached. */
export type ReadyBackend = Backend & { readonly init: InitializeResult }

/** A descriptor: `client__` is put before the name where it is missing; `more` replaces members. */
export const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name: name.startsWith("client__") ? name : `client__${name}`,
  description: `The ${name} tool.`,
  input_schema: { type: "object" },
  ...more
})

export interface CaseContextOptions {
  readonly command: Command
  /** A folder of the case's own, which exists; its real path. */
  readonly root: string
  /** Carried by every process of the case. */
  readonly mark: string
  readonly scope: Scope.Scope
}

export class CaseContext {
  readonly root: string
  /** `MC_HOME`; not created before something is written there: a refused preflight must not do it either. */
  readonly home: string
  /** Its real path. */
  readonly workspace: string
  readonly backends: Array<Backend> = []
  readonly #options: CaseContextOptions

  constructor(options: CaseContextOptions) {
    this.#options = options
    this.root = options.root
    this.home = join(options.root, "home")
    this.workspace = join(options.root, "work")
    mkdirSync(this.workspace)
  }

  /** Starts the backend. */
  spawn({
    args = [],
    cwd = this.workspace,
    env = {},
    home = this.home
  }: SpawnOptions = {}): Effect.Effect<Backend, CaseFailed> {
    const { command, mark, scope } = this.#options
    return Effect.gen({ self: this }, function* () {
      const backend = yield* openWire(
        {
          command: [...command, ...args],
          cwd,
          env: { NODE_OPTIONS: "", MC_HOME: home, ...env },
          mark,
          label: `#${this.backends.length + 1}`
        },
        (transport, label, owner) => new Backend(transport, label, owner)
      )
      this.backends.push(backend)
      return backend
    }).pipe(Scope.provide(scope))
  }

  /** Starts a backend, initializes it with these tools (null: without client tools) and attaches a session. */
  ready(
    tools: ReadonlyArray<JsonObject> | null = [tool("a")],
    { capabilities = [], session, settings, ...options }: ReadyOptions = {}
  ): Effect.Effect<ReadyBackend, CaseFailed> {
    return Effect.gen({ self: this }, function* () {
      if (settings !== undefined) yield* this.settings(settings)
      const backend = yield* this.spawn(options)
      const init = yield* backend.initialized(tools, capabilities)
      backend.session =
        session === undefined
          ? (yield* backend.ok("session.create")).session_id
          : (yield* backend.ok("session.open", { session_id: session })).session_id
      return Object.assign(backend, { init })
    })
  }

  /** A scripted OpenAI-compatible server; `provider.settings` points a backend at it. */
  provider(plan: ProviderPlan): Effect.Effect<Provider> {
    return startProvider(plan).pipe(Scope.provide(this.#options.scope))
  }

  /** Writes `$MC_HOME/settings.json`: a text as it is, members with `schema_version` 2 before them. */
  settings(value: JsonObject | string): Effect.Effect<void> {
    return Effect.sync(() => {
      mkdirSync(this.home, { recursive: true })
      const text = typeof value === "string" ? value : JSON.stringify({ schema_version: 2, ...value })
      writeFileSync(join(this.home, "settings.json"), text)
    })
  }

  /** Writes `.magi-code/settings.json` of the workspace. */
  workspaceSettings(value: JsonObject): Effect.Effect<void> {
    return Effect.sync(() => {
      mkdirSync(this.file(".magi-code"), { recursive: true })
      writeFileSync(this.file(".magi-code/settings.json"), JSON.stringify({ schema_version: 2, ...value }))
    })
  }

  /** Records the workspace's settings file, as it is now, as trusted. docs/security.md. */
  get trust(): Effect.Effect<void> {
    return Effect.sync(() => {
      const sha256 = createHash("sha256")
        .update(readFileSync(this.file(".magi-code/settings.json")))
        .digest("hex")
      mkdirSync(this.home, { recursive: true })
      const trusted = { version: 1, workspaces: { [this.workspace]: sha256 } }
      writeFileSync(join(this.home, "trust.json"), JSON.stringify(trusted))
    })
  }

  /** The settings of the offline model that plays these steps: for what does not fit into a prompt. */
  scripted(steps: ReadonlyArray<JsonObject>, more: JsonObject = {}): Effect.Effect<void> {
    return Effect.andThen(
      this.settings({ ...more, providers: { offline: { kind: "offline", script: "steps.json" } } }),
      Effect.sync(() => writeFileSync(join(this.home, "steps.json"), JSON.stringify(steps)))
    )
  }

  /** The entry of a hook in settings: it runs `children/hook.ts` with this plan. */
  hook(plan: JsonObject, more: JsonObject = {}): JsonObject {
    const command = [process.execPath, childFile("hook"), JSON.stringify(plan)]
    return { command, tools: ["client__*"], timeout_ms: 5000, on_failure: "warn", ...more }
  }

  /** The `mcp` member of settings: one server named `kit`, `children/mcpServer.ts` with this plan. */
  mcp(plan: JsonObject = {}, more: JsonObject = {}): JsonObject {
    const args = [childFile("mcpServer"), JSON.stringify(plan)]
    return { servers: { kit: { command: process.execPath, args, env: {}, ...more } } }
  }

  /** A path in the workspace. */
  file(name: string): string {
    return join(this.workspace, name)
  }

  /** Writes a file of the workspace; gives its path. */
  write(name: string, content: string | Uint8Array): Effect.Effect<string> {
    return Effect.sync(() => {
      writeFileSync(this.file(name), content)
      return this.file(name)
    })
  }

  /** The text of a file of the workspace as it is now; empty where there is none. */
  read(name: string): string {
    return this.exists(name) ? readFileSync(this.file(name), "utf8") : ""
  }

  /** Whether a path (of the workspace, or absolute) is there now. */
  exists(name: string): boolean {
    return existsSync(name.startsWith("/") ? name : this.file(name))
  }

  /** What lies in the workspace now. */
  get names(): ReadonlyArray<string> {
    return readdirSync(this.workspace)
  }

  /** Ends the case as failed. */
  fail(message: string): Effect.Effect<never, CaseFailed> {
    return fail(message)
  }

  /** Ends the case as not reachable through this backend. */
  skip(message: string): Effect.Effect<never, CaseSkipped> {
    return Effect.fail(new CaseSkipped({ message }))
  }

  /** Fails unless the condition holds. */
  expect(condition: unknown, message: string): Effect.Effect<void, CaseFailed> {
    return condition ? Effect.void : fail(message)
  }

  /** Fails unless both are the same JSON, the order of members aside. */
  equal(got: unknown, wanted: unknown, what: string): Effect.Effect<void, CaseFailed> {
    return same(got, wanted) ? Effect.void : fail(`${what}: wanted ${shown(wanted)}, got ${shown(got)}`)
  }

  /** Fails unless the object has exactly these members. */
  keys(object: object | undefined, names: ReadonlyArray<string>, what: string): Effect.Effect<void, CaseFailed> {
    return this.equal(Object.keys(object ?? {}).sort(), [...names].sort(), `${what}: members`)
  }
}
