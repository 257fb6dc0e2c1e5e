/**
 * The 4096 request ids of a process. Every frame that reaches the envelope check uses one, also when it fails there or is
 * a duplicate; after the last, nothing is executed. base-protocol section 2.
 */
import { Limits } from "../protocol/Limits.ts"

export type IdVerdict = "fresh" | "duplicate_id" | "request_limit"

export class RequestIds {
  readonly #seen = new Set<string>()
  #used = 0

  /** How many are used; the `requests_used` of `status`. */
  get used(): number {
    return this.#used
  }

  /** Spends one for a frame whose id could be read, or could not (`null`). */
  spend(id: string | null): IdVerdict {
    if (this.#used >= Limits.request_ids) return "request_limit"
    this.#used += 1
    if (id === null) return "fresh"
    if (this.#seen.has(id)) return "duplicate_id"
    this.#seen.add(id)
    return "fresh"
  }
}
