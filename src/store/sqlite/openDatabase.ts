/**
 * Opens the SQLite file of a session as its single writer.
 *
 * `locking_mode=EXCLUSIVE`: the operating system's lock on the file is the lease, and goes with the process that held
 * it, however that ended. WAL with `synchronous=FULL`: what a commit returned from is on the disk.
 */
import { accessSync, constants } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { StoreFault, sessionNotFound } from "../StoreFault.ts"
import { checkOrigin, hasPresentSchema, isBlank, migrate, SCHEMA_VERSION, versionOf } from "./Schema.ts"
import { checkFile, createPrivateFile, removeFiles } from "./StoreFolder.ts"
import { damaged, toFault } from "./sqliteFault.ts"

/** Bytes of a page of a new file. Records of a kilobyte leave a quarter of 4096 empty, and a commit writes whole pages. */
export const PAGE_SIZE = 8192

const connect = (path: string): DatabaseSync => {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Before the first access, so that no shared-memory file is ever used and the first read takes the lock.
    db.exec("PRAGMA locking_mode = EXCLUSIVE")
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const prepareForWriting = (db: DatabaseSync): void => {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA secure_delete = ON")
}

/** Closes the connection if `use` throws, and makes a fault of what it throws. */
const using = <A>(path: string, use: (db: DatabaseSync) => A): A => {
  try {
    const db = connect(path)
    try {
      return use(db)
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw toFault(error, path)
  }
}

/** A new file with the present schema, `fill`ed in the same transaction: after a crash there is all of it or nothing. */
export const createDatabase = <A>(path: string, fill: (db: DatabaseSync) => A): A => {
  try {
    createPrivateFile(path)
  } catch (error) {
    throw toFault(error, path)
  }
  try {
    return using(path, (db) => {
      db.exec(`PRAGMA page_size = ${PAGE_SIZE}`)
      prepareForWriting(db)
      db.exec("BEGIN IMMEDIATE")
      migrate(db)
      const filled = fill(db)
      db.exec("COMMIT")
      return filled
    })
  } catch (error) {
    removeFiles(path)
    throw error
  }
}

/** Takes the lock of a file and looks at it as it is: nothing is changed, migrated or recovered. */
export const inspectDatabase = <A>(path: string, look: (db: DatabaseSync) => A): A => {
  checkFile(path)
  return using(path, (db) => {
    const found = look(db)
    db.close()
    return found
  })
}

const upgrade = (db: DatabaseSync): void => {
  if (versionOf(db) === SCHEMA_VERSION) return
  db.exec("BEGIN IMMEDIATE")
  migrate(db)
  db.exec("COMMIT")
}

/**
 * Takes the lock of an existing session's file, or throws: not found, busy, invalid, or not writable. A `thorough` check
 * reads every page.
 */
export const openDatabase = <A>(path: string, check: "thorough" | "quick", adopt: (db: DatabaseSync) => A): A => {
  if (checkFile(path) === 0) throw sessionNotFound()
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw toFault(error, path)
  }
  return using(path, (db) => {
    if (isBlank(db)) throw sessionNotFound()
    checkOrigin(db, path)
    prepareForWriting(db)
    if (check === "thorough" && db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"] !== "ok") throw damaged(path)
    upgrade(db)
    if (!hasPresentSchema(db)) {
      throw new StoreFault("session_invalid", `${path} lacks the rules of a session file: restore it from a backup`)
    }
    return adopt(db)
  })
}
