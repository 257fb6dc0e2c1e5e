/** Check 10: the state errors that methods share, in their order (base-protocol section 4). */
import type { ActiveRun, AttachedSession, ConnectionState } from "../ConnectionState.ts"
import type { Respond } from "../Respond.ts"

/** The attached session if the params name it; otherwise `no_session` or `stale_session` is answered. */
export const attached = (state: ConnectionState, sessionId: string, respond: Respond): AttachedSession | undefined => {
  if (state.session === undefined) {
    respond.failure("no_session", "no session is attached; create or open one first")
    return undefined
  }
  if (state.session.handle.sessionId !== sessionId) {
    respond.failure("stale_session", "another session is attached", "/session_id")
    return undefined
  }
  return state.session
}

/** True, and answered `run_active`, while a run is active. */
export const busy = (state: ConnectionState, respond: Respond): boolean => {
  if (state.run === undefined) return false
  respond.failure("run_active", "a run is active; wait for run.finished or cancel it")
  return true
}

/** The active run if the params name it; otherwise `stale_run` is answered. */
export const activeRun = (state: ConnectionState, runId: string, respond: Respond): ActiveRun | undefined => {
  if (state.run?.runId === runId) return state.run
  respond.failure("stale_run", "no such run is active", "/run_id")
  return undefined
}
