/**
 * Approvals of what a tool is about to do, bound to exactly the arguments shown. base-protocol section 5
 * (`approval.request`, `approval.closed`), section 4 (`approval.answer`).
 */
import { Context, type Effect } from "effect"
import type { AgentIdentity, ApprovalNeed, ToolFailure } from "../tools/Tool.ts"

export interface ApprovalsShape {
  /**
   * Asks and waits for the answer, at most 300000 ms. Fails with `approval_denied` when it is denied, times out, does not
   * fit into its summary, or would be the 17th pending. Interruption closes the request with reason `cancelled`.
   */
  readonly request: (need: ApprovalNeed, identity: AgentIdentity) => Effect.Effect<void, ToolFailure>
  /**
   * `approval.answer`: false when no such approval of this run is pending (`stale_approval`). One answer wins.
   * `acknowledge` places the response; it is called synchronously before the events that the answer causes.
   */
  readonly answer: (
    options: { readonly runId: string; readonly approvalId: string; readonly allow: boolean },
    acknowledge: () => void
  ) => Effect.Effect<boolean>
  readonly pending: Effect.Effect<number>
}

export class Approvals extends Context.Service<Approvals, ApprovalsShape>()("magi-code/agent/Approvals") {}
