/** The bounds of Code Mode, each once. base-protocol section 7. */

const KIB = 1024
const MIB = 1024 * KIB

export interface CodeModeBounds {
  /** UTF-8 bytes of the script. */
  readonly source_bytes: number
  /** `tools.call`s of one script; refused ones count. */
  readonly calls: number
  /** From the moment the script is handed over until it has returned: clients' time and approvals included. */
  readonly time_ms: number
  /** What the script's own values may take. */
  readonly heap_bytes: number
  /** Compact bytes of one inner call's content; also of one call's arguments. */
  readonly result_bytes: number
  /** The same of all inner calls together; also of all arguments together. */
  readonly total_bytes: number
  /** Compact bytes of the returned value. */
  readonly returned_bytes: number
}

export const CodeModeLimits: CodeModeBounds = {
  source_bytes: 64 * KIB,
  calls: 200,
  time_ms: 60_000,
  heap_bytes: 32 * MIB,
  result_bytes: MIB,
  total_bytes: 8 * MIB,
  returned_bytes: 256 * KIB
}

/** Scripts that run at a time in one process; a further one waits, and its waiting counts as its time. */
export const SCRIPTS_AT_ONCE = 8
/** Characters of a name or a search text that a script gives, as JSON text. Tools' names are a tenth of it. */
export const NAME_JSON_CHARACTERS = 8192
/** Characters of what is told of an exception, and of the stack its line is read from. */
export const EXCEPTION_CHARACTERS = 1000
export const STACK_CHARACTERS = 4000
/** Containers of a returned value: what walks through it later may recurse. */
export const RETURNED_DEPTH = 64
/** How long the end of a script waits for its cancelled calls and for its thread. They have bounds of their own. */
export const CLEANUP_MS = 1000

/** `64 KiB`, `1 MiB`: a bound as the model reads it. */
export const size = (bytes: number): string => {
  if (bytes >= MIB && bytes % MIB === 0) return `${bytes / MIB} MiB`
  return bytes >= KIB && bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`
}
