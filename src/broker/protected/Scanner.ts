/**
 * The one queue in front of the scanning threads: results are scanned in the order in which they were handed in, each
 * within its time, and a thread that does not answer in it is terminated and replaced by the spare, which is warm.
 *
 * base-protocol section 6, Redaction: 50 ms of CPU, 250 ms in all, off the protocol's thread.
 */
import { Data, Deferred, Effect, Exit, Option, Queue, Scope } from "effect"
import type { RawResult, Verdict } from "./Redactor.ts"
import { type ScanThread, startThread } from "./ScanThread.ts"

/** Milliseconds of CPU that a scan may use: more, and its verdict is that the result is unscannable. */
export const SCAN_CPU_MS = 50

/** Milliseconds from handing a result to a thread to its answer. Waiting for its turn does not count. */
export const SCAN_MS = 250

/** How long a thread may take to come up, on a machine that is busy with other things. */
const START_MS = 10_000

/** When the spare begins to warm up if no result has come until then. */
const SPARE_MS = 1000

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

/** A thread did not answer in its time. */
class Late extends Data.TaggedError("Late") {}

/**
 * `effect`, or `Late` after `millis`. What has arrived by then counts, also when this process itself was held up so that
 * the clock is looked at first.
 */
const within = <A, E>(effect: Effect.Effect<A, E>, millis: number): Effect.Effect<A, E | Late> =>
  Effect.raceFirst(effect, lateAfter(millis))

const lateAfter = Effect.fnUntraced(function* (millis: number) {
  yield* Effect.sleep(millis)
  yield* arrivals
  return yield* new Late()
})

/** Lets the messages that wait be taken. */
const arrivals = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/**
 * A scanner that lives as long as its scope. Its first thread begins to warm up at once; nobody waits for it here. `start`
 * and the times are for tests.
 */
export const makeScanner = (
  secrets: ReadonlyArray<string>,
  start: (secrets: ReadonlyArray<string>) => Effect.Effect<ScanThread, never, Scope.Scope> = startThread,
  { spareMs = SPARE_MS, startMs = START_MS }: { readonly spareMs?: number; readonly startMs?: number } = {}
): Effect.Effect<Scanner, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const jobs = yield* Queue.unbounded<Job>()
    const waiting = new Set<Job>()
    let closed = false

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
        yield* within(thread.ready, startMs)
        const verdict = yield* within(
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
      let spare: Lane | undefined
      while (true) {
        // The spare takes nothing away from the start of the process: it begins a little later, or after the first result.
        const first = spare === undefined ? yield* Effect.timeoutOption(Queue.take(jobs), spareMs) : Option.none()
        if (Option.isNone(first)) spare ??= yield* open
        const job = Option.isSome(first) ? first.value : yield* Queue.take(jobs)
        if (waiting.has(job) && !(yield* attempt(active, job))) {
          yield* Effect.forkIn(Scope.close(active.scope, Exit.void), scope, { startImmediately: true })
          active = spare ?? (yield* open)
          spare = undefined
        }
        spare ??= yield* open
      }
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closed = true
        for (const job of waiting) settle(job, unscannable(job.result))
      })
    )
    yield* Effect.forkIn(work, scope)

    return {
      scan: (result, maxBytes) =>
        Effect.suspend(() => {
          if (closed) return Effect.succeed(unscannable(result))
          const job: Job = { result, maxBytes, verdict: Deferred.makeUnsafe() }
          waiting.add(job)
          Queue.offerUnsafe(jobs, job)
          return Effect.onInterrupt(Deferred.await(job.verdict), () => Effect.sync(() => waiting.delete(job)))
        })
    }
  })
