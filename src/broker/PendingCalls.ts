/**
 * The pending client calls, and the one transition that ends one.
 *
 *     registered -> published -> settled(accepted | timeout | cancelled | run_finished | shutdown | failed)
 *
 * A slot *is* an entry of the map, so "taken slots = pending calls" needs no second counter and cannot drift: `register`
 * takes one of the 16 without waiting, and removing the entry is the release. Everything here is synchronous. What can end
 * a call (a reply, the deadline, a cancellation, closing) goes through `settle` and learns whether it won; "stale" is
 * absence from this map, not a memory of finished ids.
 *
 * The order inside a settlement matters: first the entry goes (the slot is free, the losers see a settled call), then the
 * acknowledgement or the cancel notice takes its place in the writer, then the waiting fiber is told. Completing a
 * Deferred runs its waiter at once, and that waiter may call again: by then the state is final.
 *
 * client-tools (Cancellation and permissions); base-protocol section 6.
 */
import { Deferred, Exit } from "effect"
import type { CallIdentity } from "../protocol/CallIdentity.ts"
import type { CancelReason } from "../protocol/ErrorCode.ts"
import type { ToolFailure } from "../tools/Tool.ts"
import type { Place } from "../transport/FrameWriter.ts"
import type { ResultValue } from "./ProtectedResult.ts"

/** A reply that won: protected already. */
export interface AcceptedReply extends ResultValue {
  readonly status: "success" | "error"
}

/** How a pending call ended. Exactly one a call. */
export type Ending =
  | { readonly _tag: "Accepted"; readonly reply: AcceptedReply }
  | { readonly _tag: "Cancelled"; readonly reason: CancelReason }
  /** It failed inside the backend before it was published: its start could not be recorded, or its frame is too large. */
  | { readonly _tag: "Failed"; readonly failure: ToolFailure }

export interface PendingCall {
  readonly identity: CallIdentity
  readonly ending: Deferred.Deferred<Ending>
  /** Monotonic nanoseconds, set once, just before publishing; `undefined` before. */
  deadline: bigint | undefined
  /** Whether its event has taken its place in the writer. Before that, neither event nor cancel is sent. */
  published: boolean
}

export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>()
  readonly #capacity: number
  readonly #placeCancel: (identity: CallIdentity, reason: CancelReason) => void
  #closed = false

  /** `placeCancel` gives a `client.tool.cancel` its place in the writer, synchronously. */
  constructor(options: {
    readonly capacity: number
    readonly placeCancel: (identity: CallIdentity, reason: CancelReason) => void
  }) {
    this.#capacity = options.capacity
    this.#placeCancel = options.placeCancel
  }

  get size(): number {
    return this.#calls.size
  }

  /** Takes a slot, or says why not. Never waits: a seventeenth call has no queue to stand in. */
  register(identity: CallIdentity): PendingCall | "busy" | "closed" {
    if (this.#closed) return "closed"
    if (this.#calls.size >= this.#capacity) return "busy"
    const call: PendingCall = { identity, ending: Deferred.makeUnsafe(), deadline: undefined, published: false }
    this.#calls.set(identity.call_id, call)
    return call
  }

  isPending(call: PendingCall): boolean {
    return this.#calls.get(call.identity.call_id) === call
  }

  /**
   * Fixes the deadline and publishes, in one step with the check that nothing has settled the call meanwhile.
   * `place` gives the event its place in the writer and says what became of it.
   */
  publish(call: PendingCall, deadline: bigint, place: () => Place["_tag"]): Place["_tag"] | "Settled" {
    if (!this.isPending(call)) return "Settled"
    call.deadline = deadline
    const placed = place()
    call.published = placed === "Placed"
    return placed
  }

  /** The published call with this id whose deadline has not passed at `now`; whether the rest matches is the caller's to check. */
  find(callId: string, now: bigint): PendingCall | undefined {
    const call = this.#calls.get(callId)
    return call?.published && call.deadline !== undefined && now < call.deadline ? call : undefined
  }

  /** Ends the call, if nothing has yet. `acknowledge` places the response to an accepted reply in the same step. */
  settle(call: PendingCall, ending: Ending, acknowledge?: () => void): boolean {
    if (!this.isPending(call)) return false
    this.#calls.delete(call.identity.call_id)
    acknowledge?.()
    this.#notify(call, ending)
    Deferred.doneUnsafe(call.ending, Exit.succeed(ending))
    return true
  }

  /** Ends every pending call that `which` names, in one step: all entries and notices first, then the waiting fibers. */
  settleAll(reason: CancelReason, which: (call: PendingCall) => boolean = () => true): number {
    const ended = [...this.#calls.values()].filter(which)
    const ending: Ending = { _tag: "Cancelled", reason }
    for (const call of ended) this.#calls.delete(call.identity.call_id)
    for (const call of ended) this.#notify(call, ending)
    for (const call of ended) Deferred.doneUnsafe(call.ending, Exit.succeed(ending))
    return ended.length
  }

  /** Closing: no call is registered any more, and all that are pending end with `shutdown`. */
  close(): number {
    this.#closed = true
    return this.settleAll("shutdown")
  }

  #notify(call: PendingCall, ending: Ending): void {
    if (ending._tag === "Cancelled" && call.published) this.#placeCancel(call.identity, ending.reason)
  }
}
