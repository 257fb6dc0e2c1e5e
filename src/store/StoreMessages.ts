/**
 * What the protocol's thread and the store's worker say to each other. Records cross as the text that is stored, so every
 * key of an argument object survives; `StoreWire` says how requests are posted.
 */

import type { HistoryPage, SessionList } from "./SessionStore.ts"
import type { FaultKind } from "./StoreFault.ts"

/** A record as it is stored: its text, and the columns that the schema's rules need. */
export interface RecordRow {
  readonly entryId: string
  readonly kind: string
  readonly runId: string
  readonly createdAt: string
  readonly callKey: string | null
  /** How many history entries it adds. */
  readonly entries: number
  readonly body: string
}

/** What a session begins with. It is written together with the first thing that is saved. */
export interface NewSession {
  readonly workspace: string
  readonly createdAt: string
  readonly title: string | null
  readonly delegated: boolean
  /** The permissions record of a delegated session. */
  readonly permissions: string | null
}

/** A write that may be a session's first. */
interface FirstWrite {
  readonly session: string
  /** The session may not exist yet: make it first. `null` once something of it is saved. */
  readonly create: NewSession | null
}

export interface AppendRequest extends FirstWrite {
  readonly op: "append"
  readonly rows: ReadonlyArray<RecordRow>
}

export interface TitleRequest {
  readonly op: "title"
  readonly session: string
  readonly title: string
}

export interface SelectionRequest extends FirstWrite {
  readonly op: "selection"
  readonly provider: string
  readonly model: string
}

export interface TimelineRequest {
  readonly op: "timeline"
  readonly session: string
  readonly callKey: string
  readonly body: string
}

/** Requests that change a session; those of one session that wait together are committed together. */
export type WriteRequest = AppendRequest | TitleRequest | SelectionRequest | TimelineRequest

export interface OpenRequest {
  readonly op: "open"
  readonly session: string
  readonly workspace: string
}

/** Gives up one hold on a session. The last one closes the file and releases its lock. */
export interface CloseRequest {
  readonly op: "close"
  readonly session: string
}

export interface ReadRequest {
  readonly op: "read"
  readonly session: string
  /** Sequence number after which to go on; 0 to begin. */
  readonly after: number
}

export interface PageRequest {
  readonly op: "page"
  readonly session: string
  readonly revision: string
  readonly cursor: string | null
  readonly limit: number
  readonly cards: boolean
}

export interface ListRequest {
  readonly op: "list"
  readonly workspace: string
  readonly revision: string | null
  readonly cursor: string | null
  readonly limit: number
}

/** Closes every file. The worker does nothing more. */
export interface StopRequest {
  readonly op: "stop"
}

export type StoreRequest =
  | WriteRequest
  | OpenRequest
  | CloseRequest
  | ReadRequest
  | PageRequest
  | ListRequest
  | StopRequest

/** A session as it is when it was opened. */
export interface OpenedSession {
  readonly revision: string
  readonly title: string | null
  readonly selection: { readonly provider: string; readonly model: string } | null
  readonly delegated: boolean
  readonly permissions: string | null
}

export interface ReadChunk {
  readonly bodies: ReadonlyArray<string>
  /** Where to go on; `null` at the end. */
  readonly next: number | null
}

/** What each request is answered with. */
export interface Replies {
  readonly append: { readonly revision: string }
  readonly title: null
  readonly selection: null
  readonly timeline: null
  readonly open: OpenedSession
  readonly close: null
  readonly read: ReadChunk
  readonly page: HistoryPage
  readonly list: SessionList
  readonly stop: null
}

/** An answer says which request it answers. */
export interface ReplyOf<Op extends keyof Replies> {
  readonly op: Op
  readonly value: Replies[Op]
}

export type Reply = { readonly [Op in keyof Replies]: ReplyOf<Op> }[keyof Replies]

/** To the worker; those of one turn of the event loop go together, as an array. */
export interface RequestMessage {
  readonly id: number
  readonly request: StoreRequest
}

export type Answer =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly kind: FaultKind; readonly message: string }

/** From the worker: what is answered to each of these requests, which one commit has made. */
export interface AnswerMessage {
  readonly ids: ReadonlyArray<number>
  readonly answer: Answer
}
