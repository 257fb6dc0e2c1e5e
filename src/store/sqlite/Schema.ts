/**
 * What a session's file looks like, and how an older one becomes the present one.
 *
 * The rules that must hold whatever the program does are the schema's: at most one outcome and one start a call, no gap
 * that goes unnoticed, and records that are only ever added. Entry ids are unique because they are made so; an index on
 * them would double what each commit writes (`verify` looks at them).
 */
import { DatabaseSync } from "node:sqlite"
import { StoreFault } from "../StoreFault.ts"

/** `PRAGMA application_id`: "MAGI". Tells a session from any other SQLite file. */
export const APPLICATION_ID = 0x4d414749

/** One step a version: the statements that take a file from version `index` to `index + 1`. */
const migrations: ReadonlyArray<string> = [
  `
CREATE TABLE session (
  id TEXT NOT NULL PRIMARY KEY,
  workspace TEXT NOT NULL,
  created_at TEXT NOT NULL,
  title TEXT,
  provider TEXT,
  model TEXT,
  delegated INTEGER NOT NULL CHECK (delegated IN (0, 1)),
  permissions TEXT
) STRICT;
CREATE TABLE record (
  seq INTEGER NOT NULL PRIMARY KEY,
  entry_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  run_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  call_key TEXT,
  entries INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  body TEXT NOT NULL,
  CHECK ((kind IN ('call_started', 'call_outcome')) = (call_key IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_start_a_call ON record (call_key) WHERE kind = 'call_started';
CREATE UNIQUE INDEX one_outcome_a_call ON record (call_key) WHERE kind = 'call_outcome';
CREATE TRIGGER record_is_never_changed BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER record_is_never_removed BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TABLE timeline (
  seq INTEGER NOT NULL PRIMARY KEY,
  call_key TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
) STRICT;
`
]

/** The version this program writes. It reads every version up to it. */
export const SCHEMA_VERSION = migrations.length

const integer = (db: DatabaseSync, pragma: string): number => {
  const row = db.prepare(`PRAGMA ${pragma}`).get()
  const value = row?.[pragma]
  return typeof value === "number" ? value : 0
}

/** `PRAGMA user_version` of a file: the version of its schema. */
export const versionOf = (db: DatabaseSync): number => integer(db, "user_version")

/** True for a file in which nothing was ever committed: what is left when a process dies while creating one. */
export const isBlank = (db: DatabaseSync): boolean =>
  integer(db, "application_id") === 0 &&
  versionOf(db) === 0 &&
  db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined

/** Refuses files of other programs and of newer versions, before anything in them is touched. */
export const checkOrigin = (db: DatabaseSync, path: string): void => {
  if (integer(db, "application_id") !== APPLICATION_ID) {
    throw new StoreFault("session_invalid", `${path} is a database of another program, not a session: move it away`)
  }
  const version = versionOf(db)
  if (version > SCHEMA_VERSION) {
    throw new StoreFault(
      "session_invalid",
      `${path} was written by a newer magi-code (store version ${version}, this one reads up to ${SCHEMA_VERSION}): update magi-code`
    )
  }
}

/** Takes a file from the version it has to the present one. Runs inside the caller's transaction: all steps or none. */
export const migrate = (db: DatabaseSync, steps: ReadonlyArray<string> = migrations): void => {
  const from = versionOf(db)
  for (const step of steps.slice(from)) db.exec(step)
  if (from < steps.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}`)
}

const objectsOf = (db: DatabaseSync): string =>
  JSON.stringify(
    db
      .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")
      .all()
      .map((row) => Object.values(row))
  )

let present: string | undefined

const presentObjects = (): string => {
  const model = new DatabaseSync(":memory:")
  try {
    migrate(model)
    return objectsOf(model)
  } finally {
    model.close()
  }
}

/** True if tables, indexes and triggers are exactly those of the present version, so that the rules above do hold. */
export const hasPresentSchema = (db: DatabaseSync): boolean => {
  present ??= presentObjects()
  return objectsOf(db) === present
}
