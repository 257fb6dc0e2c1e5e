/**
 * What a connection knows, in one place. Every member is read and written by synchronous steps of the dispatcher, of the
 * session lane, and of closing; no step spans an asynchronous wait. base-protocol sections 3 and 4.
 */
import type { Context, Effect, Scope } from "effect"
import type { Approvals } from "../agent/Approvals.ts"
import type { Models } from "../agent/model/Models.ts"
import type { Runner } from "../agent/Runner.ts"
import type { Broker } from "../broker/Broker.ts"
import type { Admission } from "../protocol/Initialize.ts"
import type { Settings } from "../settings/Settings.ts"
import type { SessionHandle, SessionStore } from "../store/SessionStore.ts"
import type { Lifecycle } from "./Lifecycle.ts"
import type { RequestIds } from "./RequestIds.ts"
import type { Respond } from "./Respond.ts"

/** What start-up gives: everything a ready connection works with. */
export type BackendServices = Settings | Models | SessionStore | Broker | Approvals | Runner

export interface AttachedSession {
  readonly handle: SessionHandle
  /** Closing it releases the session's lock. */
  readonly scope: Scope.Closeable
}

export interface ActiveRun {
  readonly runId: string
  /** Cancels it as `turn.cancel` does; synchronous in effect, idempotent. */
  readonly cancel: Effect.Effect<void>
  /** Cancels it because the process closes, and waits for its end, bounded. */
  readonly close: Effect.Effect<void>
}

export interface Selection {
  readonly provider: string
  readonly model: string
  readonly revision: string
}

export interface ConnectionState {
  readonly instanceId: string
  readonly workspace: string
  readonly lifecycle: Lifecycle
  readonly requestIds: RequestIds
  /** Set when `initialize` is admitted. */
  admission: Admission | undefined
  /** The answer to the `initialize` under way or given; closing answers it `startup_cancelled` where nothing has yet. */
  starting: Respond | undefined
  /** Set when start-up succeeded. */
  backend: Context.Context<BackendServices> | undefined
  selection: Selection | undefined
  session: AttachedSession | undefined
  run: ActiveRun | undefined
}
