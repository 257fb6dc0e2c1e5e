/** What the driver's errors mean to whoever runs the program: the file, and what to do. */
import { StoreFault } from "../StoreFault.ts"

/** SQLite's primary result codes that need an explanation of their own. */
const Code = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  constraint: 19,
  cannotOpen: 14,
  notADatabase: 26
} as const

/** Extended codes of a sync that failed: of a file, and of its folder. */
const syncFailures: ReadonlyArray<number> = [1034, 1290]

const extendedCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined

/** The primary result code of an error of the driver; `undefined` for any other error. */
export const sqliteCode = (error: unknown): number | undefined => {
  const code = extendedCode(error)
  return code === undefined ? undefined : code & 0xff
}

/** True where another connection holds the file. */
export const isBusy = (error: unknown): boolean => {
  const code = sqliteCode(error)
  return code === Code.busy || code === Code.locked
}

/** True where a rule of the schema was broken. Only the statement that broke it is undone. */
export const isRefusal = (error: unknown): error is Error => sqliteCode(error) === Code.constraint

/** True where a sync failed. What the connection believes to be on disk is not certain any more. */
export const isSyncFailure = (error: unknown): boolean => syncFailures.includes(extendedCode(error) ?? 0)

/** True where the file is not what it was when it was written. */
export const isDamage = (error: unknown): boolean => {
  const code = sqliteCode(error)
  return code === Code.corrupt || code === Code.notADatabase
}

/** The sentence for a damaged file. */
export const damaged = (path: string): StoreFault =>
  new StoreFault("session_invalid", `${path} is damaged: restore it from a backup, or move it away`)

/** The sentence for a file that another process holds. */
export const busy = (path: string): StoreFault =>
  new StoreFault("session_busy", `${path} is in use by another magi-code: close that one first`)

/** The sentence for a file whose last sync failed. */
export const syncFailed = (path: string): StoreFault =>
  new StoreFault("persistence", `the disk failed at ${path}: check it, then open the session again`)

/** Turns what was thrown while working on `path` into a fault that says what to do. Faults pass unchanged. */
export const toFault = (error: unknown, path: string): StoreFault => {
  if (error instanceof StoreFault) return error
  switch (sqliteCode(error)) {
    case Code.busy:
    case Code.locked:
      return busy(path)
    case Code.readOnly:
      return new StoreFault("persistence", `${path} is read-only: make it and its folder writable for you`)
    case Code.full:
      return new StoreFault("persistence", `no space left to write ${path}: free some and try again`)
    case Code.io:
      return isSyncFailure(error)
        ? syncFailed(path)
        : new StoreFault("persistence", `the disk did not take ${path}: check its space, your quota and its health`)
    case Code.cannotOpen:
      return new StoreFault("persistence", `${path} cannot be opened: check the permissions of it and its folder`)
    case Code.corrupt:
      return damaged(path)
    case Code.notADatabase:
      return new StoreFault("session_invalid", `${path} is not a session file: move it away, or restore a backup`)
    default:
      return fromSystem(error, path)
  }
}

const fromSystem = (error: unknown, path: string): StoreFault => {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown"
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new StoreFault("persistence", `no space left to write ${path}: free some and try again`)
    case "EEXIST":
      return new StoreFault("persistence", `${path} exists already: open that session instead`)
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return new StoreFault("persistence", `${path} may not be written: make it and its folder writable for you`)
    default:
      return new StoreFault("persistence", `${path} cannot be written (${code})`)
  }
}
