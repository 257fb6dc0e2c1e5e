/**
 * The one way in which the backend starts child processes: hooks, bash, MCP servers, ripgrep.
 *
 * A child is the leader of a process group of its own and carries two marks in its environment: the backend's and one
 * of its own. Closing its scope ends the whole group and then whatever still carries the child's mark, also what called
 * `setsid` or forked twice, in bounded time. The variables that hold API keys are never passed on.
 * base-protocol section 3 (Closing), product section 2 (Child processes).
 */
import { type ChildProcess, spawn as spawnProcess } from "node:child_process"
import type { Readable } from "node:stream"
import { Cause, Clock, Context, Data, Deferred, Effect, Layer, type Scope, Stream } from "effect"
import { readChunk, writeChunk } from "../transport/NodeStreams.ts"
import { bounded } from "./Bounded.ts"
import { uuid } from "./Ids.ts"
import { type Environment, sweep, withMarks } from "./Marks.ts"
import { groupRuns, statNow } from "./ProcFs.ts"
import { register, sweepDead, unregister } from "./RunFile.ts"

/** How long SIGTERM is given before SIGKILL, where a command does not say otherwise. */
export const GRACE_MS = 150
/** All that ending a child may take beyond its grace; what is not done then is abandoned and logged. */
const STOP_MS = 700

export interface ChildCommand {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** Added to the backend's environment (which loses its secrets first); may set a secret's name to a literal again. */
  readonly env?: Environment
  /** Absent: stdin is closed from the start. Text or bytes: written, then closed. `open`: the caller writes. */
  readonly input?: string | Uint8Array | { readonly open: true }
  /** Milliseconds from SIGTERM to SIGKILL of the group (default 150; 0: SIGKILL at once). */
  readonly graceMs?: number
}

export interface ChildExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A child could not be started. `reason` is the system's code, such as `ENOENT`. */
export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{
  readonly command: string
  readonly reason: string
}> {}

/** A child takes no more input: it has closed its stdin or is gone. */
export class ChildInputClosed extends Data.TaggedError("ChildInputClosed")<{ readonly reason: string }> {}

export interface Child {
  readonly pid: number
  /** The mark of this child and of what it starts. */
  readonly mark: string
  /**
   * Its output. Ends when every holder of the pipe has closed it, or when the scope closes. To be read once; what is not
   * read stops the child once the pipe is full.
   */
  readonly stdout: Stream.Stream<Uint8Array>
  readonly stderr: Stream.Stream<Uint8Array>
  /** Waits until the child's pipe has taken the bytes. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, ChildInputClosed>
  /** Closes its stdin. */
  readonly end: Effect.Effect<void>
  /** Waits for the end of the child itself; its descendants may hold the output longer. */
  readonly exit: Effect.Effect<ChildExit>
  /** Ends the group and what carries the child's mark; what closing the scope does. May be run more than once. */
  readonly stop: Effect.Effect<void>
}

export interface ChildrenShape {
  /** Starts a child that ends with the scope. Nothing of it survives the closing, except what hides from group and mark. */
  readonly spawn: (command: ChildCommand) => Effect.Effect<Child, SpawnFailed, Scope.Scope>
  /** Sweeps what killed backends of the same home left behind; runs once, before the first child at the latest. */
  readonly recover: Effect.Effect<void>
}

export interface ChildrenOptions {
  /** The mark of this backend: its instance id. */
  readonly mark: string
  /** `$MC_HOME`. Nothing is written there before the first child is started. */
  readonly home: string
  /** Names of the variables that children never get. */
  readonly secretEnv: ReadonlySet<string>
  /** The environment to pass on (default: this process's). */
  readonly env?: Environment
}

export class Children extends Context.Service<Children, ChildrenShape>()("magi-code/platform/Children") {
  /** Closing the layer sweeps the backend's mark and takes its run file away. */
  static readonly layer = (options: ChildrenOptions): Layer.Layer<Children> => Layer.effect(Children, make(options))
}

const make = Effect.fnUntraced(function* (options: ChildrenOptions) {
  const recover = yield* Effect.cached(Effect.asVoid(bounded(sweepDead(options.home), 1_000)))
  let registered = false
  const registerOnce = yield* Effect.cached(
    register(options.home, options.mark).pipe(
      Effect.tap(() => Effect.sync(() => (registered = true))),
      Effect.catch(() => Effect.logWarning("cannot write to $MC_HOME/run: a killed backend could not be swept"))
    )
  )
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      if (!registered) return
      yield* bounded(Effect.andThen(sweep(options.mark), unregister(options.home, options.mark)), STOP_MS)
    })
  )
  const environment = (): Environment => {
    const entries = Object.entries(options.env ?? process.env)
    return Object.fromEntries(entries.filter(([name]) => !options.secretEnv.has(name)))
  }
  const spawn = Effect.fnUntraced(function* (command: ChildCommand) {
    yield* recover
    yield* registerOnce
    const mark = `child-${yield* uuid}`
    const env = withMarks({ ...environment(), ...command.env }, options.mark, mark)
    return yield* Effect.acquireRelease(start(command, env, mark), (child) => close(child, command))
  })
  return Children.of({ spawn: (command) => Effect.map(spawn(command), (running) => running.child), recover })
})

