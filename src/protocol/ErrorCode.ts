/** Every code the protocol knows, each once. base-protocol sections 5, 6 and 8. */

/** Codes of an error envelope (section 8). */
export const errorCodes = [
  "frame_too_large",
  "invalid_request",
  "unsupported_version",
  "duplicate_id",
  "request_limit",
  "shutting_down",
  "unsupported_method",
  "unsupported_capability",
  "not_initialized",
  "initializing",
  "already_initialized",
  "not_ready",
  "invalid_params",
  "configuration_invalid",
  "configuration_untrusted",
  "startup_cancelled",
  "provider_unconfigured",
  "mcp_failed",
  "no_session",
  "stale_session",
  "session_not_found",
  "session_busy",
  "session_invalid",
  "workspace_mismatch",
  "run_active",
  "stale_run",
  "stale_approval",
  "stale_revision",
  "stale_selection",
  "selection_invalid",
  "persistence_failed",
  "stale_client_tool_call",
  "internal_error"
] as const

/** The `code` of an error envelope that this agent sends. A client takes any string. */
export type ErrorCode = (typeof errorCodes)[number]

/** Why a run failed (`run.finished.error.code`, section 5). */
export const runFailureCodes = [
  "provider_failed",
  "provider_unavailable",
  "provider_rejected_tool",
  "persistence_failed",
  "context_limit",
  "turn_limit",
  "internal_error"
] as const

/** The `code` of a failed run's error. */
export type RunFailureCode = (typeof runFailureCodes)[number]

/** Why a tool call ended without a successful result (section 6). */
export const toolFailureCodes = [
  "client_tool_payload_limit",
  "client_tool_invalid_arguments",
  "client_tool_busy",
  "client_tool_timeout",
  "client_tool_cancelled",
  "client_tool_unavailable",
  "client_tool_not_permitted",
  "client_tool_error",
  "tool_unknown",
  "tool_failed",
  "tool_timeout",
  "tool_invalid_arguments",
  "approval_denied",
  "path_denied",
  "hook_denied",
  "hook_failed",
  "result_too_large",
  "result_rejected",
  "mcp_unavailable"
] as const

/** The `code` with which a tool call fails, as the model and `activity.finished` have it. */
export type ToolFailureCode = (typeof toolFailureCodes)[number]

/** Why a pending client call was cancelled (client-tools, Cancellation and permissions). */
export const cancelReasons = ["cancelled", "timeout", "run_finished", "shutdown"] as const

/** The `reason` of a `client.tool.cancel`. */
export type CancelReason = (typeof cancelReasons)[number]
