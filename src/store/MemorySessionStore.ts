/**
 * Sessions that live as long as the layer: for embedding without a disk, and for tests. The same answers as the durable
 * store, but that no other process sees them and nothing survives.
 *
 * base-protocol sections 4 and 5.
 */
import { Clock, Effect, Layer, type Scope } from "effect"
import { truncateText } from "../protocol/CompactJson.ts"
import { TITLE_BYTES } from "../protocol/Limits.ts"
import { entryCountOf, entrySources, fillPage, parseCursor } from "./HistoryEntries.ts"
import type { CallTimeline, SessionRecord } from "./SessionRecord.ts"
import {
  type DelegatedState,
  PersistenceFailed,
  type SessionHandle,
  SessionStore,
  SessionUnavailable,
  StaleRevision
} from "./SessionStore.ts"

interface Selected {
  readonly provider: string
  readonly model: string
}

interface MemorySession {
  readonly sessionId: string
  readonly workspace: string
  readonly delegated: DelegatedState
  readonly records: Array<SessionRecord>
  readonly timeline: Array<CallTimeline>
  commits: number
  title: string | null
  selection: Selected | null
  updatedAt: number
  isLocked: boolean
}

const revisionOf = (session: MemorySession): string => `${session.sessionId}.${session.commits}`.slice(-128)

/** At most one outcome for each call: a constraint of every store. */
const repeatsOutcome = (session: MemorySession, added: ReadonlyArray<SessionRecord>): boolean => {
  const keys = new Set(session.records.flatMap((record) => (record.kind === "call_outcome" ? [record.callKey] : [])))
  return added.some((record) => {
    if (record.kind !== "call_outcome") return false
    const repeated = keys.has(record.callKey)
    keys.add(record.callKey)
    return repeated
  })
}

const handleOf = (session: MemorySession): SessionHandle => ({
  sessionId: session.sessionId,
  delegated: session.delegated,
  durable: Effect.sync(() => session.commits > 0),
  revision: Effect.sync(() => revisionOf(session)),
  title: Effect.sync(() => session.title),
  append: (records) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (repeatsOutcome(session, records)) {
        return yield* new PersistenceFailed({ message: "a call has one outcome; a second one was refused" })
      }
      session.records.push(...records)
      session.commits += 1
      session.updatedAt = now
      return revisionOf(session)
    }),
  setTitle: (title) =>
    Effect.sync(() => {
      session.title = truncateText(title, TITLE_BYTES)
    }),
  setSelection: (selection) =>
    Effect.sync(() => {
      session.selection = selection
    }),
  selection: Effect.sync(() => session.selection),
  records: Effect.sync(() => [...session.records]),
  page: ({ cards, cursor, limit, revision }) =>
    Effect.suspend(() => {
      const start = parseCursor(cursor)
      if (revision !== revisionOf(session) || start === null) {
        return Effect.fail(new StaleRevision({ message: "the history has changed; begin again with its revision" }))
      }
      const taskId = session.delegated._tag === "Delegated" ? session.sessionId : null
      const records = session.records.map((record, seq) => ({ seq, record })).slice(start.seq)
      const page = fillPage(entrySources(records, { taskId, cards }), start, limit)
      return Effect.succeed({ ...page, revision, complete: page.cursor === null })
    }),
  timeline: (row) =>
    Effect.sync(() => {
      session.timeline.push(row)
    })
})

const summaryOf = (session: MemorySession) => ({
  session_id: session.sessionId,
  title: session.title,
  updated_at: new Date(session.updatedAt).toISOString(),
  entry_count: session.records.reduce((sum, record) => sum + entryCountOf(record), 0)
})

/** The store in memory. Each layer that is built has sessions of its own; share a built one to share them. */
export const MemorySessionStore: Layer.Layer<SessionStore> = Layer.sync(SessionStore, () => {
  const sessions = new Map<string, MemorySession>()

  /** Held until the scope closes, as the lock of a file would be. */
  const hold = (session: MemorySession): Effect.Effect<SessionHandle, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        session.isLocked = true
        return handleOf(session)
      }),
      () =>
        Effect.sync(() => {
          session.isLocked = false
        })
    )

  const saved = (workspace: string) =>
    [...sessions.values()]
      .filter((one) => one.workspace === workspace && one.commits > 0 && one.delegated._tag === "TopLevel")
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.sessionId < b.sessionId ? -1 : 1))

  return SessionStore.of({
    create: ({ delegated, sessionId, workspace }) =>
      Effect.suspend(() => {
        const session: MemorySession = {
          sessionId,
          workspace,
          delegated: delegated ? { _tag: "Delegated", permissions: delegated } : { _tag: "TopLevel" },
          records: [],
          timeline: [],
          commits: 0,
          title: null,
          selection: null,
          updatedAt: 0,
          isLocked: true
        }
        sessions.set(sessionId, session)
        return hold(session)
      }),
    open: ({ sessionId, workspace }) =>
      Effect.suspend(() => {
        const session = sessions.get(sessionId)
        const refused = (code: SessionUnavailable["code"], message: string) =>
          Effect.fail(new SessionUnavailable({ code, message }))
        if (!session || session.commits === 0) return refused("session_not_found", "there is no such session")
        if (session.workspace !== workspace) return refused("workspace_mismatch", "the session is of another workspace")
        if (session.isLocked) return refused("session_busy", "the session is open already")
        return hold(session)
      }),
    list: ({ cursor, limit, revision, workspace }) =>
      Effect.suspend(() => {
        const all = saved(workspace)
        const current = `list.${all.length}.${all.reduce((sum, one) => sum + one.commits, 0)}`
        const from = cursor === null ? 0 : Number(cursor)
        if ((revision !== null && revision !== current) || !Number.isInteger(from) || from < 0) {
          return Effect.fail(new StaleRevision({ message: "the list has changed; begin again" }))
        }
        const entries = all.slice(from, from + limit).map(summaryOf)
        const next = from + entries.length
        const complete = next >= all.length
        return Effect.succeed({ entries, revision: current, cursor: complete ? null : String(next), complete })
      })
  })
})
