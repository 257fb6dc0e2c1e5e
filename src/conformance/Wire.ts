/**
 * One process of the backend under test: its bytes both ways, waiting for its frames, and its end. It ends with its
 * scope, with everything it started.
 */
import { Deferred, Effect, Exit, Latch, type Scope } from "effect"
import type { Environment } from "../platform/Marks.ts"
import { type ChildTransportShape, open } from "../transport/ChildTransport.ts"
import { CaseFailed, fail } from "./CaseEnd.ts"
import type { Frame } from "./Frame.ts"
import { Output } from "./Output.ts"

export interface WireOptions {
  readonly command: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  readonly env: Environment
  readonly mark: string
  /** `#1`, `#2` … in reports. */
  readonly label: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  /** `performance.now()` at the end of the process. */
  readonly at: number
}

export interface Waiting {
  /** Index of the first frame to look at (default 0). */
  readonly from?: number
  /** Milliseconds (default 8000). */
  readonly timeout?: number
}

const WAIT_MS = 8000
const STDERR_CHARACTERS = 2_000_000

export class Wire {
  /** Every valid frame, in order of arrival. */
  readonly frames: ReadonlyArray<Frame>
  /** What was wrong with the output: each of these fails the case. */
  readonly problems: ReadonlyArray<string>
  /** The last frames both ways. */
  readonly log: ReadonlyArray<string>
  stderr = ""
  /** Set when the process has ended; its output may still be on its way. */
  exit: Ended | undefined
  /** The exit code wanted at the end; null: any. */
  wantedExit: number | null = 0
  readonly label: string
  readonly pid: number
  readonly #transport: ChildTransportShape
  readonly #output: Output
  readonly #reading = Latch.makeUnsafe(true)
  readonly #closed = Deferred.makeUnsafe<Ended>()
  readonly #scope: Scope.Scope
  #changed = Deferred.makeUnsafe<void>()
  #partialAllowed = false
  #over = false

  constructor(transport: ChildTransportShape, label: string, scope: Scope.Scope) {
    this.#transport = transport
    this.#scope = scope
    this.label = label
    this.pid = transport.pid
    this.#output = new Output(label)
    this.frames = this.#output.frames
    this.problems = this.#output.problems
    this.log = this.#output.log
  }

