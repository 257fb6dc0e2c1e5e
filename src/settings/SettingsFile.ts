/**
 * Reads one file of settings: bounded, a regular file, no symbolic link, strict JSON.
 *
 * product section 2; base-protocol section 1 (what JSON is).
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, lstat, open } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, Result } from "effect"
import { ownUid } from "../platform/Owner.ts"
import type { Json } from "../protocol/Json.ts"
import { firstWrong } from "../protocol/JsonGrammar.ts"
import { decodeUtf8, parse } from "../protocol/StrictJson.ts"
import { type ConfigurationError, type FileName, invalid } from "./ConfigurationError.ts"

/** Bytes of one settings file or record of trust. A catalogue may have 32 KiB; this is room for everything else. */
export const SETTINGS_BYTES = 262_144
/** Nesting of a settings file; more than the schema has. */
const SETTINGS_DEPTH = 32

/** Mode bits that let others change a file or a folder. */
export const WRITABLE_BY_OTHERS = 0o022

export interface RawFile {
  readonly json: Json
  /** Lowercase hex SHA-256 of the bytes that were read. */
  readonly sha256: string
}

/**
 * The file's JSON and the hash of exactly those bytes; `undefined` when there is no such file. A link, a directory or a
 * device in its place is an error, and so is a `.magi-code` that is a link: what is trusted is one file at one place.
 */
export const readSettingsFile = (
  path: string,
  name: FileName
): Effect.Effect<RawFile | undefined, ConfigurationError> =>
  Effect.gen(function* () {
    const bytes = yield* Effect.tryPromise({
      try: () => readBounded(path, name === ".magi-code/settings.json" ? "workspace" : "home"),
      catch: (error) => invalid(name, "", reason(error))
    })
    if (bytes === undefined) return undefined
    const text = decodeUtf8(bytes)
    if (text === undefined) return yield* invalid(name, "", "is not UTF-8")
    const parsed = parse(text, { maxDepth: SETTINGS_DEPTH })
    if (Result.isFailure(parsed)) {
      const { message, path, rule } = parsed.failure
      return yield* invalid(name, path, rule === "syntax" ? `${message} at ${placeOf(text)}` : message)
    }
    return { json: parsed.success, sha256: createHash("sha256").update(bytes).digest("hex") }
  })

/** Where the text stops being JSON. */
const placeOf = (text: string): string => {
  const before = text.slice(0, firstWrong(text)).split("\n")
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

class Unreadable extends Error {}

const readBounded = async (path: string, place: "home" | "workspace"): Promise<Uint8Array | undefined> => {
  if (place === "workspace" && (await isLink(dirname(path))))
    throw new Unreadable("its folder is a symbolic link; make it a folder")
  const file = await openOnly(path)
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Unreadable("is not a regular file")
    if (place === "home") checkOwner(stats)
    // One byte more than allowed tells a file that is too large, also one that grows while it is read.
    const buffer = Buffer.alloc(SETTINGS_BYTES + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
    throw new Unreadable(`is larger than ${SETTINGS_BYTES} bytes`)
  } finally {
    await file.close()
  }
}

/** What stands in $MC_HOME decides what runs: it must be the user's own, or the administrator's. */
const checkOwner = ({ mode, uid }: { readonly mode: number; readonly uid: number }): void => {
  const own = ownUid()
  if (own === undefined) return
  if (uid !== own && uid !== 0) throw new Unreadable("belongs to another user")
  if ((mode & WRITABLE_BY_OTHERS) !== 0) throw new Unreadable("can be written by other users; run chmod go-w on it")
}

const isLink = async (path: string): Promise<boolean> => {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch {
    return false
  }
}

/** Follows no link at the end of the path, and does not wait for the writer of a FIFO. */
const openOnly = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown error"

const reason = (error: unknown): string => {
  if (error instanceof Unreadable) return error.message
  const code = codeOf(error)
  if (code === "ELOOP" || code === "EMLINK") return "is a symbolic link; put the file itself there"
  if (code === "EACCES" || code === "EPERM") return "cannot be read: give yourself read permission"
  if (code === "EISDIR") return "is a directory"
  return `cannot be read (${code})`
}
