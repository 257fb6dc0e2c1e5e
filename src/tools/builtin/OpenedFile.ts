/**
 * Opening what a file tool names: first the handle, then, on the handle, what it is and where it really lies.
 *
 * A name can be exchanged between a check and its use; a handle cannot. FIFOs, devices and `/proc` are refused before
 * anybody is asked, and none of them can block: the handle is opened without waiting. product section 2.
 */
import { constants, type Stats } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect, Result, type Scope } from "effect"
import { isProcessFile, realPathOfHandle } from "../../platform/HandlePath.ts"
import type { PreparedCall, ToolContext, ToolFailure } from "../Tool.ts"
import { destinationOf } from "./Destination.ts"
import { type Place, placeOf, shown, within } from "./Places.ts"
import { denied, failed, io, type Workbench } from "./Workbench.ts"

export interface OpenedFile {
  readonly handle: FileHandle
  readonly stats: Stats
  /** The real path at the time of opening. */
  readonly path: string
  readonly place: Exclude<Place, { readonly _tag: "Denied" }>
  /** How the path is shown. */
  readonly shown: string
}

/** Opens without blocking (FIFOs), without taking a terminal, and for reading only. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** A handle that closes with the scope. */
export const openHandle = (path: string, flags: number): Effect.Effect<FileHandle, ToolFailure, Scope.Scope> =>
  Effect.acquireRelease(
    io(() => open(path, flags)),
    (handle) => Effect.promise(() => handle.close().catch(() => {}))
  )

/** The absolute path that a tool's argument names; what is denied by its name alone is denied here. */
export const absolutePath = (bench: Workbench, path: string): Effect.Effect<string, ToolFailure> =>
  Effect.gen(function* () {
    const absolute = resolve(bench.settings.workspace, path)
    const place = placeOf(bench.settings, yield* bench.home, absolute)
    return place._tag === "Denied" ? yield* denied(place.why) : absolute
  })

const EXCHANGED = "the file was exchanged while it was being opened"
/** An edit of the same file puts another in its place; so often in a row it does not. */
const EXCHANGES = 10

const isOrdinary = (stats: Stats) => stats.isFile() || stats.isDirectory()
const special = "only files and directories may be opened, no FIFOs, sockets or devices"

/** What an open handle is and where; refused where no file tool may go. */
export const inspectHandle = (
  bench: Workbench,
  handle: FileHandle,
  opened: string
): Effect.Effect<OpenedFile, ToolFailure> =>
  Effect.gen(function* () {
    const stats = yield* io(() => handle.stat())
    if (!isOrdinary(stats)) return yield* denied(special)
    if (yield* io(() => isProcessFile(handle))) return yield* denied("nothing under /proc may be opened")
    const path = yield* io(() => realPathOfHandle(handle, opened))
    if (path === undefined) return yield* failed(EXCHANGED)
    const place = placeOf(bench.settings, yield* bench.home, path)
    if (place._tag === "Denied") return yield* denied(place.why)
    return { handle, stats, path, place, shown: shown(bench.settings, path) }
  })

/** Opens an existing file or directory for reading; again where it was replaced meanwhile, as edits do. */
export const openFile = (bench: Workbench, path: string): Effect.Effect<OpenedFile, ToolFailure, Scope.Scope> =>
  Effect.retry(openOnce(bench, path), { times: EXCHANGES, while: ({ message }) => message === EXCHANGED })

const openOnce = (bench: Workbench, path: string): Effect.Effect<OpenedFile, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const absolute = yield* absolutePath(bench, path)
    // Opening a device can have effects of its own, so it is not even opened where it can be told before.
    const before = yield* io(() => stat(absolute))
    if (!isOrdinary(before)) return yield* denied(special)
    return yield* inspectHandle(bench, yield* openHandle(absolute, FLAGS), absolute)
  })

/**
 * Where a path leads that cannot be used. `undefined`: inside the workspace, where whoever asks may be told why at once.
 * Outside, that would tell what is there before anybody has allowed to look.
 */
export const unusableOutside = (bench: Workbench, path: string): Effect.Effect<string | undefined, ToolFailure> =>
  Effect.gen(function* () {
    const leads = yield* Effect.promise(() => destinationOf(resolve(bench.settings.workspace, path)))
    const place = placeOf(bench.settings, yield* bench.home, leads)
    if (place._tag === "Denied") return yield* denied(place.why)
    return place._tag === "Outside" ? leads : undefined
  })

/**
 * Prepares a tool that reads, with the approval it needs: outside the workspace reading asks, and an inspection gets
 * nothing there. What `use` makes of the opened file is what the tool does; why a path outside cannot be read (nothing is
 * there, it is no directory) is told when the approval is given, and not before.
 */
export const prepareReading = (
  bench: Workbench,
  path: string,
  context: ToolContext,
  /** What will be done, for the summary of the approval; the real path is put behind it. */
  action: string,
  use: (file: OpenedFile) => Effect.Effect<Omit<PreparedCall, "approval">, ToolFailure>
): Effect.Effect<PreparedCall, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const outside = denied("outside the workspace")
    const absolute = resolve(bench.settings.workspace, path)
    const inspects = context.mode === "inspect"
    if (inspects && within(bench.settings.workspace, absolute) === undefined) return yield* outside
    const opened = yield* Effect.result(openFile(bench, path))
    const used = yield* Effect.result(Effect.flatMap(Effect.fromResult(opened), use))
    if (Result.isFailure(used) && used.failure.code === "path_denied") return yield* used.failure
    const real = Result.isFailure(opened)
      ? yield* unusableOutside(bench, path)
      : opened.success.place._tag === "Outside"
        ? opened.success.path
        : undefined
    if (real === undefined) return { approval: null, ...(yield* Effect.fromResult(used)) }
    if (inspects) return yield* outside
    const summary = `${action}\noutside the workspace: ${real}`
    return {
      approval: { kind: "read", summary, always: true },
      ...(Result.isSuccess(used) ? used.success : { lines: [real], execute: Effect.fail(used.failure) })
    }
  })

/** Reads an open file from its beginning, at most `limit` bytes; fails where it has more. */
export const readAll = (handle: FileHandle, limit: number): Effect.Effect<Buffer, ToolFailure> =>
  io(async () => {
    const chunks: Array<Buffer> = []
    let size = 0
    for (;;) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, size)
      if (bytesRead === 0) return Buffer.concat(chunks)
      size += bytesRead
      if (size > limit) throw failed(`the file is larger than ${limit} bytes`)
      chunks.push(chunk.subarray(0, bytesRead))
    }
  })
