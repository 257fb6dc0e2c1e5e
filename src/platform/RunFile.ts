/**
 * One small file per running backend under `$MC_HOME/run/`, so that the next backend of the same home can sweep what a
 * killed one left behind. base-protocol section 3, Closing.
 */
import { readdirSync, readFileSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { isMark, marksOf, sweep } from "./Marks.ts"
import { bootId, statNow } from "./ProcFs.ts"

const RunFile = Schema.Struct({
  version: Schema.Literal(1),
  mark: Schema.String.check(Schema.makeFilter(isMark)),
  pid: Schema.Int,
  /** Start time of the process in clock ticks, and the boot it belongs to: a reused pid is not the same backend. */
  start: Schema.String,
  boot: Schema.String
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(RunFile))

const pathOf = (home: string, mark: string) => join(home, "run", `${mark.replaceAll(":", "_")}.json`)

/** Writes this backend's file. Fails where `$MC_HOME` cannot be written: the caller goes on without it. */
export const register = (home: string, mark: string) =>
  Effect.tryPromise(async () => {
    await mkdir(join(home, "run"), { recursive: true, mode: 0o700 })
    const content = { version: 1, mark, pid: process.pid, start: statNow(process.pid)?.start ?? "", boot: bootId() }
    await writeFile(pathOf(home, mark), `${JSON.stringify(content)}\n`, { mode: 0o600 })
  })

/** Removes it again. */
export const unregister = (home: string, mark: string): Effect.Effect<void> =>
  Effect.ignore(Effect.tryPromise(() => rm(pathOf(home, mark), { force: true })))

const read = (path: string) => {
  try {
    return decode(readFileSync(path, "utf8"))
  } catch {
    return decode("")
  }
}

/**
 * Sweeps the marks of backends of this home that are gone and removes their files. A mark that this process carries
 * itself is left to others: it would kill its own parents.
 */
export const sweepDead = (home: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const folder = join(home, "run")
    const names = yield* Effect.sync(() => {
      try {
        return readdirSync(folder).filter((name) => name.endsWith(".json"))
      } catch {
        return []
      }
    })
    const own = new Set(marksOf(process.env))
    for (const name of names) {
      const file = read(join(folder, name))
      if (file._tag === "None") continue
      const { boot, mark, pid, start } = file.value
      const sameBoot = boot === bootId()
      if (own.has(mark) || (sameBoot && (start === "" ? pid === process.pid : statNow(pid)?.start === start))) continue
      const killed = sameBoot ? yield* sweep(mark) : 0
      if (killed > 0) yield* Effect.logWarning(`ended ${killed} processes that an earlier backend left behind`)
      yield* Effect.ignore(Effect.tryPromise(() => rm(join(folder, name), { force: true })))
    }
  })
