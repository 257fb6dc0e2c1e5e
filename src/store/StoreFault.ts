/**
 * Why the store could not do something, as it happens beside the files. The service turns it into its typed errors.
 * `message` names the file and what to do; it never repeats what a session holds.
 */
export type FaultKind =
  /** Nothing was written. */
  "persistence" | "session_not_found" | "session_busy" | "session_invalid" | "workspace_mismatch" | "stale_revision"

export class StoreFault extends Error {
  readonly _tag = "StoreFault"
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.name = "StoreFault"
    this.kind = kind
  }
}

const notFound = "no session of this id is stored"

/** The fault for an id that names nothing stored. */
export const sessionNotFound = (why = notFound): StoreFault => new StoreFault("session_not_found", why)
