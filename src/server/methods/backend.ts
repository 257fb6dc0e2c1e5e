/** What start-up made. Readiness is check 8, so a method that is run has it. */
import type { Context } from "effect"
import type { BackendServices, ConnectionState } from "../ConnectionState.ts"

export type Backend = Context.Context<BackendServices>

/** The backend of a ready connection. Called by methods only, which the dispatcher runs in state `ready` alone. */
export const ready = (state: ConnectionState): Backend => {
  if (state.backend === undefined) throw new Error("a method ran before start-up was over")
  return state.backend
}
