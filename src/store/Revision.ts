/**
 * `history_revision`: opaque to clients, the same for the same saved records in every process, and another one after
 * every committed append. base-protocol section 4.
 */
import { createHash } from "node:crypto"

/** The revisions of one session, by the sequence number of its last record (0: nothing saved). */
export const revisionsOf = (sessionId: string): ((lastSeq: number) => string) => {
  const tag = createHash("sha256").update(sessionId).digest("hex").slice(0, 16)
  return (lastSeq) => `h${lastSeq}-${tag}`
}
