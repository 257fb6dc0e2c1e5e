/**
 * Splits bytes into frames: only LF separates, and the bound is enforced as bytes arrive, also when no LF ever comes.
 * Characters are not decoded here, so a chunk may end anywhere. base-protocol section 1.
 */

/** What a chunk completed. Frames before an oversized one are whole and are dispatched before it closes anything. */
export interface Frames {
  readonly frames: ReadonlyArray<Uint8Array>
  /** The frame that is arriving has more bytes than the bound: fatal, nothing after it is read. */
  readonly oversized: boolean
}

const LF = 0x0a

/** An incremental splitter. Holds at most `limit` bytes of the frame that is arriving. */
export class FrameReader {
  readonly #limit: number
  #parts: Array<Uint8Array> = []
  #size = 0
  #oversized = false

  /** `limit`: bytes of a frame before its LF. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** True while an incomplete frame is held; at EOF it is dropped unexecuted (a frame is *followed* by LF). */
  get partial(): boolean {
    return this.#size > 0
  }

  push(chunk: Uint8Array): Frames {
    const frames: Array<Uint8Array> = []
    let from = 0
    while (!this.#oversized) {
      const at = chunk.indexOf(LF, from)
      const end = at === -1 ? chunk.length : at
      if (this.#size + end - from > this.#limit) {
        this.#oversized = true
        this.#parts = []
        this.#size = 0
        break
      }
      if (at === -1) {
        if (end > from) {
          // A copy: the bytes of a chunk belong to whoever read it.
          this.#parts.push(chunk.slice(from, end))
          this.#size += end - from
        }
        break
      }
      frames.push(this.#take(chunk.subarray(from, at)))
      from = at + 1
    }
    return { frames, oversized: this.#oversized }
  }

  #take(last: Uint8Array): Uint8Array {
    if (this.#size === 0) return last.slice()
    const frame = new Uint8Array(this.#size + last.length)
    let offset = 0
    for (const part of this.#parts) {
      frame.set(part, offset)
      offset += part.length
    }
    frame.set(last, offset)
    this.#parts = []
    this.#size = 0
    return frame
  }
}