/** What is known of a child's process group. */
interface Group {
  leaderRuns: boolean
  /** Nobody is left in it: its number must not be signalled any more. */
  gone: boolean
}

interface Running {
  readonly child: Child
  readonly process: ChildProcess
}

const start = (command: ChildCommand, env: Environment, mark: string): Effect.Effect<Running, SpawnFailed> =>
  Effect.callback((resume) => {
    const failed = (error: unknown) =>
      resume(Effect.fail(new SpawnFailed({ command: command.command, reason: codeOf(error) })))
    let child: ChildProcess
    try {
      child = spawnProcess(command.command, command.args, {
        cwd: command.cwd,
        env,
        detached: true,
        windowsHide: true,
        stdio: [command.input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
      })
    } catch (error) {
      return failed(error)
    }
    const exited = Deferred.makeUnsafe<ChildExit>()
    const group: Group = { leaderRuns: true, gone: false }
    // Attached in the same tick: Node throws away what a child wrote before its end where nobody listens.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {})
    for (const stream of [child.stdout, child.stderr]) stream?.on("readable", () => {})
    child.once("exit", (code, signal) => {
      group.leaderRuns = false
      // From now on the number could be given to another process, once nobody is left in the group.
      group.gone = child.pid === undefined || !groupExists(child.pid)
      Deferred.doneUnsafe(exited, Effect.succeed({ code, signal }))
    })
    child.once("error", failed)
    child.once("spawn", () => {
      child.off("error", failed)
      child.on("error", () => {})
      if (typeof command.input === "string" || command.input instanceof Uint8Array) child.stdin?.end(command.input)
      const pid = child.pid ?? 0
      resume(
        Effect.succeed({
          process: child,
          child: {
            pid,
            mark,
            stdout: outputOf(child.stdout),
            stderr: outputOf(child.stderr),
            write: (bytes) =>
              child.stdin === null
                ? Effect.fail(new ChildInputClosed({ reason: "EPIPE" }))
                : Effect.mapError(
                    writeChunk(child.stdin, bytes),
                    (error) => new ChildInputClosed({ reason: error.reason })
                  ),
            end: Effect.sync(() => child.stdin?.end()),
            exit: Deferred.await(exited),
            stop: stop(pid, group, Deferred.await(exited), mark, command.graceMs ?? GRACE_MS)
          }
        })
      )
    })
  })

const codeOf = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown"

const outputOf = (readable: Readable | null): Stream.Stream<Uint8Array> =>
  readable === null
    ? Stream.empty
    : Stream.fromPull(
        Effect.succeed(
          readChunk(readable).pipe(
            Effect.orElseSucceed(() => null),
            Effect.flatMap((chunk) => (chunk === null ? Cause.done() : Effect.succeed<[Uint8Array]>([chunk])))
          )
        )
      )

const groupExists = (pid: number) => {
  try {
    process.kill(-pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}

/** Signals the group of a child, if the number is still the child's: its leader runs, or only its descendants do. */
const signalGroup = (pid: number, group: Group, signal: NodeJS.Signals) => {
  // The leader has been collected, yet a process has its number: the number is another's now.
  if (!group.leaderRuns && statNow(pid) !== undefined) group.gone = true
  if (group.gone) return
  try {
    process.kill(-pid, signal)
  } catch {
    group.gone = true
  }
}

const stop = (pid: number, group: Group, exit: Effect.Effect<ChildExit>, mark: string, graceMs: number) =>
  Effect.gen(function* () {
    const waitForLeader = (millis: number) =>
      group.leaderRuns ? Effect.asVoid(Effect.timeoutOption(Effect.interruptible(exit), millis)) : Effect.void
    if (graceMs > 0) {
      const until = (yield* Clock.currentTimeMillis) + graceMs
      signalGroup(pid, group, "SIGTERM")
      yield* waitForLeader(graceMs)
      // Its descendants get what is left of the grace.
      while (!group.gone && (yield* Clock.currentTimeMillis) < until && (yield* Effect.promise(() => groupRuns(pid)))) {
        yield* Effect.sleep(10)
      }
    }
    signalGroup(pid, group, "SIGKILL")
    yield* waitForLeader(250)
    yield* sweep(mark)
  })

const close = ({ child, process }: Running, command: ChildCommand): Effect.Effect<void> =>
  Effect.gen(function* () {
    const done = yield* bounded(child.stop, (command.graceMs ?? GRACE_MS) + STOP_MS)
    if (!done) yield* Effect.logWarning("a child process did not end in time and was abandoned")
    // A descendant that hides from group and mark may still hold the pipes: nobody waits for it.
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.destroy()
    process.unref()
  })
