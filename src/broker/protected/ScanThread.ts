/**
 * One scanning thread as a scoped resource: started with the scope, terminated with it, also in the middle of a scan.
 *
 * base-protocol section 6, Redaction.
 */
import { Worker } from "node:worker_threads"
import { Data, Deferred, Effect, type Scope } from "effect"
import { workerUrl } from "../../platform/workerUrl.ts"
import type { Verdict } from "./Redactor.ts"
import type { ScanJob, ScanMessage, ScanWorkerData } from "./redactWorker.ts"

/** The thread is gone or never came up. Says nothing about what it was scanning. */
export class ThreadGone extends Data.TaggedError("ThreadGone")<{ readonly reason: string }> {}

export interface ScanThread {
  /** Waits until it is warm. */
  readonly ready: Effect.Effect<void, ThreadGone>
  /** Scans one result. One at a time: its owner waits for the answer before it asks again. */
  readonly scan: (job: ScanJob) => Effect.Effect<Verdict, ThreadGone>
}

/** Heap of a scan, in MiB: a result of a megabyte and all that is found in it need a fraction of this. */
const HEAP_MB = 192

/** Starts a thread that knows the live keys `secrets`. Does not wait for it. */
export const startThread = (secrets: ReadonlyArray<string>): Effect.Effect<ScanThread, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => open({ secrets })),
      ({ close }) => close
    ),
    ({ thread }) => thread
  )

const open = (workerData: ScanWorkerData): { readonly thread: ScanThread; readonly close: Effect.Effect<void> } => {
  const ready = Deferred.makeUnsafe<void, ThreadGone>()
  let answer: Deferred.Deferred<Verdict, ThreadGone> | undefined
  let gone: ThreadGone | undefined
  // Nothing of the environment (a DEBUG variable would make libraries talk), and no way to the protocol's stdout.
  const worker = new Worker(workerUrl("redactWorker", import.meta.url), {
    workerData,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    name: "redact",
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }
  })
  worker.stdout.resume()
  worker.stderr.resume()
  const end = (reason: string): void => {
    gone ??= new ThreadGone({ reason })
    Deferred.doneUnsafe(ready, Effect.fail(gone))
    if (answer !== undefined) Deferred.doneUnsafe(answer, Effect.fail(gone))
  }
  worker.on("message", (message: ScanMessage) => {
    if (message._tag === "Ready") Deferred.doneUnsafe(ready, Effect.void)
    else if (answer !== undefined) Deferred.doneUnsafe(answer, Effect.succeed(message.verdict))
  })
  worker.on("error", (error) => end(error.name))
  worker.on("messageerror", () => end("messageerror"))
  worker.on("exit", () => end("exit"))
  return {
    thread: {
      ready: Deferred.await(ready),
      scan: (job) =>
        Effect.suspend(() => {
          if (gone !== undefined) return Effect.fail(gone)
          const own = Deferred.makeUnsafe<Verdict, ThreadGone>()
          answer = own
          worker.postMessage(job)
          return Deferred.await(own)
        })
    },
    close: Effect.suspend(() => {
      end("closed")
      return Effect.promise(() => worker.terminate())
    })
  }
}
