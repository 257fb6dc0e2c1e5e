/** What the store's tests share: homes, records, the store as a layer, and processes that hold sessions. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { type BuildOptions, build } from "esbuild"
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

/** Makes what many tests share when the first of them asks, and once. */
const once = <A, E>(make: Effect.Effect<A, E>): Effect.Effect<A, E> => Effect.runSync(Effect.cached(make))

/**
 * Fills a home that does not exist yet as `furnish` would, and gives what it gave. It works once for all tests of the file
 * that calls this; they get copies, with the same modes.
 */
export const furnishing = <A, E>(
  furnish: (home: string) => Effect.Effect<A, E>
): ((home: string) => Effect.Effect<A, E>) => {
  const folder = mkdtempSync(join(tmpdir(), "magi-store-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const original = join(folder, "home")
  const made = once(Effect.suspend(() => furnish(original)))
  return (home) => Effect.tap(made, () => Effect.sync(() => execFileSync("cp", ["-a", original, home])))
}

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Where bundles are kept from run to run, each under the hash of what is in it. */
const cache = source("../../node_modules/.cache/magi-code-store-tests")

/**
 * The processes of the tests, bundled as the product is, so that they start fast and find the worker as it does: the folder
 * of `driver.mjs`, `turns.mjs` and `workers/`. Nothing in it is changed.
 */
export const bundled: Effect.Effect<string> = once(
  Effect.promise(async () => {
    const options: BuildOptions = {
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node22",
      logLevel: "silent",
      outdir: cache
    }
    const bundle = (entryPoints: Record<string, string>, ending: string) =>
      build({ ...options, write: false, entryPoints, outExtension: { ".js": ending } })
    const built = await Promise.all([
      bundle({ driver: source("./children/driver.ts"), turns: source("./children/turns.ts") }, ".mjs"),
      bundle({ "workers/storeWorker": source("../../src/store/storeWorker.ts") }, ".js")
    ])
    const files = built.flatMap(({ outputFiles }) => outputFiles ?? [])
    const hash = createHash("sha256")
    for (const { contents, path } of files) hash.update(`${path}\n`).update(contents)
    const folder = join(cache, hash.digest("hex").slice(0, 32))
    if (existsSync(folder)) return folder
    mkdirSync(cache, { recursive: true })
    const fresh = mkdtempSync(join(cache, "new-"))
    for (const { contents, path } of files) {
      const target = join(fresh, relative(cache, path))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, contents)
    }
    try {
      renameSync(fresh, folder)
    } catch {
      // Another run was faster with the same.
      rmSync(fresh, { recursive: true, force: true })
    }
    return folder
  })
)

/**
 * Runs with a store of its own, which is closed at the end: what a process is to its home. Its worker is the bundled one,
 * as in the product, where it starts in a fraction of the time that its source takes.
 */
export const withStore = <A, E>(
  home: string,
  use: (store: SessionStore["Service"]) => Effect.Effect<A, E, Scope.Scope>,
  worker?: URL
): Effect.Effect<A, E> =>
  Effect.flatMap(bundled, (folder) =>
    Effect.scoped(Effect.flatMap(SessionStore, use)).pipe(
      Effect.provide(
        SqliteSessionStore.layer({
          home,
          worker: worker ?? pathToFileURL(join(folder, "workers", "storeWorker.js"))
        })
      )
    )
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
