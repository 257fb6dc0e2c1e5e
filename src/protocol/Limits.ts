/**
 * Every bound of the protocol, each once. All count bytes unless their name says otherwise.
 *
 * base-protocol sections 1, 3, 4 and 5; client-tools, Bounds and schemas.
 */

/** `limits` of the initialize result: these members, in this order (section 3). */
export const Limits = {
  /** A request frame before its LF. */
  input_frame_bytes: 65_536,
  /** A response or event frame with its LF. */
  output_frame_bytes: 65_536,
  /** Containers, the frame's own object being depth 1. */
  json_depth: 32,
  /** Request ids a process. */
  request_ids: 4096,
  pending_output_frames: 32,
  output_deadline_ms: 2000,
  cleanup_ms: 2000,
  /** UTF-8 bytes of a prompt. */
  prompt_bytes: 32_768,
  page_entries: 100,
  page_bytes: 32_768,
  pending_approvals: 16
} as const

/** `client_tools.limits`: these twelve members, in this order (client-tools, Bounds and schemas). */
export const ClientToolLimits = {
  /** Descriptors a child. */
  tools: 32,
  name_bytes: 64,
  description_bytes: 2048,
  /** Compact bytes of the effective descriptor array. */
  registry_bytes: 32_768,
  /** Compact bytes of one input schema. */
  schema_bytes: 8192,
  /** Containers, the schema's root being depth 1. */
  schema_depth: 16,
  /** Compact bytes of a call's arguments. */
  arguments_bytes: 16_384,
  /** UTF-8 bytes of the text plus compact bytes of the structured value. */
  result_bytes: 32_768,
  pending_calls: 16,
  default_timeout_ms: 30_000,
  min_timeout_ms: 1000,
  max_timeout_ms: 300_000
} as const

/** `id` and every id, revision and cursor string (section 2). */
export const ID_BYTES = 128
/** UTF-8 bytes of a request's `method` (section 2). */
export const METHOD_BYTES = 64
/** `error.message` (section 2). */
export const ERROR_MESSAGE_BYTES = 256
/** `error.path`; a longer one is omitted (section 2). */
export const ERROR_PATH_BYTES = 256
/** Entries of `required_capabilities` (section 3). */
export const REQUIRED_CAPABILITIES = 16
/** The same when `client.tools` is among them (client-tools, Negotiate once). */
export const REQUIRED_CAPABILITIES_WITH_CLIENT_TOOLS = 18
/** Droppable events are discarded while so many frames or more are queued (section 3, Output). */
export const DROP_AT_FRAMES = 24
/** Input pauses while more bytes of responses than this wait (section 3, Output). */
export const RESPONSE_BACKLOG_BYTES = 1_048_576

// The bounds on texts in sections 4 and 5 count compact bytes of the string without its quotes.

/** `title` of a session. */
export const TITLE_BYTES = 200
/** Provider and model names. */
export const MODEL_NAME_BYTES = 128
/** Models of a catalogue. */
export const CATALOG_MODELS = 200
/** Compact bytes of a catalogue. */
export const CATALOG_BYTES = 32_768
/** `text` of one part of a history entry. */
export const HISTORY_TEXT_BYTES = 16_384
/** `text` of one `message.delta`. */
export const DELTA_BYTES = 8192
/** `text` of one part of a `message.reconcile`. */
export const RECONCILE_BYTES = 16_384
/** `summary` of an `activity.updated`. */
export const SUMMARY_BYTES = 512
/** `summary` of an `approval.request`. */
export const APPROVAL_SUMMARY_BYTES = 4096
/** `timeout_ms` of an `approval.request`. */
export const APPROVAL_TIMEOUT_MS = 300_000
/** `title` of a tool card. */
export const CARD_TITLE_BYTES = 128
/** Lines of a tool card. */
export const CARD_LINES = 20
/** One line of a tool card. */
export const CARD_LINE_BYTES = 256
