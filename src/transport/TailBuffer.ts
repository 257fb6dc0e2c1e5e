/** Keeps the end of a byte stream in bounded memory. */

/** The last `limit` bytes pushed. */
export class TailBuffer {
  readonly #limit: number
  #chunks: Array<Uint8Array> = []
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    const kept = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk
    // A copy: a small rest of a large chunk must not keep the chunk alive.
    this.#chunks.push(kept.slice())
    this.#size += kept.length
    while (this.#size > this.#limit) {
      const first = this.#chunks.shift()
      if (first === undefined) return
      const over = this.#size - this.#limit
      if (first.length > over) this.#chunks.unshift(first.subarray(over))
      this.#size -= Math.min(first.length, over)
    }
  }

  /** The bytes as text; where the beginning was cut inside a character, the rest of that character is left out. */
  text(): string {
    const bytes = new Uint8Array(this.#size)
    let at = 0
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    let from = 0
    if (this.#size === this.#limit) while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1
    return new TextDecoder().decode(bytes.subarray(from))
  }
}
