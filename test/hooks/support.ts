/** Hooks as the backend has them: real processes, real redaction. */
import { randomUUID } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Schedule } from "effect"
import type { Hooks } from "../../src/agent/hooks/Hooks.ts"
import { HooksLive } from "../../src/agent/hooks/HooksLive.ts"
import { ProtectedResultsLive } from "../../src/broker/protected/ProtectedResultsLive.ts"
import { Children } from "../../src/platform/Children.ts"
import { statNow } from "../../src/platform/ProcFs.ts"
import { loadSettings } from "../../src/settings/loadSettings.ts"
import { type EffectiveSettings, type HookSettings, Settings } from "../../src/settings/Settings.ts"

const script = fileURLToPath(new URL("./children/hook.mjs", import.meta.url))

/** A hook that runs `children/hook.mjs` with this plan. */
export const hook =
  (plan: object, more: Partial<HookSettings> = {}) =>
  (folder: string): HookSettings => ({
    command: [process.execPath, script, JSON.stringify(plan)],
    cwd: folder,
    tools: [],
    timeout_ms: 10_000,
    on_failure: "warn",
    ...more
  })

export type Hook = ReturnType<typeof hook>

export interface Fixture {
  readonly folder: string
  /** A path in the folder of the test. */
  readonly file: (name: string) => string
  /** The backend's. Its own: closing the layer kills whatever carries it on the whole machine, other runs of the tests included. */
  readonly mark: string
  /** What a hook logged there: one JSON value a line. */
  readonly log: (name: string) => ReadonlyArray<unknown>
}

const fixture = Effect.acquireRelease(
  Effect.sync((): Fixture => {
    const folder = mkdtempSync(join(tmpdir(), "mc-hooks-"))
    const file = (name: string) => join(folder, name)
    const log = (name: string): ReadonlyArray<unknown> =>
      existsSync(file(name))
        ? readFileSync(file(name), "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line))
        : []
    return { folder, file, log, mark: `backend-${randomUUID()}` }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The service with these hooks; they and all they start are gone when `body` is over. */
export const withHooks = <A, E>(
  hooks: (fixture: Fixture) => { readonly before?: ReadonlyArray<Hook>; readonly after?: ReadonlyArray<Hook> },
  body: (fixture: Fixture) => Effect.Effect<A, E, Hooks>
): Effect.Effect<A, E> =>
  Effect.scoped(
    Effect.gen(function* () {
      const own = yield* fixture
      const home = own.file("home")
      const env = { ...process.env, HOOK_KEY: "SENTINEL-KEY", HOOK_OTHER: "kept" }
      const defaults = yield* Effect.orDie(loadSettings({ home, workspace: own.folder, env: {} }))
      const { after = [], before = [] } = hooks(own)
      const settings: EffectiveSettings = {
        ...defaults,
        secretEnv: new Set(["HOOK_KEY"]),
        hooks: {
          before_tool: before.map((make) => make(own.folder)),
          after_tool: after.map((make) => make(own.folder))
        }
      }
      const layer = HooksLive.pipe(
        Layer.provide(ProtectedResultsLive),
        Layer.provide(Children.layer({ mark: own.mark, home, secretEnv: settings.secretEnv, env })),
        Layer.provide(Layer.succeed(Settings, settings))
      )
      return yield* Effect.provide(body(own), layer)
    })
  )

export const call = {
  sessionId: "session",
  runId: "run",
  taskId: null,
  subagentId: null,
  tool: "client__a",
  arguments: { q: "x" }
}

/** Waits until the file is there and has something in it; gives it. */
export const written = (path: string): Effect.Effect<string> =>
  Effect.suspend(() => {
    const text = existsSync(path) ? readFileSync(path, "utf8") : ""
    return text === "" ? Effect.fail("not yet") : Effect.succeed(text)
  }).pipe(Effect.retry(Schedule.spaced(10)), Effect.timeout(10_000), Effect.orDie)

/** Whether a process still runs; zombies do not. */
export const runs = (pid: string): boolean => {
  const stat = statNow(Number(pid))
  return stat !== undefined && stat.state !== "Z" && stat.state !== "X"
}
