/** One session as this process holds it: what is known of it here, and the handle that others use. */
import { Effect, Function } from "effect"
import { truncateText } from "../protocol/CompactJson.ts"
import { TITLE_BYTES } from "../protocol/Limits.ts"
import { entryCountOf } from "./HistoryEntries.ts"
import { decodeRecord, rowOfRecord } from "./RecordCodec.ts"
import type { SessionRecord } from "./SessionRecord.ts"
import { type DelegatedState, PersistenceFailed, type SessionHandle, StaleRevision } from "./SessionStore.ts"
import type { StoreFault } from "./StoreFault.ts"
import type { NewSession, PageRequest, ReadChunk } from "./StoreMessages.ts"
import { ask } from "./StoreThread.ts"
import { encodeTimeline } from "./TimelineCodec.ts"
import type { WorkerLink } from "./WorkerLink.ts"

/** Shared by all handles of one session in this process, and changed only in the step in which an answer arrives. */
export interface SessionState {
  /** The worker that holds the file; `undefined` before anything was asked of it. */
  link: WorkerLink | undefined
  /** What the first write creates; `null` once something is saved. */
  create: NewSession | null
  revision: string
  title: string | null
  selection: { readonly provider: string; readonly model: string } | null
  /** Handles that are open. */
  handles: number
}

const failed = (fault: StoreFault): PersistenceFailed => new PersistenceFailed({ message: fault.message })

/** What a list or a page is refused with. */
export const stale = (fault: StoreFault): StaleRevision | PersistenceFailed =>
  fault.kind === "stale_revision" ? new StaleRevision({ message: fault.message }) : failed(fault)

/** The handle of a session. `link` gives the worker that its first write goes to. */
export const makeHandle = (
  sessionId: string,
  delegated: DelegatedState,
  state: SessionState,
  link: () => WorkerLink
): SessionHandle => {
  const worker = (): WorkerLink => {
    state.link ??= link()
    return state.link
  }

  const append = (records: ReadonlyArray<SessionRecord>): Effect.Effect<string, PersistenceFailed> =>
    Effect.suspend(() => {
      if (records.length === 0) return Effect.succeed(state.revision)
      const rows = records.map((record) => rowOfRecord(record, entryCountOf(record)))
      const request = { op: "append", session: sessionId, create: state.create, rows } as const
      const appended = ({ revision }: { readonly revision: string }): string => {
        state.create = null
        state.revision = revision
        return revision
      }
      return ask(worker(), request, appended, failed)
    })

  const setTitle = (text: string): Effect.Effect<void, PersistenceFailed> =>
    Effect.suspend(() => {
      const title = truncateText(text, TITLE_BYTES)
      // Saved with the first append if that is still to come; if it is on its way, right after it.
      if (state.create !== null) state.create = { ...state.create, title }
      state.title = title
      return state.link === undefined
        ? Effect.void
        : ask(state.link, { op: "title", session: sessionId, title }, Function.constVoid, failed)
    })

  const setSelection = (selection: {
    readonly provider: string
    readonly model: string
  }): Effect.Effect<void, PersistenceFailed> =>
    Effect.suspend(() =>
      ask(
        worker(),
        { op: "selection", session: sessionId, create: state.create, ...selection },
        () => {
          state.create = null
          state.selection = { provider: selection.provider, model: selection.model }
        },
        failed
      )
    )

  const records: Effect.Effect<ReadonlyArray<SessionRecord>, PersistenceFailed> = Effect.gen(function* () {
    const all: Array<SessionRecord> = []
    if (state.create !== null) return all
    for (let after: number | null = 0; after !== null; ) {
      const chunk: ReadChunk = yield* ask(
        worker(),
        { op: "read", session: sessionId, after },
        Function.identity,
        failed
      )
      for (const body of chunk.bodies) {
        const record = decodeRecord(body)
        if (record === undefined) return yield* new PersistenceFailed({ message: `session ${sessionId} is damaged` })
        all.push(record)
      }
      after = chunk.next
    }
    return all
  })

  const page = (options: Omit<PageRequest, "op" | "session">): ReturnType<SessionHandle["page"]> =>
    Effect.suspend((): ReturnType<SessionHandle["page"]> => {
      const { revision, cursor, limit, cards } = options
      if (state.create === null) {
        return ask(
          worker(),
          { op: "page", session: sessionId, revision, cursor, limit, cards },
          Function.identity,
          stale
        )
      }
      return revision === state.revision && cursor === null
        ? Effect.succeed({ entries: [], revision, cursor: null, complete: true })
        : Effect.fail(new StaleRevision({ message: "the session has nothing saved yet" }))
    })

  return {
    sessionId,
    delegated,
    durable: Effect.sync(() => state.create === null),
    revision: Effect.sync(() => state.revision),
    title: Effect.sync(() => state.title),
    selection: Effect.sync(() => state.selection),
    append,
    setTitle,
    setSelection,
    records,
    page,
    timeline: (row) =>
      Effect.suspend(() =>
        ask(
          worker(),
          { op: "timeline", session: sessionId, callKey: row.callKey, body: encodeTimeline(row) },
          Function.constVoid,
          failed
        )
      )
  }
}
