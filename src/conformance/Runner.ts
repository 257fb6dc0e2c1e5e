/**
 * Runs cases against a command: several at a time, those that measure time alone at the end. What holds for every case is
 * checked here, whatever the case itself looks at: its time, clean output, the exit code, nothing left running.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Cause, Effect, Exit, Option, Result } from "effect"
import { uuid } from "../platform/Ids.ts"
import { carriers, sweep } from "../platform/Marks.ts"
import type { Backend } from "./Backend.ts"
import type { Case, Cite } from "./Case.ts"
import { CaseContext, type Command } from "./CaseContext.ts"
import { type CaseEnd, type CaseFailed, fail } from "./CaseEnd.ts"

export interface CaseResult {
  readonly id: string
  readonly cites: ReadonlyArray<Cite>
  readonly status: "passed" | "failed" | "skipped"
  /** Why it was skipped. */
  readonly reason?: string
  /** What happened, each once. */
  readonly problems: ReadonlyArray<string>
  /** Of a failed case: the last frames of each process, `->` to it and `<-` from it, and the end of its stderr. */
  readonly frames: ReadonlyArray<string>
  readonly ms: number
}

/** Milliseconds a case may take where it does not say otherwise. */
const LIMIT_MS = 20_000
/** Milliseconds from the end of its input until a process must have ended: after a sound case, and after a failed one. */
const END_MS = { sound: 3500, failed: 1500 }
const FRAMES_SHOWN = 8

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "magi-code-conformance-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
)

interface Verdict {
  readonly problems: ReadonlyArray<string>
  readonly reason?: string
}

/** How the case's own program ended: what it found, or why it was skipped. */
const verdict = (exit: Exit.Exit<unknown, CaseEnd>): Verdict => {
  if (Exit.isSuccess(exit)) return { problems: [] }
  const error = Cause.findError(exit.cause)
  if (Result.isFailure(error)) return { problems: [`the case itself broke: ${Cause.pretty(exit.cause)}`] }
  const { _tag, message } = error.success
  return _tag === "CaseFailed" ? { problems: [message] } : { problems: [], reason: message }
}

/** Ends what still runs; gives what is wrong with how it ended. */
const finishBackend = (backend: Backend, millis: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    yield* backend.resume
    const ended = yield* Effect.option(backend.ended(millis))
    const own = backend.problems
    if (Option.isNone(ended)) {
      yield* backend.kill("SIGKILL")
      return [`still running ${millis} ms after its input ended`, ...own]
    }
    const { code, signal } = ended.value
    const wanted = backend.wantedExit
    return wanted === null || code === wanted ? own : [`exit code ${code ?? signal}, wanted ${wanted}`, ...own]
  }).pipe(Effect.map((problems) => problems.map((one) => `${backend.label}: ${one}`)))

/** Processes that carry the case's mark; those that are just ending get half a second. */
const leftBehind = (mark: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    let left = yield* carriers(mark)
    for (let round = 0; left.length > 0 && round < 10; round++) {
      yield* Effect.sleep(50)
      left = yield* carriers(mark)
    }
    if (left.length === 0) return []
    yield* sweep(mark)
    return [`processes left behind: ${left.join(" ")}`]
  })

const lastFrames = (backends: ReadonlyArray<Backend>): ReadonlyArray<string> => [
  ...backends.flatMap(({ log }) => log.slice(-FRAMES_SHOWN)),
  ...backends.flatMap(({ label, stderr }) =>
    stderr.trim() === "" ? [] : [`${label} stderr: ${stderr.trim().slice(-400)}`]
  )
]

/** Runs one case; never fails. */
export const runCase = (command: Command, one: Case): Effect.Effect<CaseResult> =>
  Effect.gen(function* () {
    const root = yield* folder
    const mark = `conformance-${yield* uuid}`
    const t = new CaseContext({ command, root, mark, scope: yield* Effect.scope })
    const started = performance.now()
    const limit = one.limit ?? LIMIT_MS
    const body = Effect.timeoutOrElse(one.run(t), {
      duration: limit,
      orElse: () => fail(`the case took more than ${limit} ms`)
    })
    const { problems, reason } = verdict(yield* Effect.exit(body))
    for (const backend of t.backends) yield* backend.eof
    const millis = problems.length === 0 ? END_MS.sound : END_MS.failed
    const ends = yield* Effect.forEach(t.backends, (backend) => finishBackend(backend, millis), {
      concurrency: "unbounded"
    })
    const all = [...new Set([...problems, ...ends.flat(), ...(yield* leftBehind(mark))])]
    return {
      id: one.id,
      cites: one.cites,
      status: all.length > 0 ? "failed" : reason === undefined ? "passed" : "skipped",
      ...(reason === undefined ? {} : { reason }),
      problems: all,
      frames: all.length > 0 ? lastFrames(t.backends) : [],
      ms: Math.round(performance.now() - started)
    } satisfies CaseResult
  }).pipe(Effect.scoped)

export interface RunOptions {
  readonly command: Command
  readonly cases: ReadonlyArray<Case>
  /** How many at a time. */
  readonly jobs: number
  /** Told of each result as it comes. */
  readonly onResult: (result: CaseResult) => void
}

/** Runs all of them; gives the results in the order in which they came. */
export const runCases = ({ cases, command, jobs, onResult }: RunOptions): Effect.Effect<ReadonlyArray<CaseResult>> =>
  Effect.gen(function* () {
    const results: Array<CaseResult> = []
    const run = (one: Case) =>
      Effect.map(runCase(command, one), (result) => {
        results.push(result)
        onResult(result)
      })
    // The long ones first, so that none of them begins when all others are over.
    const together = cases.filter((one) => !one.serial).sort((a, b) => (b.limit ?? 0) - (a.limit ?? 0))
    yield* Effect.forEach(together, run, { concurrency: jobs, discard: true })
    yield* Effect.forEach(
      cases.filter((one) => one.serial),
      run,
      { discard: true }
    )
    return results
  })

/** Fails where the command cannot be started at all, so that this is told once and not by every case. */
export const probe = (command: Command): Effect.Effect<void, CaseFailed> =>
  Effect.gen(function* () {
    const mark = `conformance-${yield* uuid}`
    const t = new CaseContext({ command, root: yield* folder, mark, scope: yield* Effect.scope })
    const backend = yield* t.spawn()
    yield* backend.eof
    yield* Effect.option(backend.ended(END_MS.sound))
  }).pipe(Effect.scoped)
