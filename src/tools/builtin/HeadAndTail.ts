/** Keeps the beginning and the end of a stream of any length in bounded memory. product section 2, `bash`. */
import { TailBuffer } from "../../transport/TailBuffer.ts"
import { headOf, OUTPUT_BYTES, tailOf } from "./BoundedText.ts"

/** The note between head and tail, with room for any number. */
const NOTE_BYTES = 96
const HALF_BYTES = Math.floor((OUTPUT_BYTES - NOTE_BYTES) / 2)

const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)

export class HeadAndTail {
  readonly #head = Buffer.alloc(OUTPUT_BYTES)
  #held = 0
  #size = 0
  readonly #tail = new TailBuffer(HALF_BYTES)

  push(chunk: Uint8Array): void {
    const room = Math.min(chunk.length, OUTPUT_BYTES - this.#held)
    this.#head.set(chunk.subarray(0, room), this.#held)
    this.#held += room
    this.#size += chunk.length
    this.#tail.push(chunk)
  }

  /** At most 30 KiB; where something was left out, a line between head and tail says how much. */
  text(): string {
    const head = decode(this.#head.subarray(0, this.#held))
    // Bytes that are not UTF-8 grow when they are decoded, so the bound is applied to the text.
    if (this.#size === this.#held && Buffer.byteLength(head) <= OUTPUT_BYTES) return head
    const tail = this.#size === this.#held ? head : this.#tail.text()
    const note = `\n[the middle is left out: ${this.#size} bytes of output in all]\n`
    return `${headOf(head, HALF_BYTES)}${note}${tailOf(tail, HALF_BYTES)}`
  }
}
