/**
 * Threads for scripts. One spare is kept warm, its engine loaded: a short script then ends in a few milliseconds. A thread
 * runs one script and is never used again, so nothing of a script can be there for the next one.
 *
 * base-protocol section 7.
 */
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { type CodeModeBounds, CodeModeLimits } from "./CodeModeLimits.ts"
import type { SandboxFailure } from "./SandboxFailure.ts"
import * as SandboxThread from "./SandboxThread.ts"

/** Starting up is not held up for a spare, and a process that ends at once needs none. */
const SPARE_DELAY_MS = 200

interface Owned {
  readonly thread: SandboxThread.SandboxThread
  readonly end: Effect.Effect<void>
}

export interface SandboxPoolShape {
  readonly bounds: CodeModeBounds
  /** A thread that no script has used: the spare, or a fresh one. It ends with the scope. */
  readonly take: Effect.Effect<SandboxThread.SandboxThread, SandboxFailure, Scope.Scope>
  /** Starts a spare if there is none, without waiting for it: after a script, and when one is likely to come. */
  readonly warm: Effect.Effect<void>
  /** The same a little later, when the process has started and has time. */
  readonly warmSoon: Effect.Effect<void>
  /** Threads that have not ended yet, the spare included. */
  readonly alive: Effect.Effect<number>
}

export class SandboxPool extends Context.Service<SandboxPool, SandboxPoolShape>()(
  "magi-code/agent/code-mode/SandboxPool"
) {
  /** Closing the layer's scope ends every thread. No thread is started before it is asked for. */
  static readonly layer = Layer.effect(
    SandboxPool,
    Effect.suspend(() => make(CodeModeLimits))
  )

  /** With other bounds, for tests. */
  static readonly layerWith = (bounds: CodeModeBounds) => Layer.effect(SandboxPool, make(bounds))
}

const make = (bounds: CodeModeBounds): Effect.Effect<SandboxPoolShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
    let spare: Owned | undefined
    let alive = 0

    /** Starting is synchronous; loading the engine goes on in the thread. */
    const start: Effect.Effect<Owned, SandboxFailure> = Effect.uninterruptible(
      Effect.gen(function* () {
        const own = yield* Scope.fork(scope)
        const ended = () => {
          alive -= 1
        }
        const thread = yield* SandboxThread.start(bounds, ended).pipe(
          Scope.provide(own),
          Effect.onError(() => Scope.close(own, Exit.void))
        )
        alive += 1
        return { thread, end: Scope.close(own, Exit.void) }
      })
    )

    const warm = Effect.suspend(() => {
      if (spare?.thread.isAlive()) return Effect.void
      return start.pipe(
        Effect.flatMap((owned) =>
          Effect.sync(() => {
            spare = owned
          })
        ),
        // Whoever takes a thread next starts one, and learns why it cannot be.
        Effect.ignore
      )
    })

    const acquire = Effect.suspend(() => {
      const taken = spare
      spare = undefined
      return taken?.thread.isAlive() ? Effect.succeed(taken) : start
    })

    return {
      bounds,
      take: Effect.acquireRelease(acquire, (owned) => owned.end).pipe(Effect.map(({ thread }) => thread)),
      warm,
      warmSoon: Effect.asVoid(Effect.forkIn(Effect.delay(warm, SPARE_DELAY_MS), scope)),
      alive: Effect.sync(() => alive)
    }
  })
