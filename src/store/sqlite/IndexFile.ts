/**
 * The index of lists: what `session.list` shows of each session, so that a list does not open every file and can show
 * the ones that other processes hold. It holds nothing that the session files do not: when it is damaged it is made
 * again, and every write to it is best effort.
 *
 * Shared by all processes of a home, so it is an ordinary WAL database. `live` marks a session that some process holds;
 * a row still marked after its holder died is read again from the session's file.
 */
import { rmSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { SessionState } from "./SessionState.ts"
import { createPrivateFile, indexPath } from "./StoreFolder.ts"
import { isDamage, sqliteCode } from "./sqliteFault.ts"

export interface IndexRow {
  readonly sessionId: string
  readonly workspace: string
  readonly title: string | null
  readonly updatedAt: string
  readonly entryCount: number
  readonly lastSeq: number
  readonly delegated: boolean
  readonly firstRunId: string | null
  readonly live: boolean
}

/** The row that shows a session in this state. */
export const rowOf = (sessionId: string, state: SessionState, live: boolean): IndexRow => ({
  sessionId,
  workspace: state.workspace,
  title: state.title,
  updatedAt: state.updatedAt,
  entryCount: state.entryCount,
  lastSeq: state.lastSeq,
  delegated: state.delegated,
  firstRunId: state.firstRunId,
  live
})

const schema = `
CREATE TABLE IF NOT EXISTS session (
  id TEXT NOT NULL PRIMARY KEY,
  workspace TEXT NOT NULL,
  title TEXT,
  updated_at TEXT NOT NULL,
  entry_count INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  delegated INTEGER NOT NULL,
  first_run_id TEXT,
  live INTEGER NOT NULL
) STRICT, WITHOUT ROWID`

/** SQLite's code for statements that do not fit the file: it is no index of ours. */
const NO_SUCH_TABLE_OR_COLUMN = 1

/** How long another process may hold the index before a write is left out. Nothing but lists waits for it. */
const BUSY_MS = 50

interface Connection {
  readonly db: DatabaseSync
  /** Of the file when it was opened: another process may have replaced it. */
  readonly inode: number
}

export class IndexFile {
  readonly #path: string
  #connection: Connection | undefined

  constructor(home: string) {
    this.#path = indexPath(home)
  }

  /** All rows; `undefined` while the index cannot be read. */
  rows(): ReadonlyArray<IndexRow> | undefined {
    return this.#attempt((db) => db.prepare("SELECT * FROM session").all().map(fromColumns))
  }

  /** The row of one session. */
  row(sessionId: string): IndexRow | undefined {
    return this.#attempt((db) => {
      const found = db.prepare("SELECT * FROM session WHERE id = ?").get(sessionId)
      return found === undefined ? undefined : fromColumns(found)
    })
  }

  /** Writes and removes rows in one transaction. `durable`: waits for the disk. `false`: not done, try again later. */
  update(rows: ReadonlyArray<IndexRow>, gone: ReadonlyArray<string> = [], durable = false): boolean {
    if (rows.length === 0 && gone.length === 0) return true
    const done = this.#attempt((db) => {
      db.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}; BEGIN IMMEDIATE`)
      const put = db.prepare("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      for (const row of rows) {
        put.run(
          row.sessionId,
          row.workspace,
          row.title,
          row.updatedAt,
          row.entryCount,
          row.lastSeq,
          row.delegated ? 1 : 0,
          row.firstRunId,
          row.live ? 1 : 0
        )
      }
      const drop = db.prepare("DELETE FROM session WHERE id = ?")
      for (const id of gone) drop.run(id)
      db.exec("COMMIT")
      return true
    })
    return done === true
  }

  close(): void {
    const connection = this.#connection
    this.#connection = undefined
    try {
      connection?.db.close()
    } catch {
      // Nothing depends on it.
    }
  }

  /** Runs `use`; a damaged index is made again once. `undefined`: the index cannot be used now. */
  #attempt<A>(use: (db: DatabaseSync) => A): A | undefined {
    for (const last of [false, true]) {
      try {
        return use(this.#open())
      } catch (error) {
        this.#undo()
        if (last || !(isDamage(error) || sqliteCode(error) === NO_SUCH_TABLE_OR_COLUMN)) return undefined
        this.#remove()
      }
    }
    return undefined
  }

  #undo(): void {
    try {
      if (this.#connection?.db.isTransaction === true) this.#connection.db.exec("ROLLBACK")
    } catch {
      this.close()
    }
  }

  #open(): DatabaseSync {
    const inode = inodeOf(this.#path)
    if (this.#connection !== undefined && this.#connection.inode === inode) return this.#connection.db
    this.close()
    if (inode === undefined) createPrivateFile(this.#path)
    const db = new DatabaseSync(this.#path, { timeout: BUSY_MS })
    try {
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; ${schema}`)
    } catch (error) {
      db.close()
      throw error
    }
    this.#connection = { db, inode: inodeOf(this.#path) ?? 0 }
    return db
  }

  #remove(): void {
    this.close()
    for (const path of [this.#path, `${this.#path}-wal`, `${this.#path}-shm`]) rmSync(path, { force: true })
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

const fromColumns = (row: Record<string, unknown>): IndexRow => ({
  sessionId: String(row["id"]),
  workspace: String(row["workspace"]),
  title: typeof row["title"] === "string" ? row["title"] : null,
  updatedAt: String(row["updated_at"]),
  entryCount: Number(row["entry_count"]),
  lastSeq: Number(row["last_seq"]),
  delegated: row["delegated"] === 1,
  firstRunId: typeof row["first_run_id"] === "string" ? row["first_run_id"] : null,
  live: row["live"] === 1
})
