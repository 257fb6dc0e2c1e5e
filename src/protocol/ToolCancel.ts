/** `client.tool.cancel`: the call's identity and why, no arguments and no results. client-tools, Cancellation and permissions. */
import type { CallIdentity } from "./CallIdentity.ts"
import type { CancelReason } from "./ErrorCode.ts"
import type { ClientToolCancel } from "./Event.ts"

/** The data of the event; `instance_id` is the envelope's. */
export const cancelData = (identity: CallIdentity, reason: CancelReason): ClientToolCancel => ({
  session_id: identity.session_id,
  run_id: identity.run_id,
  call_id: identity.call_id,
  task_id: identity.task_id,
  subagent_id: identity.subagent_id,
  reason
})
