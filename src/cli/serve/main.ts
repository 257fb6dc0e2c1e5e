/** `magi-code serve --stdio`: the agent backend on its inherited stdin and stdout. base-protocol sections 1 and 3. */
import { realpathSync } from "node:fs"
import { Effect, Exit } from "effect"
import { exitNow } from "../../platform/Exit.ts"
import * as Logging from "../../platform/Logging.ts"
import { signalled } from "../../platform/Signals.ts"
import { flushedAfter, traced } from "../../platform/Telemetry.ts"
import { version } from "../../platform/Version.ts"
import { serve } from "../../server/Connection.ts"
import { defaultStartup } from "../../server/DefaultStartup.ts"
import { CLEANUP_EXCEEDED } from "../../server/Lifecycle.ts"
import * as StdioTransport from "../../transport/StdioTransport.ts"

const USAGE = "usage: magi-code serve --stdio (no other flags; its log level comes from MC_LOG)"

/** The exit code of section 3; usage errors are 1 here. */
const main = (args: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    if (args.length !== 1 || args[0] !== "--stdio") {
      process.stderr.write(`${USAGE}\n`)
      return 1
    }
    return yield* serve({
      workspace: realpathSync(process.cwd()),
      startup: flushedAfter(defaultStartup),
      server: { name: "magi-code", version },
      closeRequested: signalled,
      transportFailed: Logging.silence
    }).pipe(
      Effect.provide(StdioTransport.layer),
      Effect.catchTag("UnusableStdio", (error) =>
        Effect.sync(() => {
          process.stderr.write(`${error.message}\n`)
          return 1
        })
      )
    )
  }).pipe(
    // What is left was sent while the backend was closed; nothing of the two seconds is spent on it again.
    (program) => traced(program, 50),
    Effect.provide(Logging.layer)
  )

const exit = await Effect.runPromiseExit(main(process.argv.slice(3)))
if (Exit.isFailure(exit)) process.stderr.write("magi-code serve: internal error; set MC_LOG=debug and report it\n")
// stdin may still be open and children abandoned: the process ends here regardless (section 3, Closing).
exitNow(Exit.isSuccess(exit) ? exit.value : 1, CLEANUP_EXCEEDED)
