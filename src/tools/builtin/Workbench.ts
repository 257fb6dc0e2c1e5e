/** What the built-in tools share: settings, child processes, and one lock a file. */
import { realpath } from "node:fs/promises"
import { Effect, Semaphore } from "effect"
import type { ChildrenShape } from "../../platform/Children.ts"
import type { EffectiveSettings } from "../../settings/Settings.ts"
import { ToolFailure } from "../Tool.ts"

export interface Workbench {
  readonly settings: EffectiveSettings
  readonly children: ChildrenShape
  /** The real path of `$MC_HOME`, as long as there is one. */
  readonly home: Effect.Effect<string>
  /** Runs `self` while no other holder of the same key runs: two edits of one file do not lose each other's text. */
  readonly exclusively: (key: string) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (settings: EffectiveSettings, children: ChildrenShape): Workbench => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return {
    settings,
    children,
    home: Effect.promise(() => realpath(settings.home).catch(() => settings.home)),
    exclusively: (key) => (self) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
          locks.set(key, lock)
          lock.users += 1
          return lock
        }),
        (lock) => lock.semaphore.withPermits(1)(self),
        (lock) =>
          Effect.sync(() => {
            lock.users -= 1
            if (lock.users === 0) locks.delete(key)
          })
      )
  }
}

export const failed = (message: string): ToolFailure => new ToolFailure({ code: "tool_failed", message })
export const denied = (message: string): ToolFailure => new ToolFailure({ code: "path_denied", message })

const reasons: { readonly [code: string]: string } = {
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of the path is not a directory",
  EACCES: "the operating system refuses access",
  EPERM: "the operating system refuses access",
  EISDIR: "it is a directory",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many open files",
  ENFILE: "too many open files"
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown"

/** An error of the file system as a failure. Links that go round in circles or were not to be followed are denied. */
export const fileFailure = (error: unknown): ToolFailure => {
  if (error instanceof ToolFailure) return error
  const code = codeOf(error)
  if (code === "ELOOP") return denied("a symbolic link is in the way")
  if (code === "ENXIO" || code === "ENODEV") return denied("not a file or directory")
  return failed(reasons[code] ?? `the file system answers ${code}`)
}

/** File system work as an effect. */
export const io = <A>(work: () => Promise<A>): Effect.Effect<A, ToolFailure> =>
  Effect.tryPromise({ try: work, catch: fileFailure })
