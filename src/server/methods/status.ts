/** `status` and `shutdown`: accepted in every state but closing. base-protocol sections 3 and 4. */
import { Context, Effect } from "effect"
import { Approvals } from "../../agent/Approvals.ts"
import { Broker } from "../../broker/Broker.ts"
import { decodeParams } from "../../protocol/Method.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import type { Method } from "./Method.ts"

export const status = (state: ConnectionState): Method => ({
  name: "status",
  lane: "immediate",
  run: (params, respond) =>
    Effect.gen(function* () {
      const decoded = decodeParams("status", params)
      if (decoded._tag === "Failure") return respond.failure("invalid_params", decoded.failure.message, decoded.failure.path)
      const session = state.session?.handle
      const backend = state.backend
      respond.success({
        state: state.lifecycle.state,
        instance_id: state.instanceId,
        session_id: session?.sessionId ?? null,
        durable: session ? yield* session.durable : false,
        run_id: state.run?.runId ?? null,
        history_revision: session ? yield* session.revision : null,
        selection: state.selection ? { ...state.selection } : null,
        pending_approvals: backend ? yield* Context.get(backend, Approvals).pending : 0,
        pending_client_calls: backend ? yield* Context.get(backend, Broker).pending : 0,
        requests_used: state.requestIds.used
      })
    })
})

/** `close` begins closing after the answer has its place (section 3, Closing). */
export const shutdown = (close: Effect.Effect<void>): Method => ({
  name: "shutdown",
  lane: "immediate",
  run: (params, respond) =>
    Effect.suspend(() => {
      const decoded = decodeParams("shutdown", params)
      if (decoded._tag === "Failure") {
        respond.failure("invalid_params", decoded.failure.message, decoded.failure.path)
        return Effect.void
      }
      respond.success({ accepted: true })
      return close
    })
})
