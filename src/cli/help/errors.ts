/** Why a command ends without its result. Each is told in one line, never as a stack trace. product section 1. */

/** Wrong usage: exit code 2. */
export class UsageError extends Error {}

/** Something went wrong that a person can do something about: exit code 1. */
export class CommandFailed extends Error {}

/** Interrupted by a signal: exit code 130. */
export class Interrupted extends Error {}
