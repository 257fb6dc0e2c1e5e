/**
 * `session.list`: the index, put right by what is on disk, as pages of one immutable revision.
 * base-protocol section 4.
 */
import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import { setImmediate } from "node:timers/promises"
import { Limits } from "../../protocol/Limits.ts"
import type { SessionList, SessionSummary } from "../SessionStore.ts"
import { StoreFault } from "../StoreFault.ts"
import type { ListRequest } from "../StoreMessages.ts"
import { type IndexFile, type IndexRow, rowOf } from "./IndexFile.ts"
import { SessionFile } from "./SessionFile.ts"
import { folderExists, sessionPath, storedIds } from "./StoreFolder.ts"
import { toFault } from "./sqliteFault.ts"

/** So many files are read before other requests have their turn. */
const FILES_A_TURN = 20

/**
 * What a session's own file says, or what is known of it where the file cannot be read. The index is told while the file is locked, so that it never hears of an older state after a newer one.
 */
const probe = (home: string, id: string, index: IndexFile, known: IndexRow | undefined): IndexRow | undefined => {
  const path = sessionPath(home, id)
  if (path === undefined) return known
  try {
    const file = SessionFile.open(id, path, "quick")
    try {
      const found = rowOf(id, file.state, false)
      // A file with fewer records than were seen in it has lost some: opening it will say so, if the row stays.
      const row = known !== undefined && known.lastSeq > found.lastSeq ? { ...known, live: false } : found
      index.update([row])
      return row
    } finally {
      file.close()
    }
  } catch (error) {
    // Where another process holds it, the row is as right as it can be.
    const unreadable = toFault(error, path).kind !== "session_busy"
    if (unreadable && known !== undefined) index.update([{ ...known, live: false }])
    return known
  }
}

/**
 * The rows of all stored sessions. A file that the index does not know is read, and so is one of this workspace whose
 * holder may have died; what the index knows of files that are gone is dropped.
 */
export const currentRows = async (
  home: string,
  index: IndexFile,
  workspace: string,
  held: (id: string) => SessionFile | undefined
): Promise<ReadonlyArray<IndexRow>> => {
  if (!folderExists(home)) return []
  const known = new Map((index.rows() ?? []).map((row) => [row.sessionId, row]))
  const rows: Array<IndexRow> = []
  let probed = 0
  for (const id of storedIds(home)) {
    const row = known.get(id)
    known.delete(id)
    const trusted = row !== undefined && !(row.live && row.workspace === workspace)
    if (!trusted && ++probed % FILES_A_TURN === 0) await setImmediate()
    const own = held(id)
    const current = own !== undefined ? rowOf(id, own.state, true) : trusted ? row : probe(home, id, index, row)
    if (current !== undefined) rows.push(current)
  }
  if (known.size > 0) index.update([], [...known.keys()])
  return rows
}

const newestFirst = (a: IndexRow, b: IndexRow): number =>
  a.updatedAt === b.updatedAt ? (a.sessionId < b.sessionId ? 1 : -1) : a.updatedAt < b.updatedAt ? 1 : -1

const summaryOf = (row: IndexRow): SessionSummary => ({
  session_id: row.sessionId,
  title: row.title,
  updated_at: row.updatedAt,
  entry_count: row.entryCount
})

/** The top-level sessions of a workspace, newest first. */
export const listed = (rows: ReadonlyArray<IndexRow>, workspace: string): ReadonlyArray<SessionSummary> =>
  rows
    .filter((row) => row.workspace === workspace && !row.delegated)
    .sort(newestFirst)
    .map(summaryOf)

const stale = (): StoreFault =>
  new StoreFault("stale_revision", "the list has changed, or this is no cursor of it: begin again without both")

/** One page: at most `limit` sessions and 32768 compact bytes. A revision names exactly one list, so a page of it never changes. */
export const listPage = (all: ReadonlyArray<SessionSummary>, request: ListRequest): SessionList => {
  const revision = `l-${createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 32)}`
  if (request.revision !== null && request.revision !== revision) throw stale()
  const start = request.cursor === null ? 0 : Number(/^o(\d{1,9})$/.exec(request.cursor)?.[1] ?? Number.NaN)
  if (!(start <= all.length)) throw stale()
  const entries: Array<SessionSummary> = []
  let bytes = 1
  for (const summary of all.slice(start, start + request.limit)) {
    bytes += Buffer.byteLength(JSON.stringify(summary)) + 1
    if (bytes > Limits.page_bytes) break
    entries.push(summary)
  }
  const next = start + entries.length
  const complete = next >= all.length
  return { entries, revision, cursor: complete ? null : `o${next}`, complete }
}
