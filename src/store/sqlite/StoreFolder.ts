/**
 * Where sessions lie on disk, and that nobody else can have put them there.
 *
 * `$MC_HOME/sessions/<id>.db`, one file a session, and `$MC_HOME/sessions-index-1.db`, which can be rebuilt. Folders are
 * made with mode 0700 and files with 0600, at the first write. A folder that belongs to someone else or that others may
 * write to is refused (product section 2).
 */

import { Buffer } from "node:buffer"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { ownUid } from "../../platform/Owner.ts"
import { isId } from "../../protocol/Ids.ts"
import { StoreFault } from "../StoreFault.ts"
import { toFault } from "./sqliteFault.ts"

const SUFFIX = ".db"
const WRITABLE_BY_OTHERS = 0o022
const READABLE_BY_OTHERS = 0o077

/** The folder of all session files of a home. */
export const sessionsFolder = (home: string): string => join(resolve(home), "sessions")

/** The file of a session; `undefined` for an id that cannot be one. */
export const sessionPath = (home: string, sessionId: string): string | undefined =>
  isId(sessionId) ? join(sessionsFolder(home), `${sessionId}${SUFFIX}`) : undefined

/** The index of lists. Its name holds its version, so that two versions of the program do not undo each other's. */
export const indexPath = (home: string): string => join(resolve(home), "sessions-index-1.db")

/** True for a file name that a session's file has. */
export const isSessionFile = (name: string): boolean => name.endsWith(SUFFIX) && isId(name.slice(0, -SUFFIX.length))

/** The ids of all sessions that have a file. */
export const storedIds = (home: string): ReadonlyArray<string> => {
  try {
    return readdirSync(sessionsFolder(home))
      .filter(isSessionFile)
      .map((name) => name.slice(0, -SUFFIX.length))
  } catch (error) {
    if (isMissing(error)) return []
    throw toFault(error, sessionsFolder(home))
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")

const checkOwner = (path: string, stats: { readonly uid: number; readonly mode: number }, kind: string): void => {
  const uid = ownUid()
  if (uid === undefined) return
  if (stats.uid !== uid) {
    throw new StoreFault("persistence", `${path} belongs to another user: use ${kind} of your own`)
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new StoreFault("persistence", `${path} can be written by other users: run chmod go-w ${path}`)
  }
}

/** `false`: there is no such folder. Throws where there is one that others own or may write to. */
const checkFolder = (path: string): boolean => {
  try {
    const real = realpathSync(path)
    const stats = statSync(real)
    if (!stats.isDirectory()) throw new StoreFault("persistence", `${path} is not a folder: move it away`)
    checkOwner(path, stats, "a folder")
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw toFault(error, path)
  }
}

/** Makes what was just created in a folder survive a power cut, where the folder can be read and its disk knows how. */
const syncFolder = (path: string): void => {
  try {
    const descriptor = openSync(path, "r")
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // The folder is there all the same.
  }
}

/** `false`: nothing is stored here yet. Throws where the home or its sessions cannot be trusted. */
export const folderExists = (home: string): boolean => checkFolder(resolve(home)) && checkFolder(sessionsFolder(home))

/** Makes home and sessions folder where they are missing. */
export const ensureFolder = (home: string): void => {
  for (const folder of [resolve(home), sessionsFolder(home)]) {
    if (checkFolder(folder)) continue
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      syncFolder(dirname(folder))
    } catch (error) {
      throw toFault(error, folder)
    }
    checkFolder(folder)
  }
  const sessions = sessionsFolder(home)
  if ((statSync(sessions).mode & READABLE_BY_OTHERS) !== 0) chmodSync(sessions, 0o700)
}

/** Makes an empty file that only its owner may read. Fails where there is one already. */
export const createPrivateFile = (path: string): void => {
  closeSync(openSync(path, "wx", 0o600))
}

/** Size of a session's file. Throws `session_not_found` where there is none, and refuses one that others may write. */
export const checkFile = (path: string): number => {
  try {
    const stats = lstatSync(path)
    if (!stats.isFile()) throw new StoreFault("session_invalid", `${path} is not a plain file: move it away`)
    checkOwner(path, stats, "files")
    if ((stats.mode & READABLE_BY_OTHERS) !== 0) chmodSync(path, 0o600)
    return stats.size
  } catch (error) {
    if (isMissing(error)) throw new StoreFault("session_not_found", "no session of this id is stored")
    throw toFault(error, path)
  }
}

const ZEROS = Buffer.alloc(1_048_576)

/**
 * Writes zeros over a file, as far as a program can: a copy-on-write file system or a flash disk may keep the old blocks.
 * A missing file is passed over.
 */
export const overwrite = (path: string): void => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const descriptor = openSync(path, "r+")
  try {
    for (let at = 0; at < size; at += ZEROS.length) {
      writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, size - at), at)
    }
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Removes a session's file and what SQLite keeps beside it. */
export const removeFiles = (path: string): void => {
  for (const file of [path, `${path}-wal`, `${path}-journal`]) rmSync(file, { force: true })
}
