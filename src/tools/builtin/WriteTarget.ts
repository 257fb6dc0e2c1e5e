/**
 * Where a file tool writes: the opened real directory and a name in it, so that nothing exchanged meanwhile leads
 * elsewhere, and an atomic replacement that keeps mode and owner. product section 2.
 */
import { constants, type Stats } from "node:fs"
import { access, chmod, chown, lstat, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect, type Scope } from "effect"
import { pathOfHandle } from "../../platform/HandlePath.ts"
import { uuid } from "../../platform/Ids.ts"
import type { ToolContext, ToolFailure } from "../Tool.ts"
import { absolutePath, inspectHandle, type OpenedFile, openFile, openHandle, unusableOutside } from "./OpenedFile.ts"
import { PROTECTED_NAMES, placeOf, shown, within } from "./Places.ts"
import { codeOf, denied, failed, io, type Workbench } from "./Workbench.ts"

export interface WriteTarget {
  readonly _tag: "Target"
  /** The real path that is written; the key of its lock. */
  readonly path: string
  readonly shown: string
  /** Why writing it always asks. */
  readonly asks: "outside" | "protected" | undefined
  /** Absent: a new file. */
  readonly existing: OpenedFile | undefined
  /** The deepest directory that is there already. */
  readonly folder: OpenedFile
  /** Directories to be made below it. */
  readonly missing: ReadonlyArray<string>
  readonly name: string
}

/** A path outside the workspace that cannot be written, and why: for after the approval. */
export interface Unwritable extends Pick<WriteTarget, "path" | "shown" | "asks"> {
  readonly _tag: "Unwritable"
  readonly failure: ToolFailure
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK

const LEADS_NOWHERE = "a symbolic link leads nowhere"

/** The deepest directory on the way to `path` that exists, and the names that are missing below it. */
const deepest = async (path: string): Promise<{ readonly folder: string; readonly missing: ReadonlyArray<string> }> => {
  const missing: Array<string> = []
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      if (!(await stat(folder)).isDirectory()) throw failed("a part of the path is not a directory")
      return { folder, missing }
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || folder === dirname(folder)) throw error
      // A link to nowhere is something that is there: making a directory of its name would fail, following it surprise.
      if (await lstat(folder).catch(() => null)) throw denied(LEADS_NOWHERE)
      missing.unshift(basename(folder))
    }
  }
}

const openFolder = (bench: Workbench, path: string, flags = 0) =>
  Effect.flatMap(openHandle(path, DIRECTORY | flags), (handle) => inspectHandle(bench, handle, path))

/** Whether something of this name is there to be replaced; a link that leads nowhere is not written through. */
const exists = async (path: string): Promise<boolean> => {
  try {
    const isLink = (await lstat(path)).isSymbolicLink()
    await stat(path).catch((error) => {
      throw isLink && codeOf(error) === "ENOENT" ? denied(LEADS_NOWHERE) : error
    })
    return true
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false
    throw error
  }
}

/** By its names, or because a protected name of the workspace is a link that leads to it. */
const isProtectedPath = async (bench: Workbench, path: string): Promise<boolean> => {
  const { settings } = bench
  const place = placeOf(settings, settings.home, path)
  if (place._tag === "Inside" && place.isProtected) return true
  const targets = await Promise.all(
    PROTECTED_NAMES.map((name) => realpath(join(settings.workspace, name)).catch(() => undefined))
  )
  return targets.some((target) => target !== undefined && within(target, path) !== undefined)
}

const findTarget = (
  bench: Workbench,
  path: string,
  context: ToolContext
): Effect.Effect<WriteTarget, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    if (context.mode === "inspect") return yield* denied("an inspection writes nothing")
    const absolute = yield* absolutePath(bench, path)
    const isThere = yield* io(() => exists(absolute))
    const existing = isThere ? yield* openFile(bench, path) : undefined
    if (existing?.stats.isDirectory()) return yield* failed("it is a directory")
    if (!existing && path.endsWith("/")) return yield* failed("the path names a directory")
    if (existing) yield* io(() => access(pathOfHandle(existing.handle, existing.path), constants.W_OK))

    const name = basename(existing?.path ?? absolute)
    const { folder: at, missing } = existing
      ? { folder: dirname(existing.path), missing: [] }
      : yield* io(() => deepest(dirname(absolute)))
    // The real path of an existing file has no links in it any more: one that is met now was put there meanwhile.
    const folder = yield* openFolder(bench, at, existing ? constants.O_NOFOLLOW : 0)
    const real = join(folder.path, ...missing, name)
    if (existing && real !== existing.path) return yield* failed("the file was exchanged while it was being opened")
    const place = placeOf(bench.settings, yield* bench.home, real)
    if (place._tag === "Denied") return yield* denied(place.why)
    const isProtected =
      (yield* Effect.promise(() => isProtectedPath(bench, absolute))) ||
      (yield* Effect.promise(() => isProtectedPath(bench, real)))
    const asks = place._tag === "Outside" ? "outside" : isProtected ? "protected" : undefined
    return { _tag: "Target", path: real, shown: shown(bench.settings, real), asks, existing, folder, missing, name }
  })

