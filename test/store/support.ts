/** What the store's tests share: homes, records, the store as a layer, and processes that hold sessions. */
import { type ChildProcess, spawn } from "node:child_process"
import { chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Effect, type Scope } from "effect"
import { build } from "esbuild"
import { type SessionHandle, SessionStore } from "../../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../../src/store/SqliteSessionStore.ts"
import type { Command } from "./children/driver.ts"

export * from "./records.ts"

export const WORKSPACE = "/w"

/** A folder that is gone when the scope closes. */
export const temporary: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "magi-store-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A home that does not exist yet. */
export const freshHome: Effect.Effect<string, never, Scope.Scope> = Effect.map(temporary, (folder) =>
  join(folder, "home")
)

/** Runs with a store of its own, which is closed at the end: what a process is to its home. */
export const withStore = <A, E>(
  home: string,
  use: (store: SessionStore["Service"]) => Effect.Effect<A, E, Scope.Scope>,
  worker?: URL
): Effect.Effect<A, E> =>
  Effect.scoped(Effect.flatMap(SessionStore, use)).pipe(
    Effect.provide(SqliteSessionStore.layer({ home, ...(worker === undefined ? {} : { worker }) }))
  )

/** Runs with one session of a home, opened in a store of its own. */
export const withSession = <A, E>(
  home: string,
  sessionId: string,
  use: (session: SessionHandle) => Effect.Effect<A, E, Scope.Scope>
) => withStore(home, (store) => Effect.flatMap(store.open({ sessionId, workspace: WORKSPACE }), use))

export interface Result {
  readonly ok: boolean
  readonly value?: unknown
  readonly error?: { readonly code?: string; readonly message?: string; readonly _tag?: string }
  readonly text?: string
}

/** A process that holds sessions; see children/driver.ts. */
export interface Driver {
  readonly process: ChildProcess
  readonly ask: (command: Command) => Effect.Effect<Result>
  /** Sends a command without waiting for its result. */
  readonly tell: (command: Command) => void
  /** Ends it as `kill -9` does, and waits until the operating system has let go of everything. */
  readonly kill: Effect.Effect<void>
  /** Closes its stdin, and gives its exit code. */
  readonly end: Effect.Effect<number | null>
}

const exited = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => child.once("exit", resolve))

/** Bundles the processes of the tests as the product is bundled, so that they start fast and find the worker as it does. */
export const bundled: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporary
  const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
  const options = { bundle: true, platform: "node", format: "esm", target: "node22", logLevel: "silent" } as const
  const entryPoints = [source("./children/driver.ts"), source("./children/turns.ts")]
  yield* Effect.promise(async () => {
    await build({ ...options, entryPoints, outdir: folder, outExtension: { ".js": ".mjs" } })
    await build({
      ...options,
      entryPoints: [source("../../src/store/storeWorker.ts")],
      outfile: join(folder, "workers", "storeWorker.js")
    })
  })
  return folder
})

export const driver = (
  folder: string,
  home: string,
  options: { readonly uid?: number; readonly script?: string; readonly command?: string } = {}
): Effect.Effect<Driver, never, Scope.Scope> =>
  Effect.gen(function* () {
    const script = options.script ?? join(folder, "driver.mjs")
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(options.command ?? process.execPath, [script, home, String(options.uid ?? 0)], {
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (process) =>
        Effect.promise(() => {
          process.kill("SIGKILL")
          return exited(process)
        })
    )
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const tell = (command: Command): void => {
      child.stdin.write(`${JSON.stringify(command)}\n`)
    }
    return {
      process: child,
      tell,
      ask: (command) =>
        Effect.promise(async () => {
          tell(command)
          const next = await lines.next()
          if (next.done === true) throw new Error("the process ended")
          const result: Result = JSON.parse(next.value)
          return result
        }),
      kill: Effect.promise(async () => {
        child.kill("SIGKILL")
        await exited(child)
      }),
      end: Effect.promise(() => {
        child.stdin.end()
        return exited(child)
      })
    }
  })

/** Somebody who is not root, where the tests run as root: the modes of files say nothing to root. */
export const nobody = process.getuid?.() === 0 ? 65_534 : undefined

/** Gives a folder to `nobody`. */
export const giveAway = (path: string): void => {
  if (nobody !== undefined) chownSync(path, nobody, nobody)
}
