/**
 * Requests of one agent: fresh ids with their reserve, and one settlement for each. Every member is synchronous, so that
 * an answer takes effect before the next frame is looked at. base-protocol section 2; product section 5, Ids.
 */
import { Buffer } from "node:buffer"
import * as CompactJson from "../protocol/CompactJson.ts"
import type { ServerFrame } from "../protocol/Envelope.ts"
import * as Envelope from "../protocol/Envelope.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { Limits } from "../protocol/Limits.ts"
import { LimitExceeded, RequestFailed, RequestIdsExhausted } from "./AgentErrors.ts"
import type { TransportLost } from "./TransportLost.ts"

/** So many ids are kept for a running turn: with so many left, no new turn starts. */
export const TURN_RESERVE = 64
/** So many are kept for `turn.cancel` and `shutdown`: with so many left, the turn is given up. */
export const LAST_RESERVE = 2

/**
 * What a request may use of the ids: `ordinary` ones leave the reserve of a turn alone, `reply` ones (results and answers to
 * approvals) the last two, `last` ones nothing.
 */
export type IdUse = "ordinary" | "reply" | "last"

/** What came of a request that was sent. */
export type Answer =
  | { readonly _tag: "Success"; readonly result: JsonObject }
  | { readonly _tag: "Failure"; readonly error: RequestFailed }
  | { readonly _tag: "Lost"; readonly error: TransportLost }

/** Why a request was not sent. `undefined`: it was. */
export type NotSent = RequestIdsExhausted | LimitExceeded | "closed"

interface Pending {
  readonly method: string
  readonly settle: (answer: Answer) => void
}

const reserves: Readonly<Record<IdUse, number>> = { ordinary: TURN_RESERVE, reply: LAST_RESERVE, last: 0 }

/** The requests of one connection: ids, bounds, and who waits. Synchronous. */
export class Requests {
  readonly #place: (envelope: string) => boolean
  readonly #pending = new Map<string, Pending>()
  #spent = 0
  #idLimit: number = Limits.request_ids
  #frameLimit: number = Limits.input_frame_bytes
  #depthLimit: number = Limits.json_depth
  /** Called once, in the step that leaves only the last reserve. */
  onLastReserve: () => void = () => {}

  constructor(place: (envelope: string) => boolean) {
    this.#place = place
  }

  /** Keeps the limits that the agent announced, where they are lower than ours. */
  announce(limits: { readonly request_ids: number; readonly input_frame_bytes: number; readonly json_depth: number }) {
    this.#idLimit = Math.min(this.#idLimit, limits.request_ids)
    this.#frameLimit = Math.min(this.#frameLimit, limits.input_frame_bytes)
    this.#depthLimit = Math.min(this.#depthLimit, limits.json_depth)
  }

  /** Ids that are not used yet. */
  get left(): number {
    return this.#idLimit - this.#spent
  }

  exhausted(): RequestIdsExhausted {
    return new RequestIdsExhausted({ left: Math.max(0, this.left), limit: this.#idLimit })
  }

  /** Why a request would not fit the frame; its id is not used then. */
  tooLarge(method: string, params: JsonObject): LimitExceeded | undefined {
    return this.#measure(Envelope.request({ id: "r".padEnd(8, "0"), method, params }), method, params)
  }

  #measure(envelope: string, method: string, params: JsonObject): LimitExceeded | undefined {
    // The envelope is one container around the params.
    if (CompactJson.depth(params) + 1 > this.#depthLimit) {
      return new LimitExceeded({
        limit: "json_depth",
        reason: `${method} is nested more than ${this.#depthLimit} deep`
      })
    }
    return Buffer.byteLength(envelope) > this.#frameLimit
      ? new LimitExceeded({ limit: "input_frame_bytes", reason: `${method} is over ${this.#frameLimit} bytes` })
      : undefined
  }

  /** Sends a request; `settle` is called exactly once if it was sent. */
  send(
    method: string,
    params: JsonObject,
    use: IdUse,
    settle: (answer: Answer) => void = () => {}
  ): NotSent | undefined {
    if (this.left <= reserves[use]) return this.exhausted()
    const id = `r${this.#spent + 1}`
    const envelope = Envelope.request({ id, method, params })
    const large = this.#measure(envelope, method, params)
    if (large) return large
    if (!this.#place(envelope)) return "closed"
    this.#spent += 1
    this.#pending.set(id, { method, settle })
    if (this.left === LAST_RESERVE) this.onLastReserve()
    return undefined
  }

  /** Settles the request that a response answers. False: there is none (a response to nothing). */
  answer(frame: Exclude<ServerFrame, { readonly _tag: "Event" }>): boolean {
    const pending = frame.id === null ? undefined : this.#pending.get(frame.id)
    if (frame.id === null || pending === undefined) return false
    this.#pending.delete(frame.id)
    if (frame._tag === "Success") pending.settle({ _tag: "Success", result: frame.result })
    else {
      const { code, message, path } = frame.error
      pending.settle({
        _tag: "Failure",
        error: new RequestFailed({
          method: pending.method,
          code,
          reason: message,
          ...(path === undefined ? {} : { path })
        })
      })
    }
    return true
  }

  /** Settles everything with the loss. What settles may look at this: nothing is pending any more. */
  lose(error: TransportLost): void {
    const all = [...this.#pending.values()]
    this.#pending.clear()
    for (const pending of all) pending.settle({ _tag: "Lost", error })
  }
}
