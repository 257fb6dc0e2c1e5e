/**
 * The session store as a service. `MemorySessionStore` keeps everything in memory; `SqliteSessionStore` is durable.
 *
 * base-protocol sections 4 and 5; product section 2 (what the store holds).
 */
import { Context, Data, type Effect, type Scope } from "effect"
import type { JsonObject } from "../protocol/Json.ts"
import type * as Protocol from "../protocol/MethodResult.ts"
import type { DelegatedPermissions } from "./DelegatedPermissions.ts"
import type { CallTimeline, SessionRecord } from "./SessionRecord.ts"

/** A write that was not made. Nothing of it is on disk. `message` names the file and what to do, never a value. */
export class PersistenceFailed extends Data.TaggedError("PersistenceFailed")<{ readonly message: string }> {}

/** Why a session could not be opened (section 4, state errors of `session.open`). */
export class SessionUnavailable extends Data.TaggedError("SessionUnavailable")<{
  readonly code: "session_not_found" | "session_busy" | "workspace_mismatch" | "session_invalid"
  readonly message: string
}> {}

/** The named revision is not the current one any more. */
export class StaleRevision extends Data.TaggedError("StaleRevision")<{ readonly message: string }> {}

/** An entry as the protocol has it, its card as it was recorded: there only if asked for. */
export type HistoryEntry = Omit<Protocol.HistoryEntry, "tool_card"> & { readonly tool_card?: JsonObject | null }

/** A page of the history of the session that was asked. */
export type HistoryPage = Omit<Protocol.HistoryPage, "session_id" | "entries"> & {
  readonly entries: ReadonlyArray<HistoryEntry>
}

/** A session in the list; `updated_at` is ISO 8601. */
export interface SessionSummary {
  readonly session_id: string
  readonly title: string | null
  readonly updated_at: string
  readonly entry_count: number
}

/** A page of the list, newest first. `cursor` asks for the next one; null when `complete`. */
export interface SessionList {
  readonly entries: ReadonlyArray<SessionSummary>
  readonly revision: string
  readonly cursor: string | null
  readonly complete: boolean
}

/** `damaged`: a record exists but cannot be used; the session gets what `inspect` gets. `absent`: none was saved. */
export type DelegatedState =
  | { readonly _tag: "TopLevel" }
  | { readonly _tag: "Delegated"; readonly permissions: DelegatedPermissions | "damaged" | "absent" }

/** A session this process holds. It is locked from its first append or its `open` until the scope it was made in closes. */
export interface SessionHandle {
  readonly sessionId: string
  readonly delegated: DelegatedState
  /** False until the first append, or a selection, is committed. */
  readonly durable: Effect.Effect<boolean>
  /** Opaque; changes with every committed append. */
  readonly revision: Effect.Effect<string>
  readonly title: Effect.Effect<string | null>
  /** Commits the records in order, all or none; gives the new revision. A second outcome of one call is refused. */
  readonly append: (records: ReadonlyArray<SessionRecord>) => Effect.Effect<string, PersistenceFailed>
  /** Best effort: at most 200 compact bytes, cut on a character boundary. */
  readonly setTitle: (title: string) => Effect.Effect<void, PersistenceFailed>
  /** The model that the session's runs ask from now on; makes the session durable. */
  readonly setSelection: (selection: {
    readonly provider: string
    readonly model: string
  }) => Effect.Effect<void, PersistenceFailed>
  readonly selection: Effect.Effect<{ readonly provider: string; readonly model: string } | null>
  /** Every record from the beginning, in order; after recovery, each started call has an outcome. */
  readonly records: Effect.Effect<ReadonlyArray<SessionRecord>, PersistenceFailed>
  /** At most `limit` entries from `cursor` (null: the oldest), of the named revision; with `cards`, tool entries have theirs. */
  readonly page: (options: {
    readonly revision: string
    readonly cursor: string | null
    readonly limit: number
    readonly cards: boolean
  }) => Effect.Effect<HistoryPage, StaleRevision | PersistenceFailed>
  /** Best effort. */
  readonly timeline: (row: CallTimeline) => Effect.Effect<void, PersistenceFailed>
}

/** What a store does. A store of your own implements it. */
export interface SessionStoreShape {
  /**
   * A new session. Nothing is written before its first append, so this cannot fail. `delegated` sessions save their
   * permissions with the first append, are not listed, and `sessionId` is their task id.
   */
  readonly create: (options: {
    readonly sessionId: string
    readonly workspace: string
    readonly delegated?: DelegatedPermissions
  }) => Effect.Effect<SessionHandle, never, Scope.Scope>
  /** Takes the lock, recovers calls in flight (each gets one outcome `unknown`), and reads the session. */
  readonly open: (options: {
    readonly sessionId: string
    readonly workspace: string
  }) => Effect.Effect<SessionHandle, SessionUnavailable | PersistenceFailed, Scope.Scope>
  /** Top-level sessions of this workspace that have something saved, newest first. */
  readonly list: (options: {
    readonly workspace: string
    readonly revision: string | null
    readonly cursor: string | null
    readonly limit: number
  }) => Effect.Effect<SessionList, StaleRevision | PersistenceFailed>
}

/** The store of a backend: `MemorySessionStore`, `SqliteSessionStore`, or one of your own. */
export class SessionStore extends Context.Service<SessionStore, SessionStoreShape>()("magi-code/store/SessionStore") {}
