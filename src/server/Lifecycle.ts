/** The states of a backend process and what each accepts. base-protocol section 3. */
import type { ErrorCode } from "../protocol/ErrorCode.ts"

export type LifecycleState = "new" | "initializing" | "ready" | "failed" | "closing"

/** Why the process closes, and the exit code that follows when its cleanup keeps to its time. */
export type ClosingCause = "shutdown" | "eof" | "signal" | "oversized_frame" | "transport_failure" | "internal_error"

export const exitCodes: Record<ClosingCause, number> = {
  shutdown: 0,
  eof: 0,
  signal: 0,
  internal_error: 1,
  oversized_frame: 2,
  transport_failure: 3
}

/** The cleanup deadline was exceeded; wins over 0 only. */
export const CLEANUP_EXCEEDED = 4

export class Lifecycle {
  #state: LifecycleState = "new"

  get state(): LifecycleState {
    return this.#state
  }

  /** Check 8 of the order of checks: the code that refuses `method` now, if any. Closing is check 5 and asked for before. */
  refusal(method: string): ErrorCode | undefined {
    if (method === "status" || method === "shutdown") return undefined
    switch (this.#state) {
      case "new":
        return method === "initialize" ? undefined : "not_initialized"
      case "initializing":
        return method === "initialize" ? "already_initialized" : "initializing"
      case "ready":
        return method === "initialize" ? "already_initialized" : undefined
      case "failed":
        return "not_ready"
      case "closing":
        return "shutting_down"
    }
  }

  /** `initialize` passed its preflight. */
  admit(): void {
    if (this.#state === "new") this.#state = "initializing"
  }

  /** Start-up ended. False: closing came first, and whoever closes answers `initialize`. */
  started(outcome: "ready" | "failed"): boolean {
    if (this.#state !== "initializing") return false
    this.#state = outcome
    return true
  }

  /** True for the first cause only. Gives the state that was left. */
  close(): LifecycleState | undefined {
    if (this.#state === "closing") return undefined
    const left = this.#state
    this.#state = "closing"
    return left
  }
}
