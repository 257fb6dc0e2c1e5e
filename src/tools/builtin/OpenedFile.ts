/**
 * Opening what a file tool names: first the handle, then, on the handle, what it is and where it really lies.
 *
 * A name can be exchanged between a check and its use; a handle cannot. FIFOs, devices and `/proc` are refused before
 * anybody is asked, and none of them can block: the handle is opened without waiting. product section 2.
 */
import { constants, type Stats } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect, type Scope } from "effect"
import { isProcessFile, realPathOfHandle } from "../../platform/HandlePath.ts"
import type { ApprovalNeed, ToolContext, ToolFailure } from "../Tool.ts"
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
    if (path === undefined) return yield* failed("the file was exchanged while it was being opened")
    const place = placeOf(bench.settings, yield* bench.home, path)
    if (place._tag === "Denied") return yield* denied(place.why)
    return { handle, stats, path, place, shown: shown(bench.settings, path) }
  })

/** Opens an existing file or directory for reading. */
export const openFile = (bench: Workbench, path: string): Effect.Effect<OpenedFile, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const absolute = yield* absolutePath(bench, path)
    // Opening a device can have effects of its own, so it is not even opened where it can be told before.
    const before = yield* io(() => stat(absolute))
    if (!isOrdinary(before)) return yield* denied(special)
    return yield* inspectHandle(bench, yield* openHandle(absolute, FLAGS), absolute)
  })

/**
 * Opens for a tool that reads, with the approval it needs: outside the workspace reading asks, and an inspection gets
 * nothing there, not even whether a file exists.
 */
export const openForReading = (
  bench: Workbench,
  path: string,
  context: ToolContext,
  /** What will be done, for the summary of the approval; the real path is put behind it. */
  action: string
): Effect.Effect<{ readonly file: OpenedFile; readonly approval: ApprovalNeed | null }, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const outside = denied("outside the workspace")
    const absolute = resolve(bench.settings.workspace, path)
    const inspects = context.mode === "inspect"
    if (inspects && within(bench.settings.workspace, absolute) === undefined) return yield* outside
    const file = yield* openFile(bench, path)
    if (file.place._tag === "Inside") return { file, approval: null }
    if (inspects) return yield* outside
    const summary = `${action}\noutside the workspace: ${file.path}`
    return { file, approval: { kind: "read", summary, always: true } }
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
