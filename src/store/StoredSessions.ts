/**
 * What the `sessions`, `trace` and `doctor` commands do with stored sessions (product section 1). These commands are
 * processes of their own with nothing else to do, so they read the files directly; `serve` never calls any of this.
 */
import { statSync } from "node:fs"
import { Effect } from "effect"
import { decodePermissions } from "./PermissionsRecord.ts"
import type { CallTimeline, SessionRecord, ToolStatus } from "./SessionRecord.ts"
import type { SessionSummary } from "./SessionStore.ts"
import { type StoreFault, sessionNotFound } from "./StoreFault.ts"
import { IndexFile, type IndexRow } from "./sqlite/IndexFile.ts"
import { checkWorkspace } from "./sqlite/openSession.ts"
import { recordsOf } from "./sqlite/readSession.ts"
import { SCHEMA_VERSION } from "./sqlite/Schema.ts"
import { SessionFile } from "./sqlite/SessionFile.ts"
import { currentRows, listed } from "./sqlite/SessionLists.ts"
import type { SessionState } from "./sqlite/SessionState.ts"
import { folderExists, overwrite, removeFiles, sessionPath } from "./sqlite/StoreFolder.ts"
import { toFault } from "./sqlite/sqliteFault.ts"
import { decodeTimeline } from "./TimelineCodec.ts"

/** Where sessions lie, and whose. */
export interface StorePlace {
  readonly home: string
  readonly workspace: string
}

export interface StoredSession extends SessionState {
  readonly sessionId: string
  readonly path: string
  /** Bytes of the file. */
  readonly size: number
  /** How its calls ended. */
  readonly calls: { readonly [Status in ToolStatus]: number }
}

export interface ExportedSession {
  readonly format: "magi-code.session"
  readonly version: number
  readonly session: Omit<SessionState, "lastSeq" | "entryCount" | "permissions"> & {
    readonly id: string
    readonly permissions: ReturnType<typeof decodePermissions> | null
  }
  readonly records: ReadonlyArray<SessionRecord>
  readonly timeline: ReadonlyArray<CallTimeline>
}

/** What a deletion did. */
export interface Removal {
  /** Delegated sessions of the removed ones included. */
  readonly removed: ReadonlyArray<string>
  /** Left as they were, and why. */
  readonly kept: ReadonlyArray<{ readonly sessionId: string; readonly why: string }>
}

const DAY_MS = 86_400_000

const attempt = <A>(home: string, work: () => A): Effect.Effect<A, StoreFault> =>
  Effect.try({ try: work, catch: (error) => toFault(error, home) })

/** Opens a session for the time of `use`, under its lock. Nothing is recovered. */
const withFile = <A>(place: StorePlace, sessionId: string, use: (file: SessionFile) => A): A => {
  const path = sessionPath(place.home, sessionId)
  if (path === undefined || !folderExists(place.home)) throw sessionNotFound()
  const file = SessionFile.open(sessionId, path)
  try {
    checkWorkspace(file, place.workspace)
    return use(file)
  } finally {
    file.close()
  }
}

const timelineOf = (file: SessionFile): ReadonlyArray<CallTimeline> =>
  file.timeline().flatMap((body) => decodeTimeline(body) ?? [])

/** Runs with the index of lists, and with a way to read its rows as they are on disk. */
const withIndex = <A>(
  place: StorePlace,
  use: (rows: () => Promise<ReadonlyArray<IndexRow>>, index: IndexFile) => Promise<A>
): Effect.Effect<A, StoreFault> =>
  Effect.tryPromise({
    try: async () => {
      const index = new IndexFile(place.home)
      try {
        return await use(() => currentRows(place.home, index, place.workspace, () => undefined), index)
      } finally {
        index.close()
      }
    },
    catch: (error) => toFault(error, place.home)
  })

/** The top-level sessions of a workspace, newest first. */
export const listSessions = (place: StorePlace): Effect.Effect<ReadonlyArray<SessionSummary>, StoreFault> =>
  withIndex(place, async (rows) => listed(await rows(), place.workspace))

/** What is stored of one session, without its records. */
export const showSession = (place: StorePlace, sessionId: string): Effect.Effect<StoredSession, StoreFault> =>
  attempt(place.home, () =>
    withFile(place, sessionId, (file) => {
      const calls = { success: 0, failure: 0, cancelled: 0, interrupted: 0, unknown: 0 }
      for (const record of recordsOf(file)) if (record.kind === "call_outcome") calls[record.status] += 1
      return { ...file.state, sessionId, path: file.path, size: statSync(file.path).size, calls }
    })
  )

