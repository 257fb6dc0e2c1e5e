/**
 * The one queue in front of the scanning threads: results are scanned in the order in which they were handed in, each
 * within its time, and a thread that does not answer in it is terminated and replaced by the spare, which is warm.
 *
 * base-protocol section 6, Redaction: 50 ms of CPU, 250 ms in all, off the protocol's thread.
 */
import { Deferred, Effect, Exit, Queue, Scope } from "effect"
import type { RawResult, Verdict } from "./Redactor.ts"
import { type ScanThread, startThread } from "./ScanThread.ts"

/** Milliseconds of CPU that a scan may use: more, and its verdict is that the result is unscannable. */
export const SCAN_CPU_MS = 50

/** Milliseconds from handing a result to a thread to its answer. Waiting for its turn does not count. */
export const SCAN_MS = 250

/** How long a thread may take to come up, on a machine that is busy with other things. */
const START_MS = 10_000

export interface Scanner {
  /** The verdict on a result. Never fails; what cannot be scanned is rejected as `unscannable`. */
  readonly scan: (result: RawResult, maxBytes: number) => Effect.Effect<Verdict>
}

interface Job {
  readonly result: RawResult
  readonly maxBytes: number
  readonly verdict: Deferred.Deferred<Verdict>
}

interface Lane {
  readonly thread: ScanThread
  readonly scope: Scope.Closeable
}

const unscannable = ({ structured }: RawResult): Verdict => ({
  _tag: "Rejected",
  rule: "unscannable",
  path: structured === undefined ? "/text" : "/structured"
})

/**
 * A scanner that lives as long as its scope. Its threads begin to warm up at once; nobody waits for them here. `start`
 * and `startMs` are for tests.
 */
export const makeScanner = (
  secrets: ReadonlyArray<string>,
  start: (secrets: ReadonlyArray<string>) => Effect.Effect<ScanThread, never, Scope.Scope> = startThread,
  { startMs = START_MS }: { readonly startMs?: number } = {}
): Effect.Effect<Scanner, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const jobs = yield* Queue.unbounded<Job>()
    const waiting = new Set<Job>()

    const open = Effect.gen(function* () {
      const own = yield* Scope.fork(scope)
      const thread = yield* Scope.provide(start(secrets), own)
      return { thread, scope: own } satisfies Lane
    })

    const settle = (job: Job, verdict: Verdict): void => {
      waiting.delete(job)
      Deferred.doneUnsafe(job.verdict, Effect.succeed(verdict))
    }

    /** Scans a job in a lane; `false`: the lane's thread is of no more use. */
    const attempt = ({ thread }: Lane, job: Job): Effect.Effect<boolean> =>
      Effect.gen(function* () {
        yield* Effect.timeout(thread.ready, startMs)
        const verdict = yield* Effect.timeout(
          thread.scan({ result: job.result, maxBytes: job.maxBytes, maxCpu: SCAN_CPU_MS }),
          SCAN_MS
        )
        settle(job, verdict)
        return true
      }).pipe(
        Effect.catch((error) => {
          settle(job, unscannable(job.result))
          return Effect.as(
            Effect.logWarning("a tool result could not be scanned and was rejected").pipe(
              Effect.annotateLogs("reason", error._tag)
            ),
            false
          )
        })
      )

    const work = Effect.gen(function* () {
      let active = yield* open
      // The spare costs no start-up time: it begins once the first thread is up.
      yield* Effect.exit(Effect.timeout(active.thread.ready, startMs))
      let spare = yield* open
      while (true) {
        const job = yield* Queue.take(jobs)
        if (!waiting.has(job)) continue
        if (yield* attempt(active, job)) continue
        const dead = active
        active = spare
        yield* Effect.forkIn(Scope.close(dead.scope, Exit.void), scope, { startImmediately: true })
        spare = yield* open
      }
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const job of waiting) settle(job, unscannable(job.result))
      })
    )
    yield* Effect.forkIn(work, scope)

    return {
      scan: (result, maxBytes) =>
        Effect.suspend(() => {
          const job: Job = { result, maxBytes, verdict: Deferred.makeUnsafe() }
          waiting.add(job)
          Queue.offerUnsafe(jobs, job)
          return Effect.onInterrupt(Deferred.await(job.verdict), () => Effect.sync(() => waiting.delete(job)))
        })
    }
  })
