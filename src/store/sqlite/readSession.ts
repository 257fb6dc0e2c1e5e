/** What is read from an open session: its records in chunks, and its history in pages. base-protocol section 4. */
import { entrySources, fillPage, parseCursor } from "../HistoryEntries.ts"
import { decodeRecord } from "../RecordCodec.ts"
import type { SessionRecord } from "../SessionRecord.ts"
import type { HistoryPage } from "../SessionStore.ts"
import { StoreFault } from "../StoreFault.ts"
import type { PageRequest, ReadChunk, ReadRequest } from "../StoreMessages.ts"
import type { SessionFile } from "./SessionFile.ts"
import { damaged } from "./sqliteFault.ts"

/** Characters of records in one answer, so that neither thread is kept long. */
const READ_CHUNK = 262_144

const decoded = (file: SessionFile, body: string): SessionRecord => {
  const record = decodeRecord(body)
  if (record === undefined) throw damaged(file.path)
  return record
}

/** Every record of a file, in order; throws where one is not what was written. */
export function* recordsOf(file: SessionFile): Generator<SessionRecord> {
  for (const { body } of file.rows(1)) yield decoded(file, body)
}

/** The next records, as they are stored. */
export const readChunk = (file: SessionFile, request: ReadRequest): ReadChunk => {
  const bodies: Array<string> = []
  let size = 0
  for (const row of file.rows(request.after + 1)) {
    bodies.push(row.body)
    size += row.body.length
    if (size >= READ_CHUNK) return { bodies, next: row.seq }
  }
  return { bodies, next: null }
}

/** A page of the history. The revision must be the present one: what it names never changes. */
export const readPage = (file: SessionFile, request: PageRequest): HistoryPage => {
  const start = parseCursor(request.cursor)
  if (request.revision !== file.revision || start === null) {
    throw new StoreFault("stale_revision", "the history has changed, or this is no cursor of it: read it again")
  }
  const options = { taskId: file.state.delegated ? file.id : null, cards: request.cards }
  const records = function* () {
    for (const { body, seq } of file.rows(start.seq)) yield { seq, record: decoded(file, body) }
  }
  const { cursor, entries } = fillPage(entrySources(records(), options), start, request.limit)
  return { entries, revision: file.revision, cursor, complete: cursor === null }
}
