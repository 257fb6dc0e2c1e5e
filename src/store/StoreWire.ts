/**
 * How requests cross to the store's worker. A structured clone of objects writes and reads every name of every member,
 * which costs several times what the disk's share of a grouped append does; one text and the records' bodies do not.
 */
import type { NewSession, RecordRow, RequestMessage, StoreRequest } from "./StoreMessages.ts"

/** A row without its body. */
type Columns = readonly [
  entryId: string,
  kind: string,
  runId: string,
  createdAt: string,
  callKey: string | null,
  entries: number
]

type Head =
  | readonly [id: number, session: string, create: NewSession | null, rows: ReadonlyArray<Columns>]
  | readonly [id: number, request: Exclude<StoreRequest, { readonly op: "append" }>]

/** One message of requests. */
export interface PackedRequests {
  /** All that is not a body, as one JSON text. */
  readonly heads: string
  /** The bodies of all rows, in order. */
  readonly bodies: ReadonlyArray<string>
  /** More of the same turn follows: what is written of it is to be committed together. */
  readonly more: boolean
}

const columnsOf = (row: RecordRow): Columns => [
  row.entryId,
  row.kind,
  row.runId,
  row.createdAt,
  row.callKey,
  row.entries
]

/** Requests of one turn, as they are posted. */
export const packRequests = (messages: ReadonlyArray<RequestMessage>, more: boolean): PackedRequests => {
  const bodies: Array<string> = []
  const heads = messages.map(({ id, request }): Head => {
    if (request.op !== "append") return [id, request]
    for (const row of request.rows) bodies.push(row.body)
    return [id, request.session, request.create, request.rows.map(columnsOf)]
  })
  return { heads: JSON.stringify(heads), bodies, more }
}

/** What `packRequests` was given. */
export const unpackRequests = (packed: PackedRequests): ReadonlyArray<RequestMessage> => {
  const heads: ReadonlyArray<Head> = JSON.parse(packed.heads)
  let next = 0
  const rowOf = ([entryId, kind, runId, createdAt, callKey, entries]: Columns): RecordRow => ({
    entryId,
    kind,
    runId,
    createdAt,
    callKey,
    entries,
    body: packed.bodies[next++] ?? ""
  })
  return heads.map((head): RequestMessage => {
    if (head.length === 2) return { id: head[0], request: head[1] }
    const [id, session, create, rows] = head
    return { id, request: { op: "append", session, create, rows: rows.map(rowOf) } }
  })
}
