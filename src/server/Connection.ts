/**
 * The connection: one fiber reads and dispatches, one writes, and the first cause to close wins.
 *
 * Ownership: the scope of `serve` owns the writer and reader fibers; `fibers` owns the start-up fiber and the session lane;
 * `backendScope` owns what start-up made. Closing closes them in that order, innermost first, inside one budget.
 *
 * base-protocol sections 2 and 3.
 */
import { Cause, Context, Deferred, Effect, Exit, Latch, Scope } from "effect"
import { bounded, makeBudget } from "../platform/Bounded.ts"
import { uuid } from "../platform/Ids.ts"
import { Limits } from "../protocol/Limits.ts"
import { FrameReader } from "../transport/FrameReader.ts"
import { EventWriter } from "../transport/FrameWriter.ts"
import * as OrderedWriter from "../transport/OrderedWriter.ts"
import { Transport } from "../transport/Transport.ts"
import { close } from "./Closing.ts"
import type { ConnectionState } from "./ConnectionState.ts"
import * as Dispatcher from "./Dispatcher.ts"
import { CLEANUP_EXCEEDED, type ClosingCause, exitCodes, Lifecycle } from "./Lifecycle.ts"
import { makeMethods } from "./methods/index.ts"
import { RequestIds } from "./RequestIds.ts"
import { respondTo } from "./Respond.ts"
import type { Startup } from "./Startup.ts"

/** What a connection is served with. */
export interface ServeOptions {
  /** The real path of the workspace. */
  readonly workspace: string
  readonly startup: Startup
  readonly server: { readonly name: string; readonly version: string }
  /** Ends when something outside wants the agent to close as EOF does (SIGTERM and SIGINT, section 3). */
  readonly closeRequested?: Effect.Effect<void>
  /** Run when the transport has failed and that is logged: nothing more is to be written anywhere (section 1). */
  readonly transportFailed?: Effect.Effect<void>
}

/**
 * Serves one parent over the transport until it closes; gives the exit code of section 3: 0 after shutdown or EOF,
 * 1 internal error, 2 oversized frame, 3 transport failure, 4 cleanup deadline exceeded.
 */
export const serve = (options: ServeOptions): Effect.Effect<number, never, Transport> =>
  Effect.scoped(
    Effect.gen(function* () {
      const transport = yield* Transport
      const instanceId = yield* uuid
      const writer = yield* OrderedWriter.make({ transport, instanceId })
      const backendScope = yield* Scope.make()
      const fibers = yield* Scope.make("parallel")
      // Closing closes both. A program that interrupts `serve` instead must not be left with what they own.
      yield* Effect.addFinalizer(() =>
        bounded(Effect.andThen(Scope.close(fibers, Exit.void), Scope.close(backendScope, Exit.void)), Limits.cleanup_ms)
      )
      const closing = yield* Deferred.make<ClosingCause>()
      const state: ConnectionState = {
        instanceId,
        workspace: options.workspace,
        lifecycle: new Lifecycle(),
        requestIds: new RequestIds(),
        admission: undefined,
        starting: undefined,
        backend: undefined,
        selection: undefined,
        session: undefined,
        run: undefined
      }

      /** The first cause wins: later ones find the state closing already. */
      const beginClosing = (cause: ClosingCause) =>
        Effect.sync(() => {
          if (state.lifecycle.close() !== undefined) Deferred.doneUnsafe(closing, Exit.succeed(cause))
        })

      const methods = makeMethods({
        state,
        startup: options.startup,
        server: options.server,
        context: Context.make(EventWriter, writer),
        backendScope,
        fibers,
        close: beginClosing("shutdown")
      })
      const { dispatch } = yield* Scope.provide(Dispatcher.make({ state, writer, methods }), fibers)

      const frames = new FrameReader(Limits.input_frame_bytes)
      const betweenChunks = Latch.makeUnsafe(true)
      const read: Effect.Effect<void> = Effect.gen(function* () {
        for (;;) {
          yield* writer.backlog
          const chunk = yield* transport.read
          if (chunk === null) return yield* beginClosing("eof")
          const arrived = frames.push(chunk)
          betweenChunks.closeUnsafe()
          for (const frame of arrived.frames) yield* dispatch(frame)
          betweenChunks.openUnsafe()
          if (arrived.oversized) {
            respondTo(writer, null).failure(
              "frame_too_large",
              `a frame has at most ${Limits.input_frame_bytes} bytes before its LF`
            )
            return yield* beginClosing("oversized_frame")
          }
        }
      }).pipe(Effect.catchTag("TransportFailed", () => beginClosing("transport_failure")))

      yield* Effect.forkScoped(
        Effect.onExit(read, (exit) =>
          Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)
            ? Effect.andThen(beginClosing("internal_error"), Effect.logError("the reader failed", exit.cause))
            : Effect.void
        )
      )
      yield* Effect.forkScoped(
        Effect.catch(writer.failure, (error) =>
          Effect.andThen(
            beginClosing("transport_failure"),
            Effect.andThen(
              Effect.logError(`the transport failed: ${error.reason}`),
              options.transportFailed ?? Effect.void
            )
          )
        )
      )
      if (options.closeRequested) {
        yield* Effect.forkScoped(Effect.andThen(options.closeRequested, beginClosing("signal")))
      }

      const cause = yield* Deferred.await(closing)
      // The budget begins with the cause: whatever closing takes part in draws on the same two seconds.
      const budget = yield* makeBudget(Limits.cleanup_ms)
      const inTime = yield* close({ state, writer, budget, backendScope, fibers, answered: betweenChunks.await })
      const code = exitCodes[cause]
      return code === 0 && !inTime ? CLEANUP_EXCEEDED : code
    })
  )
