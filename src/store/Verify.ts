/**
 * Says whether stored sessions are sound: the file, the schema's rules, every record, their order, and one outcome a
 * call. It changes nothing. Calls that a killed process left open are sound: the next opening records their outcome.
 */
import { readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import { Effect } from "effect"
import { entryCountOf } from "./HistoryEntries.ts"
import { decodeRecord } from "./RecordCodec.ts"
import type { SessionRecord } from "./SessionRecord.ts"
import { StoreFault } from "./StoreFault.ts"
import { inspectDatabase } from "./sqlite/openDatabase.ts"
import { checkOrigin, hasPresentSchema, isBlank, SCHEMA_VERSION, versionOf } from "./sqlite/Schema.ts"
import { isSessionFile } from "./sqlite/StoreFolder.ts"
import { toFault } from "./sqlite/sqliteFault.ts"

export interface FileReport {
  readonly path: string
  /** Of the schema; `null` where the file does not say. */
  readonly version: number | null
  readonly records: number
  /** Calls without an outcome yet. */
  readonly openCalls: number
  /** What is wrong, one sentence each; empty for a sound file. Another process using it is no fault, but it is told. */
  readonly problems: ReadonlyArray<string>
  readonly busy: boolean
}

/** What has been seen of a session's calls so far. */
class Calls {
  readonly #made = new Set<string>()
  readonly #started = new Set<string>()
  readonly #settled = new Set<string>()
  readonly #entries = new Set<string>()

  /** How many have no outcome. */
  get open(): number {
    return [...new Set([...this.#made, ...this.#started])].filter((key) => !this.#settled.has(key)).length
  }

  /** Takes the next record; gives what is wrong with it. */
  next(record: SessionRecord): string | undefined {
    if (this.#entries.has(record.entryId)) return "its entry id is another record's"
    this.#entries.add(record.entryId)
    switch (record.kind) {
      case "assistant":
        for (const { callKey } of record.calls) {
          if (this.#made.has(callKey)) return "it makes a call that was made before"
          this.#made.add(callKey)
        }
        return undefined
      case "call_started":
        return this.#start(record.callKey, record.parentKey)
      case "call_outcome":
        return this.#settle(record.callKey, record.parentKey)
      case "compaction":
        return record.keepFrom === null || this.#entries.has(record.keepFrom)
          ? undefined
          : "it keeps from a record that is not there"
      default:
        return undefined
    }
  }

  #known(key: string, parent: string | null): boolean {
    return parent === null ? this.#made.has(key) : this.#made.has(parent) || this.#started.has(parent)
  }

  #start(key: string, parent: string | null): string | undefined {
    if (!this.#known(key, parent)) return "it starts a call that nobody made"
    if (this.#started.has(key)) return "it is the second start of its call"
    if (this.#settled.has(key)) return "it starts a call after its outcome"
    this.#started.add(key)
    return undefined
  }

  #settle(key: string, parent: string | null): string | undefined {
    if (!this.#known(key, parent)) return "it is the outcome of a call that nobody made"
    if (this.#settled.has(key)) return "it is the second outcome of its call"
    this.#settled.add(key)
    return undefined
  }
}

const checkRecords = (
  db: DatabaseSync,
  problems: Array<string>
): { readonly records: number; readonly open: number } => {
  const calls = new Calls()
  let records = 0
  for (const row of db
    .prepare("SELECT seq, entry_id, kind, call_key, entries, crc, body FROM record ORDER BY seq")
    .iterate()) {
    records += 1
    const tell = (what: string): void => {
      problems.push(`record ${records}: ${what}`)
    }
    if (row["seq"] !== records) tell("its number is not in sequence")
    const body = typeof row["body"] === "string" ? row["body"] : ""
    if (row["crc"] !== crc32(body)) tell("its text is not the one that was written")
    const record = decodeRecord(body)
    if (record === undefined) {
      tell("it cannot be read")
      continue
    }
    const key = record.kind === "call_started" || record.kind === "call_outcome" ? record.callKey : null
    if (row["entry_id"] !== record.entryId || row["kind"] !== record.kind || row["call_key"] !== key) {
      tell("its columns differ from its text")
    }
    if (row["entries"] !== entryCountOf(record)) tell("its number of history entries is wrong")
    const wrong = calls.next(record)
    if (wrong !== undefined) tell(wrong)
  }
  return { records, open: calls.open }
}

const checkDatabase = (path: string, db: DatabaseSync): FileReport => {
  const problems: Array<string> = []
  const empty = { path, records: 0, openCalls: 0, problems, busy: false }
  // The leftover of a process that died before its first commit: no session, and nothing lost.
  if (isBlank(db)) return { ...empty, version: null }
  checkOrigin(db, path)
  const version = versionOf(db)
  for (const row of db.prepare("PRAGMA integrity_check(20)").all()) {
    if (row["integrity_check"] !== "ok") problems.push(String(row["integrity_check"]))
  }
  if (version < SCHEMA_VERSION) return { ...empty, version }
  if (!hasPresentSchema(db)) {
    problems.push("its tables and rules are not those of this version")
    return { ...empty, version }
  }
  const sessions = db.prepare("SELECT id FROM session").all()
  if (sessions.length !== 1) problems.push("it does not hold exactly one session")
  else if (`${sessions[0]?.["id"]}.db` !== basename(path)) problems.push("it holds another session than its name says")
  const { open, records } = checkRecords(db, problems)
  return { ...empty, version, records, openCalls: open }
}

/** Looks at one file. */
export const verifyFile = (path: string): FileReport => {
  try {
    return inspectDatabase(path, (db) => checkDatabase(path, db))
  } catch (error) {
    const fault = toFault(error, path)
    const busy = fault.kind === "session_busy"
    return { path, version: null, records: 0, openCalls: 0, problems: busy ? [] : [fault.message], busy }
  }
}

const filesOf = (path: string): ReadonlyArray<string> => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new StoreFault("persistence", `${path} does not exist`)
  if (!stats.isDirectory()) return [path]
  const inside = join(path, "sessions")
  const folder = statSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? inside : path
  return readdirSync(folder)
    .filter(isSessionFile)
    .sort()
    .map((name) => join(folder, name))
}

/** Looks at a session's file, or at every session of a home (or of its sessions folder). */
export const verify = (path: string): Effect.Effect<ReadonlyArray<FileReport>, StoreFault> =>
  Effect.try({ try: () => filesOf(path).map(verifyFile), catch: (error) => toFault(error, path) })
