/** What a session's file says about the session as a whole. */
import type { DatabaseSync } from "node:sqlite"
import { StoreFault } from "../StoreFault.ts"
import { damaged } from "./sqliteFault.ts"

/** What is known of a session without reading its records again. */
export interface SessionState {
  readonly workspace: string
  readonly createdAt: string
  readonly title: string | null
  readonly selection: { readonly provider: string; readonly model: string } | null
  readonly delegated: boolean
  /** The permissions record of a delegated session, as it is stored. */
  readonly permissions: string | null
  /** Sequence number of the last record; 0 without one. */
  readonly lastSeq: number
  /** History entries. */
  readonly entryCount: number
  /** When the last record was made; before the first one, when the session was. */
  readonly updatedAt: string
  /** The run of the first record: a delegated session shares it with the one that delegated. */
  readonly firstRunId: string | null
}

/** A text column; anything else is damage. */
export const text = (value: unknown, path: string): string => {
  if (typeof value !== "string") throw damaged(path)
  return value
}

const textOrNull = (value: unknown, path: string): string | null => (value === null ? null : text(value, path))

/** An integer column; `NULL` is 0. */
export const integer = (value: unknown): number => (typeof value === "number" ? value : 0)

/** Reads the state of a session from its file. */
export const readState = (id: string, path: string, db: DatabaseSync): SessionState => {
  const [row, ...more] = db.prepare("SELECT * FROM session").all()
  if (row === undefined || more.length > 0) throw damaged(path)
  if (row["id"] !== id) {
    throw new StoreFault("session_invalid", `${path} holds another session than its name says: rename it back`)
  }
  const total = db.prepare("SELECT count(*) AS n, max(seq) AS last, total(entries) AS entries FROM record").get()
  const lastSeq = integer(total?.["last"])
  // Sequence numbers have no gap, so a missing record shows.
  if (lastSeq !== integer(total?.["n"])) throw damaged(path)
  const provider = textOrNull(row["provider"], path)
  const model = textOrNull(row["model"], path)
  const createdAt = text(row["created_at"], path)
  const last = db.prepare("SELECT created_at FROM record WHERE seq = ?").get(lastSeq)
  const first = db.prepare("SELECT run_id FROM record WHERE seq = 1").get()
  return {
    workspace: text(row["workspace"], path),
    createdAt,
    title: textOrNull(row["title"], path),
    selection: provider === null || model === null ? null : { provider, model },
    delegated: row["delegated"] === 1,
    permissions: textOrNull(row["permissions"], path),
    lastSeq,
    entryCount: integer(total?.["entries"]),
    updatedAt: last === undefined ? createdAt : text(last["created_at"], path),
    firstRunId: first === undefined ? null : text(first["run_id"], path)
  }
}
