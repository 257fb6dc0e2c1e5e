/** The packaged ripgrep: what `grep` and `find` run. It walks the opened directory itself, not its name. */
import { Effect, Option, type Scope, Stream } from "effect"
import { pathOfHandle } from "../../platform/HandlePath.ts"
import { TailBuffer } from "../../transport/TailBuffer.ts"
import { ToolFailure } from "../Tool.ts"
import { oneLine } from "./ListFiles.ts"
import type { OpenedFile } from "./OpenedFile.ts"
import { within } from "./Places.ts"
import { failed, type Workbench } from "./Workbench.ts"

const TIME_MS = 60_000
const STDERR_BYTES = 2048
/** A line of ripgrep's output beyond this is cut; it bounds what is held of one, whatever a file's names are. */
const LINE_BYTES = 64 * 1024

/** Ignored files stay out as git has it, with or without a repository; hidden files are searched, `.git` is not. */
const COMMON = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--color=never", "--sort=path"]

export interface Found {
  readonly lines: ReadonlyArray<string>
  /** `take` was full: there is more. */
  readonly more: boolean
  /** Some files could not be read. */
  readonly incomplete: boolean
}

const executable = Effect.tryPromise({
  try: () => import("@vscode/ripgrep").then((module) => module.rgPath),
  catch: () => failed("the packaged ripgrep is not there for this platform; install the optional dependencies")
})

/** Characters that a glob gives a meaning, as themselves. */
const literal = (path: string) => path.replace(/[\\*?[\]{}!]/g, "\\$&")

/** What is never looked at: git's own folder, and `$MC_HOME` where it lies in the searched folder. */
const exclusions = (bench: Workbench, root: OpenedFile) =>
  Effect.map(bench.home, (home) => {
    const seen = [home, bench.settings.home].map((folder) => within(root.path, folder))
    const inner = seen
      .filter((path) => path !== undefined && path !== "")
      .map((path) => `--glob=!/${literal(path ?? "")}`)
    return ["--glob=!.git", ...new Set(inner)]
  })

/** Splits at one byte; what is beyond the bound of a line is passed over. */
class Lines {
  #rest = Buffer.alloc(0)
  readonly #separator: number

  constructor(separator: number) {
    this.#separator = separator
  }

  push(chunk: Uint8Array): ReadonlyArray<string> {
    const lines: Array<string> = []
    let bytes = Buffer.concat([this.#rest, chunk])
    for (let at = bytes.indexOf(this.#separator); at >= 0; at = bytes.indexOf(this.#separator)) {
      lines.push(bytes.subarray(0, Math.min(at, LINE_BYTES)).toString())
      bytes = bytes.subarray(at + 1)
    }
    this.#rest = bytes.subarray(0, LINE_BYTES)
    return lines
  }
}

export interface Search {
  readonly args: ReadonlyArray<string>
  /** What ends a line of the output: LF, or NUL where a line is nothing but a path. */
  readonly separator: "\n" | "\0"
  /** Keeps a line or not; `isFull` ends the search. */
  readonly take: (line: string) => { readonly keep: string | undefined; readonly isFull: boolean }
}

/**
 * Runs ripgrep below `root` (a directory or a file) and hands each line of its output to `take` until that says it is
 * full. Fails with what it said where it found nothing because of an error.
 */
export const run = (
  bench: Workbench,
  root: OpenedFile,
  { args, separator, take }: Search
): Effect.Effect<Found, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const command = yield* executable
    const isDirectory = root.stats.isDirectory()
    const place = pathOfHandle(root.handle, root.path)
    const child = yield* bench.children
      .spawn({
        command,
        args: [...COMMON, ...(yield* exclusions(bench, root)), ...args, "--", isDirectory ? "./" : place],
        cwd: isDirectory ? place : bench.settings.workspace,
        graceMs: 0
      })
      .pipe(Effect.mapError((error) => failed(`ripgrep could not be started: ${error.reason}`)))
    const stderr = new TailBuffer(STDERR_BYTES)
    yield* Effect.forkScoped(Stream.runForEach(child.stderr, (chunk) => Effect.sync(() => stderr.push(chunk))))

    const lines: Array<string> = []
    const splitter = new Lines(separator.charCodeAt(0))
    let more = false
    const accept = (found: ReadonlyArray<string>) => {
      for (const line of found) {
        if (more) return
        const { isFull, keep } = take(line)
        if (isFull) more = true
        else if (keep !== undefined) lines.push(keep)
      }
    }
    const reading = Stream.runForEachWhile(child.stdout, (chunk) =>
      Effect.sync(() => {
        accept(splitter.push(chunk))
        return !more
      })
    ).pipe(Effect.andThen(Effect.suspend(() => (more ? child.stop : Effect.void))), Effect.andThen(child.exit))
    const exit = yield* Effect.timeoutOption(reading, TIME_MS)
    if (Option.isNone(exit)) {
      return yield* new ToolFailure({
        code: "tool_timeout",
        message: `nothing more was found within ${TIME_MS / 1000} s; search a smaller folder`,
        output: { text: lines.join("\n") }
      })
    }
    const isFaulty = !more && exit.value.code !== 0 && exit.value.code !== 1
    if (isFaulty && lines.length === 0) {
      const text = stderr.text().trim()
      return yield* new ToolFailure({
        code: "tool_failed",
        message: "the search failed; the output says why",
        output: { text }
      })
    }
    return { lines, more, incomplete: isFaulty }
  })

/** The path of a hit below the searched folder, as seen from the workspace where it lies there, on one line. */
export const pathOfHit = (root: OpenedFile, path: string): string => {
  if (!root.stats.isDirectory()) return oneLine(root.shown)
  return oneLine(root.shown === "." ? path : `${root.shown}/${path}`)
}
