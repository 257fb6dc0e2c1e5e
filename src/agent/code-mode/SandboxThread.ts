/**
 * A worker thread with an engine in it, as the agent sees it: used for one script, ended with it.
 *
 * base-protocol section 7.
 */
import { Worker } from "node:worker_threads"
import { Cause, Deferred, Effect, Queue, type Scope } from "effect"
import { workerUrl } from "../../platform/workerUrl.ts"
import { within } from "../Abandon.ts"
import { CLEANUP_MS, type CodeModeBounds } from "./CodeModeLimits.ts"
import { decodeFromThread, type FromScript, type ToThread } from "./Messages.ts"
import { engineFailed, engineUnavailable, type SandboxFailure } from "./SandboxFailure.ts"

/** The native stack: twice of what was measured to be enough for the engine to reach its own bound on recursion first. */
const STACK_MB = 16
/** What the thread may take beside the engine's memory: texts on their way in and out, its own code. */
const OLD_GENERATION_MB = 96
const YOUNG_GENERATION_MB = 16

export interface SandboxThread {
  /** The engine is loaded. */
  readonly ready: Effect.Effect<void, SandboxFailure>
  /** The next message of the script. Fails when the thread has ended or broken its bounds. */
  readonly next: Effect.Effect<FromScript, SandboxFailure>
  readonly send: (message: ToThread) => Effect.Effect<void>
  readonly isAlive: () => boolean
}

/**
 * Starts a thread; it loads its engine by itself. Closing the scope ends it, whatever it is doing.
 *
 * @param onEnd called once, when the thread is gone
 * @param entry what the thread runs; another one than `codeModeWorker` only in tests
 */
export const start = (
  bounds: CodeModeBounds,
  onEnd: () => void,
  entry: URL = workerUrl("codeModeWorker", import.meta.url)
): Effect.Effect<SandboxThread, SandboxFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const ready = Deferred.makeUnsafe<void, SandboxFailure>()
    // A script makes one message for each call that is not refused at once, and a last one.
    const maxMessages = bounds.calls + 1
    const messages = yield* Queue.bounded<FromScript, SandboxFailure>(maxMessages)
    const worker = yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          new Worker(entry, {
            name: "code-mode",
            workerData: { heapBytes: bounds.heap_bytes },
            resourceLimits: {
              stackSizeMb: STACK_MB,
              maxOldGenerationSizeMb: OLD_GENERATION_MB,
              maxYoungGenerationSizeMb: YOUNG_GENERATION_MB
            },
            // Nothing of this process is for it, and its output is nobody's: stdout is the protocol's.
            env: {},
            execArgv: [],
            stdout: true,
            stderr: true
          }),
        catch: () => engineUnavailable
      }),
      (started) =>
        Effect.gen(function* () {
          const ended = yield* within(
            Effect.promise(() => started.terminate()),
            CLEANUP_MS
          )
          if (ended._tag === "None") yield* Effect.logWarning("the thread of a script did not end and was abandoned")
        })
    )
    let isAlive = true
    let isReady = false
    let count = 0
    let bytes = 0
    let error: unknown = "it ended by itself"
    const broken = () => {
      Deferred.doneUnsafe(ready, Effect.fail(engineUnavailable))
      Queue.failCauseUnsafe(messages, Cause.fail(engineFailed))
    }
    worker.stdout.resume()
    worker.stderr.resume()
    // A spare does not keep the process alive, and neither does a script: whoever waits for it does.
    worker.unref()
    worker.on("message", (given: unknown) => {
      const message = decodeFromThread(given, bounds)
      if (message?.type === "ready" && !isReady) {
        isReady = true
        return void Deferred.doneUnsafe(ready, Effect.void)
      }
      count += 1
      bytes += message?.type === "call" ? (message.args?.length ?? 0) : 0
      const isWithin =
        message !== undefined && message.type !== "ready" && count <= maxMessages && bytes <= bounds.total_bytes
      if (isWithin && Queue.offerUnsafe(messages, message)) return
      broken()
      // What breaks its bounds is not heard any more, nor left to go on.
      worker.removeAllListeners("message")
      void worker.terminate()
    })
    worker.on("error", (thrown) => {
      error = thrown
      broken()
    })
    worker.on("exit", () => {
      isAlive = false
      broken()
      onEnd()
    })
    return {
      ready: Deferred.await(ready).pipe(
        Effect.tapError(() => Effect.logError("the engine of Code Mode could not be loaded", error))
      ),
      next: Queue.take(messages),
      send: (message) => Effect.sync(() => worker.postMessage(message)),
      isAlive: () => isAlive
    }
  })