/**
 * Finds and opens what `path` names for writing. Nothing is changed yet. Outside the workspace it is not said before the
 * approval why that cannot be: then what is given is `Unwritable`.
 */
export const writeTarget = (
  bench: Workbench,
  path: string,
  context: ToolContext
): Effect.Effect<WriteTarget | Unwritable, ToolFailure, Scope.Scope> =>
  Effect.catchIf(
    findTarget(bench, path, context),
    ({ code, message }) => code === "tool_failed" || message === LEADS_NOWHERE,
    (failure) =>
      Effect.flatMap(unusableOutside(bench, path), (real) =>
        real === undefined
          ? Effect.fail(failure)
          : Effect.succeed({ _tag: "Unwritable" as const, path: real, shown: real, asks: "outside" as const, failure })
      )
  )

/** Makes the missing directories and opens the last; none of them may be a link that appeared meanwhile. */
const makeFolders = (bench: Workbench, target: WriteTarget): Effect.Effect<OpenedFile, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    let folder = yield* inspectHandle(bench, target.folder.handle, target.folder.path)
    for (const name of target.missing) {
      const path = join(pathOfHandle(folder.handle, folder.path), name)
      yield* io(() =>
        mkdir(path).catch((error) => {
          if (codeOf(error) !== "EEXIST") throw error
        })
      )
      folder = yield* openFolder(bench, path, constants.O_NOFOLLOW)
    }
    // The folder itself may have been moved since the approval, to a place that asks or is denied.
    if (join(folder.path, target.name) !== target.path) return yield* failed("the folder was moved meanwhile")
    return folder
  })

const ordinary = (stats: Stats | undefined) => stats === undefined || stats.isFile()

/** What is in the target's place now, without following a link. */
const lookAt = async (path: string): Promise<Stats | undefined> => {
  const stats = await lstat(path).catch((error) => {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  })
  if (!ordinary(stats)) throw denied("the file was exchanged for something else")
  return stats
}

const replace = async (path: string, temporary: string, content: Uint8Array, before: Stats | undefined) => {
  const handle = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    before ? 0o600 : 0o666
  )
  try {
    try {
      await handle.writeFile(content)
      if (before) {
        const own = await handle.stat()
        if (own.uid !== before.uid || own.gid !== before.gid) {
          await chown(pathOfHandle(handle, temporary), before.uid, before.gid).catch(() => {
            throw failed("the file belongs to another user, and that cannot be kept")
          })
        }
        // After the owner: changing that takes set-user-id bits away.
        await chmod(pathOfHandle(handle, temporary), before.mode & 0o7777)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/**
 * Replaces the target's content by what `content` makes of the present one (`undefined`: there is none), in one rename.
 * Nobody else of this backend writes the file meanwhile, and an interruption waits for the rename.
 */
export const commit = (
  bench: Workbench,
  target: WriteTarget,
  content: (present: OpenedFile | undefined) => Effect.Effect<Uint8Array, ToolFailure>
): Effect.Effect<void, ToolFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* makeFolders(bench, target)
      const path = join(pathOfHandle(folder.handle, folder.path), target.name)
      const before = yield* io(() => lookAt(path))
      const present = before && (yield* openPresent(bench, path))
      const bytes = yield* content(present)
      const temporary = join(pathOfHandle(folder.handle, folder.path), `.magi-code-${yield* uuid}.tmp`)
      yield* io(() => replace(path, temporary, bytes, present?.stats))
    }).pipe(Effect.uninterruptible, bench.exclusively(target.path))
  )

const openPresent = (bench: Workbench, path: string) =>
  Effect.flatMap(openHandle(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW), (handle) =>
    inspectHandle(bench, handle, path)
  )
