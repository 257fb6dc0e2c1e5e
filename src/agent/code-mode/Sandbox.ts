/**
 * Runs scripts: each in a thread and an engine of its own, with nothing of the host in reach but the calls it may make.
 *
 * base-protocol section 7.
 */
import { Buffer } from "node:buffer"
import { Clock, Context, Effect, Exit, Layer, Result, Semaphore } from "effect"
import type { Json } from "../../protocol/Json.ts"
import * as StrictJson from "../../protocol/StrictJson.ts"
import type { AgentTool } from "../../tools/Tool.ts"
import { RETURNED_DEPTH, SCRIPTS_AT_ONCE } from "./CodeModeLimits.ts"
import * as InnerCalls from "./InnerCalls.ts"
import type { FromScript } from "./Messages.ts"
import * as Failure from "./SandboxFailure.ts"
import { SandboxPool, type SandboxPoolShape } from "./SandboxPool.ts"
import type { SandboxThread } from "./SandboxThread.ts"

/** What a script may reach: `NestedCalls` has this shape. */
export interface CodeModeHost {
  readonly tools: ReadonlyArray<Pick<AgentTool, "name" | "description" | "inputSchema">>
  readonly call: InnerCalls.Call
}

export interface SandboxShape {
  /**
   * Runs the body of an async function and gives what it returned, `null` for nothing. When it has ended in any way,
   * interruption included, its thread is gone and its unfinished calls are cancelled.
   */
  readonly run: (script: {
    readonly code: string
    readonly host: CodeModeHost
  }) => Effect.Effect<Json, Failure.SandboxFailure>
  /** Has the first script start faster: one may come. Does not wait. */
  readonly warmSoon: Effect.Effect<void>
}

export class Sandbox extends Context.Service<Sandbox, SandboxShape>()("magi-code/agent/code-mode/Sandbox") {
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.suspend(() => Effect.map(SandboxPool, make))
  )
}

const make = (pool: SandboxPoolShape): SandboxShape => {
  const { bounds } = pool
  const places = Semaphore.makeUnsafe(SCRIPTS_AT_ONCE)

  const returned = (text: string): Effect.Effect<Json, Failure.SandboxFailure> => {
    const value = StrictJson.parse(text, { maxDepth: RETURNED_DEPTH })
    if (Result.isSuccess(value)) return Effect.succeed(value.success)
    return Effect.fail(
      value.failure.rule === "depth" ? Failure.returnedTooDeep : Failure.returnedNotJson(value.failure.message)
    )
  }

  /** Follows a script to its end. */
  const follow = (thread: SandboxThread, calls: InnerCalls.InnerCalls): Effect.Effect<Json, Failure.SandboxFailure> =>
    Effect.gen(function* () {
      for (;;) {
        const message: FromScript = yield* thread.next
        if (message.type === "call") yield* calls.start(message, thread.send)
        if (message.type === "returned") return yield* returned(message.value)
        if (message.type === "failed") return yield* Failure.ofThread(message, bounds)
      }
    })

  return {
    warmSoon: pool.warmSoon,
    run: Effect.fn("code_mode.script")(function* ({ code, host }) {
      if (Buffer.byteLength(code) > bounds.source_bytes) return yield* Failure.sourceTooLarge(bounds)
      const began = yield* Clock.monotonicTimeNanos
      const script = Effect.gen(function* () {
        // The thread is the later one, so it ends first: nothing of the script runs while its calls are cancelled.
        const calls = yield* InnerCalls.make(bounds, host.call)
        const thread = yield* pool.take
        yield* thread.ready
        const spent = Number((yield* Clock.monotonicTimeNanos) - began) / 1_000_000
        const tools = host.tools.map(({ description, inputSchema, name }) => ({
          name,
          description,
          schema: JSON.stringify(inputSchema)
        }))
        yield* thread.send({ type: "run", code, tools, bounds, ms: Math.max(0, bounds.time_ms - spent) })
        return yield* follow(thread, calls)
      })
      return yield* places
        .withPermits(1)(Effect.scoped(script))
        .pipe(
          Effect.timeoutOrElse({ duration: bounds.time_ms, orElse: () => Effect.fail(Failure.outOfTime(bounds)) }),
          // Where one script ran another may follow; not so in a run that was cancelled.
          Effect.onExit((exit) => (Exit.hasInterrupts(exit) ? Effect.void : pool.warm))
        )
    })
  }
}
