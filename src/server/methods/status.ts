/** `status` and `shutdown`: accepted in every state but closing. base-protocol sections 3 and 4. */
import { Context, Effect } from "effect"
import { Approvals } from "../../agent/Approvals.ts"
import { Broker } from "../../broker/Broker.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { method } from "./decoded.ts"

export const status = (state: ConnectionState) =>
  method("status", "immediate", (_, respond) =>
    Effect.gen(function* () {
      const { backend, selection } = state
      const session = state.session?.handle
      respond.success({
        state: state.lifecycle.state,
        instance_id: state.instanceId,
        session_id: session?.sessionId ?? null,
        durable: session ? yield* session.durable : false,
        run_id: state.run?.runId ?? null,
        history_revision: session ? yield* session.revision : null,
        selection: selection ? { ...selection } : null,
        pending_approvals: backend ? yield* Context.get(backend, Approvals).pending : 0,
        pending_client_calls: backend ? yield* Context.get(backend, Broker).pending : 0,
        requests_used: state.requestIds.used
      })
    })
  )

/** `close` begins closing after the answer has its place (section 3, Closing). */
export const shutdown = (close: Effect.Effect<void>) =>
  method("shutdown", "immediate", (_, respond) =>
    Effect.suspend(() => {
      respond.success({ accepted: true })
      return close
    })
  )
