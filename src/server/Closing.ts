/**
 * Closing: one absolute budget of two seconds, owned here and handed down, planned to be over after 1400 ms.
 *
 *      0 ms  no request is admitted; `initialize` under way is answered; every pending client call ends with `shutdown`
 *            in one step; the run is cancelled
 *   1000 ms  a run that has not ended by now is abandoned
 *   1400 ms  sessions, MCP servers, children and workers are gone; the writer is drained
 *   2000 ms  the process exits regardless
 *
 * base-protocol section 3, Closing.
 */
import { Context, Effect, Exit, Scope } from "effect"
import { Broker } from "../broker/Broker.ts"
import { type Budget, bounded } from "../platform/Bounded.ts"
import { Limits } from "../protocol/Limits.ts"
import type { OrderedWriterShape } from "../transport/OrderedWriter.ts"
import type { ConnectionState } from "./ConnectionState.ts"

/** Milliseconds of the budget at which the run is abandoned. */
const RUN_MS = 1000
/** Kept back at the end, so that the exit itself falls inside the two seconds. */
const EXIT_RESERVE_MS = 100

/** Runs the whole of closing. False: something was abandoned at its time (exit code 4 where it would have been 0). */
export const close = (options: {
  readonly state: ConnectionState
  readonly writer: OrderedWriterShape
  readonly budget: Budget
  readonly backendScope: Scope.Closeable
  /** The dispatcher's lane and the start-up fiber. */
  readonly fibers: Scope.Closeable
  /** Ends when every line that was read is answered: what came in one write with `shutdown` gets its `shutting_down`. */
  readonly answered: Effect.Effect<void>
}): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { state, writer, budget } = options
    const end = Limits.cleanup_ms - EXIT_RESERVE_MS
    state.starting?.failure("startup_cancelled", "the agent closed before start-up was over")
    if (state.backend) yield* Context.get(state.backend, Broker).close
    const step = (name: string, work: Effect.Effect<unknown>, until: number) =>
      Effect.gen(function* () {
        const inTime = yield* bounded(work, yield* budget.left(until))
        if (!inTime) yield* Effect.logWarning(`closing: ${name} did not end within ${until} ms and was abandoned`)
        return inTime
      })
    const run = yield* step("the run", state.run?.close ?? Effect.void, RUN_MS)
    const fibers = yield* step(
      "a request",
      Effect.andThen(Scope.close(options.fibers, Exit.void), options.answered),
      RUN_MS
    )
    // From here on nothing new is said: what has its place is still written.
    yield* writer.seal
    // Output that nobody takes is abandoned, whichever is over first: the two seconds of its oldest frame, or the budget.
    // A pipe that breaks has nobody at its other end who could miss anything.
    let stalled = false
    const output = Effect.tap(writer.drained, (how) =>
      Effect.sync(() => {
        stalled = how === "stalled"
      })
    )
    const session = state.session
    const rest = yield* Effect.all(
      [
        step(
          "the session store, an MCP server or a child process",
          Effect.andThen(
            session ? Scope.close(session.scope, Exit.void) : Effect.void,
            Scope.close(options.backendScope, Exit.void)
          ),
          end
        ),
        step("the output", output, end)
      ],
      { concurrency: "unbounded" }
    )
    return run && fibers && !stalled && rest.every(Boolean)
  })
