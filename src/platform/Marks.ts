/**
 * Marks in the environment of child processes, and sweeps of what carries one.
 *
 * A process group does not hold what calls `setsid`; an environment variable is inherited by it all the same and can be
 * read from `/proc/<pid>/environ` on Linux. `MAGI_CODE_MARK` holds a list, because marks nest: a client marks its
 * backend, the backend marks its children with its own mark and with one of each child, and a backend started inside
 * such a child adds its own. Only what carries the exact mark is ever killed, and never the process that sweeps.
 * base-protocol section 3, Closing.
 */
import { readdirSync, readFileSync } from "node:fs"
import { Clock, Effect } from "effect"
import { withEnvironment } from "./ProcFs.ts"

/** The variable that carries the marks, separated by commas. */
export const MARK_VARIABLE = "MAGI_CODE_MARK"

/** Letters, digits, `. _ : -`, at least eight: nothing short enough to be carried by accident. */
export const isMark = (mark: string): boolean => /^[A-Za-z0-9._:-]{8,128}$/.test(mark)

export type Environment = { readonly [name: string]: string | undefined }

/** The environment with `marks` added to those it has. */
export const withMarks = (env: Environment, ...marks: ReadonlyArray<string>): Environment => ({
  ...env,
  [MARK_VARIABLE]: [...marksOf(env), ...marks].join(",")
})

/** The marks that an environment carries. */
export const marksOf = (env: Environment): ReadonlyArray<string> =>
  (env[MARK_VARIABLE] ?? "").split(",").filter((mark) => mark !== "")

const prefix = `${MARK_VARIABLE}=`

const carries = (mark: string) => (environ: Buffer) => {
  // A cheap look first: nearly every process of the machine fails it.
  if (!environ.includes(mark)) return false
  return environ
    .toString("latin1")
    .split("\0")
    .some((entry) => entry.startsWith(prefix) && entry.slice(prefix.length).split(",").includes(mark))
}

/** Pids of the running processes that carry `mark`. */
export const carriers = (mark: string): Effect.Effect<ReadonlyArray<number>> =>
  isMark(mark) ? Effect.promise(() => withEnvironment(carries(mark))) : Effect.succeed([])

const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Gone meanwhile.
  }
}

/**
 * Kills what carries `mark` until nothing does, at most for `millis`: a process that is just forking is met on the next
 * round. Gives how many were killed.
 */
export const sweep = (mark: string, millis = 500): Effect.Effect<number> =>
  Effect.gen(function* () {
    const until = (yield* Clock.currentTimeMillis) + millis
    const killed = new Set<number>()
    for (;;) {
      const found = yield* carriers(mark)
      for (const pid of found) {
        kill(pid)
        killed.add(pid)
      }
      if (found.length === 0 || (yield* Clock.currentTimeMillis) >= until) return killed.size
      yield* Effect.sleep(10)
    }
  })

/** The last resort just before `process.exit`, where nothing can be awaited any more: one synchronous round. */
export const sweepNow = (mark: string): void => {
  if (!isMark(mark)) return
  const test = carries(mark)
  let names: ReadonlyArray<string> = []
  try {
    names = readdirSync("/proc")
  } catch {
    return
  }
  for (const name of names) {
    if (!/^[1-9]\d*$/.test(name) || Number(name) === process.pid) continue
    try {
      if (test(readFileSync(`/proc/${name}/environ`))) kill(Number(name))
    } catch {
      // Gone, or not ours to read.
    }
  }
}
