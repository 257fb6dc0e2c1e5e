/**
 * The calls that a client executes, and the one step in which each of them ends. Whatever can end a call (its handler, the
 * agent's cancel, the deadline, a loss, the end of the run, closing) goes through `settle` and learns whether it won.
 * Everything here is synchronous. product section 5, Calls.
 */
import { type CallIdentity, same } from "../protocol/CallIdentity.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { SeenIds } from "./SeenIds.ts"
import type { Ending } from "./ToolCall.ts"

/** Bodies that run at once; cancelled ones that are still finalizing do not count. */
export const MOST_RUNNING = ClientToolLimits.pending_calls
/** Handler fibers in all, finalizing ones included. */
export const MOST_FIBERS = 32
/** Call ids that are remembered; more from one child is transport loss. */
export const MOST_REMEMBERED = 8192

/** Who ended a call. */
export type Winner = "completed" | Ending

/** One call that was admitted. */
export interface CallEntry {
  readonly identity: CallIdentity
  readonly name: string
  /** Monotonic nanoseconds; no handler starts and no reply goes after it. */
  readonly deadline: bigint
  /** Undefined while the handler may still win. */
  winner: Winner | undefined
  /** Interrupts the handler's fiber; set once it has one. */
  interrupt: () => void
  /** Stops what waits for the deadline, and later what waits for the finalizers. */
  stopTimer: () => void
}

/** Whether a call may run now; `Busy` is answered with an `error` reply. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly entry: CallEntry }
  /** 16 bodies run, or 32 fibers are alive: an `error` reply, no waiting. */
  | { readonly _tag: "Busy" }

/** The calls of one connection: at most 16 running bodies, 32 fibers alive, and each id once. Synchronous. */
export class CallTable {
  readonly #calls = new Map<string, CallEntry>()
  readonly #seen = new SeenIds(MOST_REMEMBERED)
  #running = 0
  /** `pending_calls` as announced, where that is lower than ours. */
  mostRunning: number = MOST_RUNNING

  /** Remembers a call id. `seen`: it is never executed or answered again; `full`: no more can be remembered. */
  remember(callId: string): "new" | "seen" | "full" {
    if (this.#seen.has(callId)) return "seen"
    if (this.#seen.size >= MOST_REMEMBERED) return "full"
    this.#seen.add(callId)
    return "new"
  }

  admit(identity: CallIdentity, name: string, deadline: bigint): Admission {
    if (this.#running >= this.mostRunning || this.#calls.size >= MOST_FIBERS) return { _tag: "Busy" }
    const entry: CallEntry = {
      identity,
      name,
      deadline,
      winner: undefined,
      interrupt: () => {},
      stopTimer: () => {}
    }
    this.#calls.set(identity.call_id, entry)
    this.#running += 1
    return { _tag: "Admitted", entry }
  }

  /** The running call with exactly this identity. */
  find(identity: CallIdentity): CallEntry | undefined {
    const entry = this.#calls.get(identity.call_id)
    return entry !== undefined && entry.winner === undefined && same(entry.identity, identity) ? entry : undefined
  }

  /** Ends a call. True: `winner` is the one that did; false: another was first. */
  settle(entry: CallEntry, winner: Winner): boolean {
    if (entry.winner !== undefined) return false
    entry.winner = winner
    this.#running -= 1
    entry.stopTimer()
    return true
  }

  /** The handler's fiber has ended, or is abandoned: it counts no more. True: it did count. */
  leave(entry: CallEntry): boolean {
    if (!this.isAlive(entry)) return false
    this.#calls.delete(entry.identity.call_id)
    entry.stopTimer()
    return true
  }

  /** False once its fiber has ended or was abandoned. */
  isAlive(entry: CallEntry): boolean {
    return this.#calls.get(entry.identity.call_id) === entry
  }

  /** The calls whose handler has not ended yet, finalizing ones included. */
  get alive(): ReadonlyArray<CallEntry> {
    return [...this.#calls.values()]
  }

  get running(): number {
    return this.#running
  }
}
