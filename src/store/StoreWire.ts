/**
 * How requests cross to the store's worker, and answers back. A structured clone of objects writes and reads every name of
 * every member, which costs several times what the disk's share of a grouped append does; texts in an array do not.
 */
import type { Answer, AnswerMessage, NewSession, RecordRow, RequestMessage, StoreRequest } from "./StoreMessages.ts"

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

/**
 * One message of requests: all that is not a body, as one JSON text; whether more of the same turn follows, which is to be
 * committed with it; and the bodies of all rows, in order.
 */
export type PackedRequests = readonly [heads: string, more: boolean, ...bodies: ReadonlyArray<string>]

/** Answers of one commit, or one other: the revision is what is answered to an append that was made. */
export type PackedAnswers = ReadonlyArray<readonly [ids: ReadonlyArray<number>, answer: string | Answer]>

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
  return [JSON.stringify(heads), more, ...bodies]
}

/** What `packRequests` was given, and whether more follows. */
export const unpackRequests = ([texts, more, ...bodies]: PackedRequests): {
  readonly requests: ReadonlyArray<RequestMessage>
  readonly more: boolean
} => {
  const heads: ReadonlyArray<Head> = JSON.parse(texts)
  let next = 0
  const rowOf = ([entryId, kind, runId, createdAt, callKey, entries]: Columns): RecordRow => ({
    entryId,
    kind,
    runId,
    createdAt,
    callKey,
    entries,
    body: bodies[next++] ?? ""
  })
  const requests = heads.map((head): RequestMessage => {
    if (head.length === 2) return { id: head[0], request: head[1] }
    const [id, session, create, rows] = head
    return { id, request: { op: "append", session, create, rows: rows.map(rowOf) } }
  })
  return { requests, more }
}

/** Answers, as they are posted. */
export const packAnswers = (answers: ReadonlyArray<AnswerMessage>): PackedAnswers =>
  answers.map(({ answer, ids }) => [
    ids,
    answer.ok && answer.reply.op === "append" ? answer.reply.value.revision : answer
  ])

/** What `packAnswers` was given. */
export const unpackAnswers = (packed: PackedAnswers): ReadonlyArray<AnswerMessage> =>
  packed.map(([ids, answer]) => ({
    ids,
    answer: typeof answer === "string" ? { ok: true, reply: { op: "append", value: { revision: answer } } } : answer
  }))
