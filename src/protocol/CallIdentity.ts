/** The identity of a client call: what a reply must repeat exactly. client-tools, Execute and reply. */

/** Six members: the child's instance, root session and run, the call, and the executing subagent's task and activity. */
export type CallIdentity = {
  readonly instance_id: string
  readonly session_id: string
  readonly run_id: string
  readonly call_id: string
  readonly task_id: string | null
  readonly subagent_id: string | null
}

/** True when all six members are equal. */
export const same = (a: CallIdentity, b: CallIdentity): boolean =>
  a.instance_id === b.instance_id &&
  a.session_id === b.session_id &&
  a.run_id === b.run_id &&
  a.call_id === b.call_id &&
  a.task_id === b.task_id &&
  a.subagent_id === b.subagent_id
