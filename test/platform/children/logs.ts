// Logs something of everything at the level of MC_LOG, and says on stdout that its event loop still turns.
import { Effect } from "effect"
import * as Logging from "../../../src/platform/Logging.ts"

class Failure extends Error {
  readonly _tag = "SomeFailure"
  readonly code = "E_SOME"
}

const program = Effect.gen(function* () {
  yield* Effect.logTrace("at trace")
  yield* Effect.logDebug("at debug")
  yield* Effect.logInfo("at info")
  yield* Effect.annotateLogs(Effect.logWarning("at warn \u001b[31m"), { count: 3, object: { secret: "SENTINEL" } })
  yield* Effect.logError("an error", new TypeError("SENTINEL\n    at SENTINEL (file.js:1:1)"))
  yield* Effect.logError({ args: "SENTINEL" })
  const failed = Effect.fail(new Failure("SENTINEL"))
  yield* Effect.catchCause(failed, (cause) => Effect.logError("failed", cause))
  const died = Effect.sync(() => JSON.parse("SENTINEL {"))
  yield* Effect.catchCause(died, (cause) => Effect.logError("died", cause))
  if (process.argv[2] === "flood") {
    for (let n = 0; n < 4_000; n++) yield* Effect.logError("x".repeat(1_000))
    const begun = performance.now()
    yield* Effect.sleep(20)
    process.stdout.write(`turned ${performance.now() - begun < 2_000}\n`)
  }
  if (process.argv[2] === "silence") {
    yield* Logging.silence
    yield* Effect.logError("after the transport failed")
  }
})

await Effect.runPromise(Effect.provide(program, Logging.layer))
process.exitCode = 0