/** Everything that is stored of one session, as one JSON value. */
export const exportSession = (place: StorePlace, sessionId: string): Effect.Effect<ExportedSession, StoreFault> =>
  attempt(place.home, () =>
    withFile(place, sessionId, (file): ExportedSession => {
      const { entryCount: _, lastSeq: __, permissions, ...facts } = file.state
      return {
        format: "magi-code.session",
        version: SCHEMA_VERSION,
        session: { id: sessionId, ...facts, permissions: facts.delegated ? decodePermissions(permissions) : null },
        records: [...recordsOf(file)],
        timeline: timelineOf(file)
      }
    })
  )

/** One row for each call of a session, in the order in which they ended. */
export const sessionTimeline = (
  place: StorePlace,
  sessionId: string
): Effect.Effect<ReadonlyArray<CallTimeline>, StoreFault> =>
  attempt(place.home, () => withFile(place, sessionId, timelineOf))

/** Overwrites and removes one session; gives the runs it took part in. A damaged file is overwritten as it is. */
const erase = (place: StorePlace, sessionId: string): ReadonlySet<string> => {
  const path = sessionPath(place.home, sessionId)
  if (path === undefined || !folderExists(place.home)) throw sessionNotFound()
  const runs = new Set<string>()
  try {
    const file = SessionFile.open(sessionId, path, "quick")
    try {
      checkWorkspace(file, place.workspace)
      for (const record of recordsOf(file)) runs.add(record.runId)
    } catch (error) {
      file.close()
      throw error
    }
    file.erase()
  } catch (error) {
    if (toFault(error, path).kind !== "session_invalid") throw error
    overwrite(path)
    overwrite(`${path}-wal`)
    removeFiles(path)
  }
  return runs
}

const eraseAll = async (
  place: StorePlace,
  ids: ReadonlyArray<string>,
  rows: () => Promise<ReadonlyArray<IndexRow>>,
  index: IndexFile
): Promise<Removal> => {
  const removed = new Set<string>()
  const kept: Array<{ readonly sessionId: string; readonly why: string }> = []
  const runs = new Set<string>()
  const eraseOne = (sessionId: string): void => {
    try {
      for (const run of erase(place, sessionId)) runs.add(run)
      removed.add(sessionId)
    } catch (error) {
      kept.push({ sessionId, why: toFault(error, sessionId).message })
    }
  }
  for (const id of ids) if (!removed.has(id)) eraseOne(id)
  // What their subagents saw goes with them: those sessions began in one of these runs.
  const delegated = removed.size === 0 ? [] : (await rows()).filter((row) => row.delegated)
  for (const { firstRunId, sessionId } of delegated) {
    if (firstRunId !== null && runs.has(firstRunId) && !removed.has(sessionId)) eraseOne(sessionId)
  }
  index.update([], [...removed])
  return { removed: [...removed], kept }
}

/** Deletes sessions together with what was delegated from them. Their contents are overwritten first. */
export const removeSessions = (
  place: StorePlace,
  sessionIds: ReadonlyArray<string>
): Effect.Effect<Removal, StoreFault> => withIndex(place, (rows, index) => eraseAll(place, sessionIds, rows, index))

/** Deletes every session of the workspace whose last record is older than `olderThanDays`. `now`: epoch milliseconds. */
export const pruneSessions = (
  place: StorePlace,
  options: { readonly olderThanDays: number; readonly now: number }
): Effect.Effect<Removal, StoreFault> =>
  withIndex(place, async (rows, index) => {
    const before = options.now - options.olderThanDays * DAY_MS
    const old = (await rows()).filter((row) => row.workspace === place.workspace && Date.parse(row.updatedAt) < before)
    return eraseAll(
      place,
      old.map((row) => row.sessionId),
      rows,
      index
    )
  })

/** What is wrong with a home as a place for sessions; `null`: nothing, or there is none yet. */
export const homeProblem = (home: string): Effect.Effect<string | null> =>
  Effect.sync(() => {
    try {
      folderExists(home)
      return null
    } catch (error) {
      return toFault(error, home).message
    }
  })
