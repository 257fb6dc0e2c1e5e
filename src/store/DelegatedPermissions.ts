/** What a delegated session may call, saved before its first model request. base-protocol section 7. */

/** A tool that the session may call. */
export interface PermittedTool {
  readonly name: string
  /** SHA-256 of the effective descriptor for client tools, `null` for all others. */
  readonly fingerprint: string | null
}

/** The tools that a delegated session may call directly and in Code Mode, and how deep it stands (1 or 2). */
export interface DelegatedPermissions {
  readonly version: 1
  readonly mode: "standard" | "inspect"
  readonly profile: string | null
  readonly depth: number
  readonly direct: ReadonlyArray<PermittedTool>
  readonly code_mode: ReadonlyArray<PermittedTool>
}
