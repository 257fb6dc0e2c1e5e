/** `turn.start`, `turn.cancel`, `approval.answer`. base-protocol sections 4 and 5. */
import { Context, Effect, type Scope } from "effect"
import { Approvals } from "../../agent/Approvals.ts"
import { Runner } from "../../agent/Runner.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { ready } from "./backend.ts"
import { method } from "./decoded.ts"
import { activeRun, attached, busy } from "./refuse.ts"

/** `fibers` owns the run: closing it interrupts what closing the run itself did not end. */
export const start = (state: ConnectionState, fibers: Scope.Scope) =>
  method("turn.start", "session", ({ session_id, prompt }, respond) =>
    Effect.gen(function* () {
      const session = attached(state, session_id, respond)
      if (session === undefined || busy(state, respond)) return
      const selection = state.selection
      if (selection === undefined) return respond.failure("internal_error", "no model is selected")
      const run = yield* Context.get(ready(state), Runner).prepare({
        session: session.handle,
        prompt,
        selection: { provider: selection.provider, model: selection.model },
        finished: () => {
          state.run = undefined
        }
      })
      state.run = run
      // The response precedes every event of the run: it has its place before the run's fiber begins.
      respond.success({ run_id: run.runId, accepted: true })
      yield* Effect.forkIn(run.go, fibers, { startImmediately: true })
    })
  )

export const cancel = (state: ConnectionState) =>
  method("turn.cancel", "immediate", ({ session_id, run_id }, respond) =>
    Effect.suspend(() => {
      if (attached(state, session_id, respond) === undefined) return Effect.void
      const run = activeRun(state, run_id, respond)
      if (run === undefined) return Effect.void
      respond.success({ accepted: true })
      return run.cancel
    })
  )

export const answer = (state: ConnectionState) =>
  method("approval.answer", "immediate", ({ session_id, run_id, approval_id, allow }, respond) =>
    Effect.gen(function* () {
      if (attached(state, session_id, respond) === undefined) return
      if (activeRun(state, run_id, respond) === undefined) return
      const approvals = Context.get(ready(state), Approvals)
      const taken = yield* approvals.answer({ runId: run_id, approvalId: approval_id, allow }, () =>
        respond.success({ accepted: true })
      )
      if (!taken) respond.failure("stale_approval", "no such approval is pending", "/approval_id")
    })
  )
