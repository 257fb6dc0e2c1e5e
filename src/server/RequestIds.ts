/**
 * The 4096 request ids of a process. Every frame that reaches the envelope check uses one, also when it fails there or is
 * a duplicate; after the last, nothing is executed. base-protocol section 2.
 */
import { Limits } from "../protocol/Limits.ts"

export type IdVerdict = "fresh" | "duplicate_id" | "request_limit"

/** A power of two, at most half full: a free slot is found in a few steps. */
const SLOTS = 2 ** Math.ceil(Math.log2(Limits.request_ids * 2))

/**
 * Remembers each id of the process, exactly: an id is ASCII of at most 128 bytes (`protocol/Ids.ts`). As strings in a `Set`
 * they would be the largest thing that a call leaves on the heap; here they lie one behind the other, each after its length.
 */
export class RequestIds {
  #bytes = new Uint8Array(4096)
  #end = 0
  /** Where an id begins in `#bytes`, plus one; 0 is an empty slot. */
  readonly #slots = new Uint32Array(SLOTS)
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
    const slot = this.#slotOf(id)
    if (this.#slots[slot] !== 0) return "duplicate_id"
    this.#slots[slot] = this.#append(id) + 1
    return "fresh"
  }

  /** The slot that holds this id, or the empty one that would. */
  #slotOf(id: string): number {
    let slot = hash(id) & (SLOTS - 1)
    for (let at = this.#slots[slot]; at !== undefined && at !== 0; at = this.#slots[slot]) {
      if (this.#isAt(at - 1, id)) break
      slot = (slot + 1) & (SLOTS - 1)
    }
    return slot
  }

  #isAt(at: number, id: string): boolean {
    if (this.#bytes[at] !== id.length) return false
    for (let n = 0; n < id.length; n++) if (this.#bytes[at + 1 + n] !== id.charCodeAt(n)) return false
    return true
  }

  #append(id: string): number {
    const at = this.#end
    const end = at + 1 + id.length
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, end))
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes[at] = id.length
    for (let n = 0; n < id.length; n++) this.#bytes[at + 1 + n] = id.charCodeAt(n)
    this.#end = end
    return at
  }
}

/** FNV-1a. Whoever makes ids collide on purpose makes 4096 of them a little slower. */
const hash = (id: string): number => {
  let value = 0x811c9dc5
  for (let n = 0; n < id.length; n++) value = Math.imul(value ^ id.charCodeAt(n), 0x01000193)
  return value >>> 0
}
