/**
 * The agent's own questions of approval (`approval.request`): each is put to the approver in a fiber of its own and
 * answered once; a closed one is not asked any longer. base-protocol sections 4 and 5; product section 1 (`--approve`).
 */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import type { ApprovalClosed, ApprovalRequest } from "../protocol/Event.ts"
import { Limits } from "../protocol/Limits.ts"
import type { Approver } from "./Approver.ts"
import type { CurrentRun } from "./Handlers.ts"
import type { Requests } from "./Requests.ts"

/** What the questions of one connection need. */
export interface ApprovalsOptions {
  readonly requests: Requests
  readonly current: () => CurrentRun | undefined
  /** Absent: every question is denied at once. */
  readonly approver: Approver | undefined
}

/** The open questions of one connection; every member is synchronous. */
export interface Approvals {
  /** `approval.request`, synchronously. A question of another run is passed over. */
  readonly request: (instanceId: string, data: ApprovalRequest) => void
  /** `approval.closed`, synchronously. */
  readonly closed: (data: ApprovalClosed) => void
  /** Ends all questions: the run is over, or the transport. */
  readonly clear: () => void
}

/** Its fibers live in the current scope. */
export const make = Effect.fnUntraced(function* (options: ApprovalsOptions) {
  const questions = yield* FiberMap.make<string, void>()
  const run = yield* FiberMap.runtime(questions)()
  const open = new Map<string, () => void>()

  const request = (instanceId: string, data: ApprovalRequest) => {
    const current = options.current()
    const { approval_id, run_id, session_id } = data
    if (current?.instanceId !== instanceId || session_id !== current.sessionId || run_id !== current.runId) return
    if (open.has(approval_id)) return
    const { approver } = options
    const ask =
      approver === undefined || open.size >= Limits.pending_approvals
        ? Effect.succeed(false)
        : Effect.suspend(() =>
            approver({
              source: "agent",
              kind: data.kind,
              summary: data.summary,
              taskId: data.task_id,
              subagentId: data.subagent_id,
              timeoutMs: data.timeout_ms
            })
          ).pipe(Effect.catchDefect(() => Effect.succeed(false)))
    const answer = (allow: boolean) => {
      // A question that was closed meanwhile needs no answer, and its request id is saved.
      if (!open.delete(approval_id)) return
      options.requests.send("approval.answer", { session_id, run_id, approval_id, allow }, "reply")
    }
    let close = () => {}
    open.set(approval_id, () => close())
    const fiber = run(approval_id, Effect.map(ask, answer))
    close = () => fiber.interruptUnsafe()
  }

  const clear = () => {
    const all = [...open.values()]
    open.clear()
    for (const close of all) close()
  }

  return {
    request,
    closed: ({ approval_id }) => {
      const close = open.get(approval_id)
      open.delete(approval_id)
      close?.()
    },
    clear
  } satisfies Approvals
})
