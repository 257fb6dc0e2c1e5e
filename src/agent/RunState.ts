/**
 * What one run knows about its own end, and the one transition into it: the first cause to stop it wins.
 *
 * Nothing here waits, so that a `turn.cancel` has taken its effect before the next request is looked at.
 * base-protocol sections 4 (`turn.cancel`), 5 (required appends, usage) and 6 (what an ending becomes).
 */
import { Deferred, Effect, Exit } from "effect"
import type { RunFailureCode } from "../protocol/ErrorCode.ts"
import type { TokenUsage } from "../store/SessionRecord.ts"

/** Why a run is stopped before its model had the last word. */
export type Stop =
  | { readonly _tag: "Cancelled" }
  /** The process closes: endings are `interrupted`. */
  | { readonly _tag: "Closing" }
  | { readonly _tag: "Failed"; readonly code: RunFailureCode; readonly message: string }

export class RunState {
  readonly runId: string
  readonly sessionId: string
  /** Completed when the run is to stop, after what had to be settled has been. */
  readonly stopped = Deferred.makeUnsafe<Stop>()
  #stop: Stop | undefined
  #final = false
  #ended = false
  #degraded = false
  #responses = 0
  #usage: TokenUsage | null = null
  readonly #turnSteps: number
  readonly #onStop: (stop: Stop) => Effect.Effect<void>

  /** `onStop` settles what is pending and interrupts the work, without waiting for anything. */
  constructor(options: {
    readonly runId: string
    readonly sessionId: string
    /** Model responses in the run, subagents included (product section 2, `limits.turn_steps`). */
    readonly turnSteps: number
    readonly onStop: (stop: Stop) => Effect.Effect<void>
  }) {
    this.runId = options.runId
    this.sessionId = options.sessionId
    this.#turnSteps = options.turnSteps
    this.#onStop = options.onStop
  }

  get stop(): Stop | undefined {
    return this.#stop
  }

  /** Stops the run. False: it was stopped before, or its final append has begun, which decided it. */
  halt(stop: Stop): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.#stop || this.#final || this.#ended) return Effect.succeed(false)
      this.#stop = stop
      return Effect.map(this.#onStop(stop), () => {
        Deferred.doneUnsafe(this.stopped, Exit.succeed(stop))
        return true
      })
    })
  }

  /** The final append begins: from here on a cancel comes too late. False: the run was stopped before. */
  beginFinal(): boolean {
    if (this.#stop) return false
    this.#final = true
    return true
  }

  /** A required append could not be made (section 5). */
  persistenceFailed(message: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#degraded = true
      // Where the final append itself is what failed, the decision is taken back.
      this.#final = false
      return Effect.asVoid(this.halt({ _tag: "Failed", code: "persistence_failed", message }))
    })
  }

  /** Something best effort was not written. */
  degrade(): void {
    this.#degraded = true
  }

  get degraded(): boolean {
    return this.#degraded
  }

  /** Counts a model request; false when the run has had all its responses. */
  takeStep(): boolean {
    if (this.#responses >= this.#turnSteps) return false
    this.#responses += 1
    return true
  }

  addUsage(usage: TokenUsage | null): void {
    if (usage === null) return
    this.#usage = {
      input_tokens: (this.#usage?.input_tokens ?? 0) + usage.input_tokens,
      output_tokens: (this.#usage?.output_tokens ?? 0) + usage.output_tokens
    }
  }

  /** The sum over all responses; `null` when none told any. */
  get usage(): TokenUsage | null {
    return this.#usage
  }

  /** `run.finished` takes its place now: abandoned work changes nothing any more. */
  end(): void {
    this.#ended = true
  }

  get ended(): boolean {
    return this.#ended
  }
}
