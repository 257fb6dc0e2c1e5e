/**
 * What version 1 of the protocol promises, written out a second time on purpose: a check that read the constants the
 * backend itself runs on could not see them change. docs/local-agent-protocol.md, docs/client-tools.md.
 */

/** `limits` of the initialize result. */
export const LIMITS = {
  input_frame_bytes: 65_536,
  output_frame_bytes: 65_536,
  json_depth: 32,
  request_ids: 4096,
  pending_output_frames: 32,
  output_deadline_ms: 2000,
  cleanup_ms: 2000,
  prompt_bytes: 32_768,
  page_entries: 100,
  page_bytes: 32_768,
  pending_approvals: 16
} as const

/** `client_tools.limits`. */
export const CLIENT_TOOL_LIMITS = {
  tools: 32,
  name_bytes: 64,
  description_bytes: 2048,
  registry_bytes: 32_768,
  schema_bytes: 8192,
  schema_depth: 16,
  arguments_bytes: 16_384,
  result_bytes: 32_768,
  pending_calls: 16,
  default_timeout_ms: 30_000,
  min_timeout_ms: 1000,
  max_timeout_ms: 300_000
} as const

/** `capabilities` of the initialize result, in their order. */
export const METHODS = [
  "initialize",
  "status",
  "shutdown",
  "session.create",
  "session.open",
  "session.list",
  "model.catalog",
  "selection.set",
  "history.page",
  "turn.start",
  "turn.cancel",
  "approval.answer"
] as const

/** Every code an error envelope may carry. */
export const CODES: ReadonlySet<string> = new Set(
  `frame_too_large invalid_request unsupported_version duplicate_id request_limit shutting_down unsupported_method
   unsupported_capability not_initialized initializing already_initialized not_ready invalid_params
   configuration_invalid configuration_untrusted startup_cancelled provider_unconfigured mcp_failed no_session
   stale_session session_not_found session_busy session_invalid workspace_mismatch run_active stale_run stale_approval
   stale_revision stale_selection selection_invalid persistence_failed stale_client_tool_call internal_error`.split(
    /\s+/
  )
)

/** The members of each event's data after `session_id` and `run_id`. */
export const EVENTS: { readonly [event: string]: ReadonlyArray<string> } = {
  "run.started": ["provider", "model"],
  "input.saved": ["durable", "history_revision"],
  "message.delta": ["message_id", "text"],
  "message.reconcile": ["message_id", "part", "parts", "text"],
  "activity.started": ["activity_id", "parent_id", "kind", "name", "task_id"],
  "activity.updated": ["activity_id", "summary"],
  "activity.finished": ["activity_id", "status", "call_id", "code"],
  "tool.card": ["activity_id", "card"],
  "approval.request": ["approval_id", "kind", "summary", "task_id", "subagent_id", "timeout_ms"],
  "approval.closed": ["approval_id", "reason"],
  "client.tool.call": ["call_id", "task_id", "subagent_id", "name", "arguments", "timeout_ms"],
  "client.tool.cancel": ["call_id", "task_id", "subagent_id", "reason"],
  "run.finished": ["status", "error", "persistence", "history_revision", "usage"]
}

/** Compact bytes, without quotes, that a text member of an event may have. */
export const TEXT_BYTES: { readonly [event: string]: { readonly [member: string]: number } } = {
  "run.started": { provider: 128, model: 128 },
  "message.delta": { text: 8192 },
  "message.reconcile": { text: 16_384 },
  "activity.updated": { summary: 512 },
  "approval.request": { summary: 4096 }
}
