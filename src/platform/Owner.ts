/** Whose files this process may trust: those of its own effective user. */

/** The numeric user this process acts as; `undefined` where the platform has no such thing. */
export const ownUid = (): number | undefined => process.geteuid?.()
