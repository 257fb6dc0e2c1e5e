/** Runs turns. base-protocol sections 4 (`turn.start`, `turn.cancel`) and 5 (the events of a run). */
import { Context, type Effect } from "effect"
import type { SessionHandle } from "../store/SessionStore.ts"
import type { ModelEntry } from "./model/Models.ts"

export interface PreparedRun {
  readonly runId: string
  /**
   * Runs the turn to its `run.finished`, which is placed exactly once and last. Never fails; its own errors become the
   * run's status. To be forked by the server after the response to `turn.start` has its place.
   */
  readonly go: Effect.Effect<void>
  /** `turn.cancel`: accepted at once, idempotent. `run.finished` is placed within 1500 ms, whatever still runs. */
  readonly cancel: Effect.Effect<void>
  /** The process closes: as `cancel`, but endings are `interrupted` (section 6); ends when `run.finished` is placed, within 900 ms. */
  readonly close: Effect.Effect<void>
}

export interface RunnerShape {
  readonly prepare: (options: {
    readonly session: SessionHandle
    readonly prompt: string
    readonly selection: ModelEntry
    /** Called synchronously just before `run.finished` takes its place: from then on the run is not active any more. */
    readonly finished: () => void
  }) => Effect.Effect<PreparedRun>
}

export class Runner extends Context.Service<Runner, RunnerShape>()("magi-code/agent/Runner") {}
