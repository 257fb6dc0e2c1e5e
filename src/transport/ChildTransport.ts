/**
 * The transport to an agent that this process starts: the pipes of a child that leads a process group of its own and
 * carries a mark in its environment, so that nothing of it is left behind. When it is closed, and how fast, is its
 * owner's to say (`client/AgentProcess`). base-protocol sections 1 and 3, product section 4.
 */
import { type ChildProcess, spawn } from "node:child_process"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Environment, sweep, withMarks } from "../platform/Marks.ts"
import { statNow } from "../platform/ProcFs.ts"
import { readChunk, writeChunk } from "./NodeStreams.ts"
import { TailBuffer } from "./TailBuffer.ts"
import type { TransportShape } from "./Transport.ts"

/** Bytes of the child's stderr that are kept (product section 5, `run`). */
export const STDERR_TAIL_BYTES = 65_536

export interface ChildTransportOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Default: this process's directory. */
  readonly cwd?: string
  /** Added to this process's environment. */
  readonly env?: Environment
  /** Carried by the child and all it starts; at least eight characters of an id. */
  readonly mark: string
  /** Sees the child's stderr as it comes. */
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** How a child ended: one of the two is null. */
export interface ChildEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** The child could not be started. `reason` is the system's code, such as `ENOENT`. */
export class ChildNotStarted extends Data.TaggedError("ChildNotStarted")<{
  readonly command: string
  readonly reason: string
}> {}

export interface ChildTransportShape extends TransportShape {
  readonly pid: number
  /** Waits for the end of the child itself; its descendants may hold its pipes longer. */
  readonly exit: Effect.Effect<ChildEnd>
  /** Waits until the child has ended and all its pipes have. */
  readonly closed: Effect.Effect<void>
  readonly endNow: () => ChildEnd | undefined
  /** The end of its stderr, decoded leniently. */
  readonly stderrTail: () => string
  /** EOF on its stdin, after what was written. */
  readonly end: () => void
  /** Gives its stdin up at once: what it has not taken is dropped, then it sees EOF. */
  readonly dropInput: () => void
  /** Signals the whole group, as long as the group is certainly still the child's. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL" | "SIGINT") => void
  /** Kills whatever still carries the mark, within `millis`. */
  readonly sweep: (millis: number) => Effect.Effect<number>
  /** Lets go of its pipes, so that they keep nothing alive. */
  readonly release: () => void
}

const codeOf = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown"

/** Starts the child. Nothing of it ends by itself: the caller owns its closing. */
export const open = (options: ChildTransportOptions): Effect.Effect<ChildTransportShape, ChildNotStarted> =>
  Effect.callback((resume) => {
    const failed = (error: unknown) =>
      resume(Effect.fail(new ChildNotStarted({ command: options.command, reason: codeOf(error) })))
    let child: ChildProcess
    try {
      child = spawn(options.command, options.args, {
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: withMarks({ ...process.env, ...options.env }, options.mark),
        detached: true,
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"]
      })
    } catch (error) {
      return failed(error)
    }
    child.once("error", failed)
    const transport = over(child, options)
    child.once("spawn", () => {
      child.off("error", failed)
      child.on("error", () => {})
      resume(transport === undefined ? Effect.die("a child without pipes") : Effect.succeed(transport))
    })
  })

const over = (child: ChildProcess, options: ChildTransportOptions): ChildTransportShape | undefined => {
  const { stderr, stdin, stdout } = child
  if (stdin === null || stdout === null || stderr === null) return undefined
  const exited = Deferred.makeUnsafe<ChildEnd>()
  const closed = Deferred.makeUnsafe<void>()
  const tail = new TailBuffer(STDERR_TAIL_BYTES)
  let end: ChildEnd | undefined
  let groupGone = false
  // Attached in the tick of the start: Node throws away what a child wrote before its end where nobody listens.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {})
  stdout.on("readable", () => {})
  stderr.on("data", (chunk: Uint8Array) => {
    tail.push(chunk)
    options.onStderr?.(chunk)
  })
  child.once("exit", (code, signal) => {
    end = { code, signal }
    // From now on its number could be given to another process, once nobody is left in the group.
    groupGone = !groupExists(child.pid)
    Deferred.doneUnsafe(exited, Exit.succeed(end))
  })
  child.once("close", () => {
    Deferred.doneUnsafe(closed, Exit.void)
  })
  const signal = (name: "SIGTERM" | "SIGKILL" | "SIGINT") => {
    const { pid } = child
    if (pid === undefined || groupGone) return
    // The leader has been collected, yet a process has its number: the number is another's now.
    if (end !== undefined && statNow(pid) !== undefined) groupGone = true
    else
      try {
        process.kill(-pid, name)
      } catch {
        groupGone = true
      }
  }
  return {
    pid: child.pid ?? 0,
    read: readChunk(stdout),
    write: (bytes) => writeChunk(stdin, bytes),
    exit: Deferred.await(exited),
    closed: Deferred.await(closed),
    endNow: () => end,
    stderrTail: () => tail.text(),
    end: () => {
      if (!stdin.destroyed) stdin.end()
    },
    dropInput: () => stdin.destroy(),
    signal,
    sweep: (millis) => sweep(options.mark, millis),
    release: () => {
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
      child.unref()
    }
  }
}

const groupExists = (pid: number | undefined) => {
  if (pid === undefined) return false
  try {
    process.kill(-pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}
