/**
 * One open session file: its facts, its records, and commits. Everything here blocks; it runs in the store's worker, or
 * in a command that does nothing else.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import { revisionsOf } from "../Revision.ts"
import { StoreFault } from "../StoreFault.ts"
import type { NewSession, RecordRow } from "../StoreMessages.ts"
import { createDatabase, openDatabase, PAGE_SIZE } from "./openDatabase.ts"
import { integer, readState, type SessionState, text } from "./SessionState.ts"
import { overwrite, removeFiles } from "./StoreFolder.ts"
import { damaged, isRefusal, isSyncFailure, syncFailed, toFault } from "./sqliteFault.ts"

/** A stored record with its place. */
export interface StoredRow {
  readonly seq: number
  readonly body: string
}

/** A change inside a commit. */
export type Work = (file: SessionFile) => void

export class SessionFile {
  readonly id: string
  readonly path: string
  readonly #db: DatabaseSync
  readonly #revisionAt: (lastSeq: number) => string
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #insert: StatementSync
  /** As it is on the disk. */
  #state: SessionState
  /** As it will be once the commit under way is made. */
  #draft: SessionState
  #staged: Array<Work> = []
  /** How many of these are in the transaction already. */
  #applied = 0
  #durable = false
  /** Why the transaction cannot be committed as it is. */
  #trouble: { readonly error: unknown } | null = null
  #failed = false
  #unfolded = 0

  private constructor(id: string, path: string, db: DatabaseSync) {
    this.id = id
    this.path = path
    this.#db = db
    this.#state = readState(id, path, db)
    this.#draft = this.#state
    this.#revisionAt = revisionsOf(id)
    this.#begin = db.prepare("BEGIN IMMEDIATE")
    this.#commit = db.prepare("COMMIT")
    this.#insert = db.prepare(
      "INSERT INTO record (seq, entry_id, kind, run_id, created_at, call_key, entries, crc, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
  }

  /** Makes a session's file together with the first thing that is saved in it. */
  static create(id: string, path: string, session: NewSession, first: Work): SessionFile {
    const made = createDatabase(path, (db) => {
      db.prepare(
        "INSERT INTO session (id, workspace, created_at, title, delegated, permissions) VALUES (?, ?, ?, ?, ?, ?)"
      ).run(id, session.workspace, session.createdAt, session.title, session.delegated ? 1 : 0, session.permissions)
      const file = new SessionFile(id, path, db)
      try {
        first(file)
      } catch (error) {
        throw file.#refusal(error)
      }
      return file
    })
    made.#state = made.#draft
    return made
  }

  /** Takes the lock of an existing session, or throws: not found, busy, invalid, or not writable. */
  static open(id: string, path: string, check: "thorough" | "quick" = "thorough"): SessionFile {
    return openDatabase(path, check, (db) => new SessionFile(id, path, db))
  }

  get state(): SessionState {
    return this.#state
  }

  get revision(): string {
    return this.#revisionAt(this.#state.lastSeq)
  }

  /** Bytes that the log has grown by since `fold`, roughly: a page a commit, and the records. */
  get unfolded(): number {
    return this.#unfolded
  }

  /**
   * Every record from the sequence number `from` on, in order, read as they are asked for. Throws at the first one whose
   * text is not the one that was written: SQLite itself does not notice a changed byte inside a value.
   */
  *rows(from: number): Generator<StoredRow> {
    try {
      const rows = this.#db.prepare("SELECT seq, crc, body FROM record WHERE seq >= ? ORDER BY seq").iterate(from)
      for (const row of rows) {
        const body = text(row["body"], this.path)
        if (row["crc"] !== crc32(body)) throw damaged(this.path)
        yield { seq: integer(row["seq"]), body }
      }
    } catch (error) {
      throw toFault(error, this.path)
    }
  }

  /** The private timeline rows, as they are stored. */
  timeline(): ReadonlyArray<string> {
    try {
      const rows = this.#db.prepare("SELECT body FROM timeline ORDER BY seq").all()
      return rows.map((row) => text(row["body"], this.path))
    } catch (error) {
      throw toFault(error, this.path)
    }
  }

