/**
 * `history_revision`: opaque to clients, the same for the same saved records in every process, and another one after
 * every committed append. base-protocol section 4.
 */
import { createHash } from "node:crypto"

/** The revision of a session whose last record has the sequence number `lastSeq` (0: nothing saved). */
export const revisionOf = (sessionId: string, lastSeq: number): string =>
  `h${lastSeq}-${createHash("sha256").update(sessionId).digest("hex").slice(0, 16)}`