  /** Reads until the process and its pipes have ended; runs in a fiber of the scope. */
  get reader(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        yield* this.#reading.await
        const chunk = yield* Effect.orElseSucceed(this.#transport.read, () => null)
        if (chunk === null) break
        this.#output.take(chunk)
        this.#wake()
      }
      yield* this.#transport.closed
      this.#output.end(this.#partialAllowed)
      this.exit ??= this.#ending()
      this.#over = true
      this.#wake()
      Deferred.doneUnsafe(this.#closed, Exit.succeed(this.exit))
    })
  }

  /** Notes when the process ended; runs in a fiber of the scope. */
  get watcher(): Effect.Effect<void> {
    return Effect.map(this.#transport.exit, () => {
      this.exit ??= this.#ending()
      this.#wake()
    })
  }

  #ending(): Ended {
    return { ...(this.#transport.endNow() ?? { code: null, signal: null }), at: performance.now() }
  }

  addStderr(chunk: Uint8Array): void {
    this.stderr = (this.stderr + Buffer.from(chunk).toString()).slice(-STDERR_CHARACTERS)
  }

  #wake(): void {
    const changed = this.#changed
    this.#changed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(changed, Exit.void)
  }

  /** Writes bytes as they are and waits until the pipe has taken them. A process that is gone takes them silently. */
  raw(bytes: string | Uint8Array): Effect.Effect<void> {
    return Effect.suspend(() => {
      const buffer = Buffer.from(bytes)
      this.#output.note("->", buffer)
      return Effect.ignore(this.#transport.write(buffer))
    })
  }

  /** The same without waiting: for a backend that does not read. The order of the writes is kept. */
  send(bytes: string | Uint8Array): Effect.Effect<void> {
    return Effect.asVoid(Effect.forkIn(this.raw(bytes), this.#scope, { startImmediately: true }))
  }

  /** Writes one line: the text, then LF. */
  line(text: string): Effect.Effect<void> {
    return this.raw(`${text}\n`)
  }

  /** Closes its stdin, behind everything written. */
  get eof(): Effect.Effect<void> {
    return Effect.sync(() => this.#transport.end())
  }

  /** Signals its process group. */
  kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Effect.Effect<void> {
    return Effect.sync(() => this.#transport.signal(signal))
  }

  /** Takes nothing from its stdout until `resume`; its pipe then fills. */
  get pause(): Effect.Effect<void> {
    return Effect.asVoid(this.#reading.close)
  }

  get resume(): Effect.Effect<void> {
    return Effect.asVoid(this.#reading.open)
  }

  /** The exit code the case ends with (default 0); null: any. */
  expectExit(code: number | null): void {
    this.wantedExit = code
  }

  /** A transport that failed may stop inside a line. */
  allowPartialLine(): void {
    this.#partialAllowed = true
  }

  /** The first frame, now or within the timeout, that is wanted. */
  until<F extends Frame>(
    test: (frame: Frame) => frame is F,
    what: string,
    waiting?: Waiting
  ): Effect.Effect<F, CaseFailed>
  until(test: (frame: Frame) => boolean, what: string, waiting?: Waiting): Effect.Effect<Frame, CaseFailed>
  until(test: (frame: Frame) => boolean, what: string, { from = 0, timeout = WAIT_MS }: Waiting = {}) {
    const look = Effect.gen({ self: this }, function* () {
      for (let seen = from; ; ) {
        for (; seen < this.frames.length; seen++) {
          const frame = this.frames[seen]
          if (frame !== undefined && test(frame)) return frame
        }
        if (this.#over) {
          const { code, signal } = this.exit ?? { code: null, signal: null }
          return yield* fail(`${what}: the process ended (code ${code}, signal ${signal}) without it`)
        }
        yield* Deferred.await(this.#changed)
      }
    })
    return Effect.timeoutOrElse(look, {
      duration: timeout,
      orElse: () => fail(`${what}: nothing within ${timeout} ms`)
    })
  }

  /** Waits until the process has ended and its output is complete. */
  ended(timeout = 4000): Effect.Effect<Ended, CaseFailed> {
    return Effect.timeoutOrElse(Deferred.await(this.#closed), {
      duration: timeout,
      orElse: () => fail(`${this.label}: the process had not ended after ${timeout} ms`)
    })
  }
}

/** Starts a process; `make` builds the object over it, so that a subclass may. */
export const openWire = <W extends Wire>(
  options: WireOptions,
  make: (transport: ChildTransportShape, label: string, scope: Scope.Scope) => W
): Effect.Effect<W, CaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const [command, ...args] = options.command
    const early: Array<Uint8Array> = []
    let onStderr = (chunk: Uint8Array): void => {
      early.push(chunk)
    }
    const { cwd, env, mark } = options
    const transport = yield* Effect.acquireRelease(
      open({ command, args, cwd, env, mark, onStderr: (chunk) => onStderr(chunk) }),
      (child) =>
        Effect.gen(function* () {
          child.signal("SIGKILL")
          yield* child.sweep(500)
          child.release()
        })
    ).pipe(
      Effect.mapError(
        ({ reason }) => new CaseFailed({ message: `the backend ${command} cannot be started: ${reason}` })
      )
    )
    const wire = make(transport, options.label, yield* Effect.scope)
    for (const chunk of early) wire.addStderr(chunk)
    onStderr = (chunk) => wire.addStderr(chunk)
    yield* Effect.forkScoped(wire.reader)
    yield* Effect.forkScoped(wire.watcher)
    return wire
  })
