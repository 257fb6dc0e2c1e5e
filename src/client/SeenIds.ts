/**
 * Which call ids were seen, exactly, in little memory: a call id is a UUID (client-tools, Execute and reply), and 8192 of
 * them as strings in a `Set` would grow the heap by 72 bytes a call. Here a UUID takes its 128 bits in a table that is made
 * once; anything else is remembered as it is. product section 5, Calls.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A set of call ids that never forgets, in little memory. */
export class SeenIds {
  readonly #slots: number
  readonly #others = new Set<string>()
  /** Two words a slot; both 0 is an empty one. Made with the first UUID. */
  #table: BigUint64Array | undefined
  #size = 0

  /** `most`: how many ids will be added at the most. */
  constructor(most: number) {
    // A power of two, at most half full: a free slot is found in a few steps.
    this.#slots = 2 ** Math.ceil(Math.log2(most * 2))
  }

  get size(): number {
    return this.#size
  }

  has(id: string): boolean {
    const words = wordsOf(id)
    if (words === undefined) return this.#others.has(id)
    return this.#table !== undefined && this.#slotOf(this.#table, words).taken
  }

  /** Adds an id that is not there yet. */
  add(id: string): void {
    this.#size += 1
    const words = wordsOf(id)
    if (words === undefined) {
      this.#others.add(id)
      return
    }
    this.#table ??= new BigUint64Array(this.#slots * 2)
    const { at } = this.#slotOf(this.#table, words)
    this.#table[at] = words[0]
    this.#table[at + 1] = words[1]
  }

  /** The slot that holds these words, or the empty one that would. */
  #slotOf(table: BigUint64Array, [high, low]: Words): { readonly at: number; readonly taken: boolean } {
    const mask = this.#slots - 1
    for (let slot = Number(low & BigInt(mask)); ; slot = (slot + 1) & mask) {
      const at = slot * 2
      if (table[at] === high && table[at + 1] === low) return { at, taken: true }
      if (table[at] === 0n && table[at + 1] === 0n) return { at, taken: false }
    }
  }
}

type Words = readonly [bigint, bigint]

/** A UUID's 128 bits; `undefined` for other ids, and for the nil UUID, which looks like an empty slot. */
const wordsOf = (id: string): Words | undefined => {
  if (!UUID.test(id)) return undefined
  const hex = id.replaceAll("-", "")
  const high = BigInt(`0x${hex.slice(0, 16)}`)
  const low = BigInt(`0x${hex.slice(16)}`)
  return high === 0n && low === 0n ? undefined : [high, low]
}