  /**
   * Adds a change to the next commit, which writes it as far as it can before it is settled. With `durable` false nobody
   * waits for the disk: a later durable commit takes it along. What goes wrong shows in `settle`, which must follow before
   * anything is read.
   */
  stage(work: Work, durable = true): void {
    this.#staged.push(work)
    this.#durable ||= durable
    // Whether a commit waits for the disk can only be said before its transaction begins.
    if (this.#durable) this.#applyStaged()
  }

  /**
   * Makes what was staged durable with one sync, in order. Each is all or nothing: one that breaks a rule is undone alone,
   * and its fault is its place in the answer. If the commit itself cannot be made this throws, and nothing was saved.
   */
  settle(): ReadonlyArray<StoreFault | null> {
    const works = this.#staged
    const durable = this.#durable
    try {
      return this.#transaction(durable, () => {
        this.#applyStaged()
        if (this.#trouble !== null) throw this.#trouble.error
        return works.map(() => null)
      })
    } catch (error) {
      if (!isRefusal(error)) throw this.#lost(error)
    } finally {
      this.#staged = []
      this.#applied = 0
      this.#durable = false
      this.#trouble = null
    }
    // One of them breaks a rule: each is made so that it can be undone alone.
    try {
      return this.#transaction(durable, () => {
        this.#begin.run()
        return works.map((work) => this.#undoable(work))
      })
    } catch (error) {
      throw this.#lost(error)
    }
  }

  /** Stages `works` and settles them. */
  commit(works: ReadonlyArray<Work>, durable = true): ReadonlyArray<StoreFault | null> {
    for (const work of works) this.stage(work, durable)
    return this.settle()
  }

  /** Inside a commit: adds records at the end. */
  append(rows: ReadonlyArray<RecordRow>): void {
    let { entryCount, firstRunId, lastSeq, updatedAt } = this.#draft
    for (const { body, callKey, createdAt, entries, entryId, kind, runId } of rows) {
      lastSeq += 1
      this.#insert.run(lastSeq, entryId, kind, runId, createdAt, callKey, entries, crc32(body), body)
      entryCount += entries
      updatedAt = createdAt
      firstRunId ??= runId
      this.#unfolded += body.length
    }
    this.#draft = { ...this.#draft, entryCount, firstRunId, lastSeq, updatedAt }
  }

  /** Inside a commit. */
  setTitle(title: string): void {
    this.#db.prepare("UPDATE session SET title = ?").run(title)
    this.#draft = { ...this.#draft, title }
  }

  /** Inside a commit. */
  setSelection(provider: string, model: string): void {
    this.#db.prepare("UPDATE session SET provider = ?, model = ?").run(provider, model)
    this.#draft = { ...this.#draft, selection: { provider, model } }
  }

  /** Inside a commit: one row a call. */
  setTimeline(callKey: string, body: string): void {
    this.#db.prepare("INSERT OR REPLACE INTO timeline (call_key, body) VALUES (?, ?)").run(callKey, body)
  }

  /** Overwrites everything that is stored of the session and removes its file. The session is closed afterwards. */
  erase(): void {
    try {
      this.#db.exec(
        `BEGIN IMMEDIATE;
         DROP TRIGGER record_is_never_changed; DROP TRIGGER record_is_never_removed;
         DELETE FROM record; DELETE FROM timeline; DELETE FROM session;
         COMMIT; PRAGMA wal_checkpoint(FULL)`
      )
      // All of the log is in the file now, zeros for what was deleted, and the lock is still held.
      overwrite(`${this.path}-wal`)
      this.#db.close()
      overwrite(this.path)
      removeFiles(this.path)
    } catch (error) {
      this.close()
      throw toFault(error, this.path)
    }
  }

  /**
   * Folds the log into the file, so that the next commit begins the log anew. It changes nothing that is saved: what cannot
   * be folded now stays in the log, where it is durable, and is folded later. Left out while a commit is under way.
   */
  fold(): void {
    if (this.#failed || this.#db.isTransaction) return
    this.#unfolded = 0
    try {
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)")
    } catch {
      // A full disk or a failed sync: the log was synced by the commits and is not shortened before the file is.
    }
  }

  /** Folds the log into the file and releases the lock. Never throws: what was committed is on the disk already. */
  close(): void {
    try {
      this.#db.close()
    } catch {
      // The lock goes with the descriptor, and the next opening reads the log.
    }
  }

  #applyStaged(): void {
    if (this.#trouble !== null || this.#failed) return
    try {
      if (this.#applied === 0) this.#begin.run()
      for (const work of this.#staged.slice(this.#applied)) {
        this.#applied += 1
        work(this)
      }
    } catch (error) {
      this.#trouble = { error }
    }
  }

  /** Commits what `work` leaves in a transaction that it may have found begun. */
  #transaction<A>(durable: boolean, work: () => A): A {
    if (this.#failed) throw syncFailed(this.path)
    try {
      if (!durable) this.#db.exec("PRAGMA synchronous = NORMAL")
      const done = work()
      this.#commit.run()
      if (!durable) this.#db.exec("PRAGMA synchronous = FULL")
      this.#state = this.#draft
      this.#unfolded += PAGE_SIZE
      return done
    } catch (error) {
      this.#draft = this.#state
      this.#rollBack()
      // After a failed sync nobody knows what is on the disk: the kernel may have dropped the pages.
      if (isSyncFailure(error)) this.#failed = true
      throw error
    }
  }

  #undoable(work: Work): StoreFault | null {
    const before = this.#draft
    this.#db.exec("SAVEPOINT one")
    try {
      work(this)
      this.#db.exec("RELEASE one")
      return null
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#db.exec("ROLLBACK TO one; RELEASE one")
      this.#draft = before
      return this.#refusal(error)
    }
  }

  /** Why a whole commit was not made. */
  #lost(error: unknown): StoreFault {
    const fault = toFault(error, this.path)
    return fault.kind === "persistence" ? fault : new StoreFault("persistence", fault.message)
  }

  #refusal(error: unknown): StoreFault {
    if (!isRefusal(error)) return toFault(error, this.path)
    const why = error.message.includes("record.call_key")
      ? "a call has at most one start and one outcome, and this one has it already"
      : "it breaks a rule of the store"
    return new StoreFault("persistence", `nothing was added to ${this.path}: ${why}`)
  }

  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      this.#db.exec("PRAGMA synchronous = FULL")
    } catch {
      this.#failed = true
    }
  }
}
