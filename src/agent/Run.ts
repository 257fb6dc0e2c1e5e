/**
 * One run: from the response to `turn.start` to `run.finished`, which is placed exactly once, last, and in time.
 *
 *     go       run.started -> the work (AgentLoop) -> run.finished
 *     cancel   settles what is pending, interrupts the work; 1100 ms later what still runs is abandoned
 *     close    the same for a closing process, whose endings are `interrupted`; 600 ms
 *
 * base-protocol sections 4 (`turn.cancel`), 5 (`run.finished`) and 3 (Closing).
 */
import { Cause, Deferred, Effect, Exit, Fiber, Metric, Option } from "effect"
import { truncateText } from "../protocol/CompactJson.ts"
import type { RunFailureCode } from "../protocol/ErrorCode.ts"
import type { RunStatus } from "../protocol/Event.ts"
import { ERROR_MESSAGE_BYTES } from "../protocol/Limits.ts"
import type { SessionHandle } from "../store/SessionStore.ts"
import { within } from "./Abandon.ts"
import * as AgentMetrics from "./AgentMetrics.ts"
import type { ModelEntry, ModelFailure } from "./model/Models.ts"
import type { RunEventsShape } from "./RunEvents.ts"
import type { PreparedRun } from "./Runner.ts"
import type { RunState, Stop } from "./RunState.ts"

/** How long stopped work may take before it is abandoned, and what is left after that for the last record. */
const CANCEL_MS = 1100
const CLOSE_MS = 600
const RECORD_MS = 150
const REVISION_MS = 100

export interface RunOptions {
  readonly state: RunState
  readonly events: RunEventsShape
  readonly session: SessionHandle
  readonly selection: ModelEntry
  /** The work; what it gives is not looked at. Stopped by interruption. */
  readonly work: Effect.Effect<unknown, ModelFailure>
  /** The run's own last record, where the final append has not written it. */
  readonly record: (status: RunStatus) => Effect.Effect<void>
  /** Called synchronously just before `run.finished` takes its place. */
  readonly finished: () => void
  /** Given the means to stop the work once it has begun; stops it at once where the run is stopped already. */
  readonly attach: (interrupt: Effect.Effect<void>) => Effect.Effect<void>
}

interface Verdict {
  readonly status: RunStatus
  readonly error: { readonly code: RunFailureCode; readonly message: string } | null
}

const failed = (code: RunFailureCode, message: string): Verdict => ({
  status: "failed",
  error: { code, message: truncateText(message.toWellFormed(), ERROR_MESSAGE_BYTES) }
})

const cancelled: Verdict = { status: "cancelled", error: null }

const ofStop = (stop: Stop): Verdict => (stop._tag === "Failed" ? failed(stop.code, stop.message) : cancelled)

/** `None`: the work was abandoned. */
const verdictOf = (state: RunState, exit: Option.Option<Exit.Exit<unknown, ModelFailure>>): Effect.Effect<Verdict> =>
  Effect.gen(function* () {
    if (state.stop) return ofStop(state.stop)
    if (Option.isNone(exit)) return cancelled
    if (Exit.isSuccess(exit.value)) return { status: "completed", error: null }
    const error = Cause.findErrorOption(exit.value.cause)
    if (Option.isSome(error)) return failed(error.value.code, error.value.message)
    yield* Effect.logError("a run failed unexpectedly", exit.value.cause)
    return failed("internal_error", "the run failed inside the agent; see its log")
  })

export const make = (options: RunOptions): PreparedRun => {
  const { events, selection, session, state } = options
  const ended = Deferred.makeUnsafe<void>()
  // Time runs from these also where the decision has been taken already and only its append is under way.
  const cancelling = Deferred.makeUnsafe<void>()
  const closing = Deferred.makeUnsafe<void>()

  const overdue = Effect.raceAllFirst([
    Effect.andThen(Deferred.await(state.stopped), Effect.sleep(CANCEL_MS)),
    Effect.andThen(Deferred.await(cancelling), Effect.sleep(CANCEL_MS)),
    Effect.andThen(Deferred.await(closing), Effect.sleep(CLOSE_MS))
  ])

  const finish = (verdict: Verdict) =>
    Effect.gen(function* () {
      const recorded = yield* within(options.record(verdict.status), RECORD_MS)
      const revision = yield* within(session.revision, REVISION_MS)
      if (Option.isNone(recorded) || Option.isNone(revision)) state.degrade()
      const data = {
        status: verdict.status,
        error: verdict.error,
        persistence: state.degraded ? ("degraded" as const) : ("complete" as const),
        history_revision: Option.getOrElse(revision, () => "unknown"),
        usage: state.usage && { ...state.usage }
      }
      // One step: whoever is told that the run is over finds its last event in its place.
      yield* Metric.update(AgentMetrics.runs, verdict.status)
      state.end()
      options.finished()
      const admitted = events.finish(data)
      Deferred.doneUnsafe(ended, Exit.void)
      yield* admitted
    })

  const go = Effect.uninterruptible(
    Effect.gen(function* () {
      const admitted = events.place("run.started", { provider: selection.provider, model: selection.model })
      const worker = yield* Effect.forkDetach(Effect.andThen(admitted, options.work), { startImmediately: true })
      yield* options.attach(Effect.sync(() => worker.interruptUnsafe()))
      const race = Effect.raceFirst(Effect.asSome(Fiber.await(worker)), Effect.as(overdue, Option.none()))
      // In a fiber of its own: it is interruptible, this one is not.
      const exit = yield* Effect.flatMap(Effect.forkDetach(race, { startImmediately: true }), Fiber.join)
      if (Option.isNone(exit)) {
        // Whether what was under way is on disk is not known.
        state.degrade()
        yield* Metric.update(AgentMetrics.abandoned, 1)
        yield* Effect.logWarning("a run did not stop in time; what still ran was abandoned")
      }
      yield* finish(yield* verdictOf(state, exit))
    })
  ).pipe(Effect.withSpan("run", { attributes: { run_id: state.runId } }))

  return {
    runId: state.runId,
    go,
    cancel: Effect.asVoid(Effect.andThen(state.halt({ _tag: "Cancelled" }), Deferred.succeed(cancelling, undefined))),
    close: state
      .halt({ _tag: "Closing" })
      .pipe(Effect.andThen(Deferred.succeed(closing, undefined)), Effect.andThen(Deferred.await(ended)))
  }
}
