/** What one process of the backend wrote to stdout: its frames, and what is wrong with them whatever the case looks at. */
import { type Frame, frameOf } from "./Frame.ts"
import { short } from "./Json.ts"
import { checkLine } from "./OutputLine.ts"

const LF = 10
/** Bytes of a line that are kept: sixteen times what a frame may have. A backend may write without end. */
const MOST_HELD = 1_048_576

export class Output {
  /** Every valid frame, in order of arrival. */
  readonly frames: Array<Frame> = []
  /** What was wrong: each of these fails the case. */
  readonly problems: Array<string> = []
  /** The last frames both ways. */
  readonly log: Array<string> = []
  readonly #label: string
  #sequence = 0
  #rest: Array<Uint8Array> = []
  #held = 0

  constructor(label: string) {
    this.#label = label
  }

  /** Takes bytes as they come; a line counts once its LF is there. */
  take(chunk: Uint8Array): void {
    let from = 0
    for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, from)) {
      this.#hold(chunk.subarray(from, lf))
      this.#line(Buffer.concat(this.#rest))
      this.#rest = []
      this.#held = 0
      from = lf + 1
    }
    this.#hold(chunk.subarray(from))
  }

  /** What is beyond the bound is dropped: the line is far too long already. */
  #hold(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, MOST_HELD - this.#held)
    if (kept.length > 0) this.#rest.push(kept)
    this.#held += kept.length
  }

  /** No more comes. */
  end(partialAllowed: boolean): void {
    const rest = Buffer.concat(this.#rest)
    if (rest.length === 0 || partialAllowed) return
    this.problems.push(`stdout ended inside a line (${rest.length} bytes): ${short(String(rest), 80)}`)
  }

  /** Notes bytes that went one way, for the report. */
  note(way: "->" | "<-", bytes: Uint8Array): void {
    this.log.push(`${this.#label} ${way} ${short(Buffer.from(bytes.subarray(0, 400)).toString().trimEnd())}`)
    if (this.log.length > 60) this.log.splice(0, 30)
  }

  #line(bytes: Buffer): void {
    this.note("<-", bytes)
    const text = bytes.toString()
    const { frame: decoded, problems } = checkLine(bytes)
    if (this.problems.length < 20) this.problems.push(...problems.map((one) => `${one} in ${short(text, 140)}`))
    if (decoded === undefined) return
    if (decoded._tag === "Event" && decoded.sequence !== ++this.#sequence) {
      this.problems.push(`sequence ${decoded.sequence}, expected ${this.#sequence}`)
      this.#sequence = decoded.sequence
    }
    const frame = frameOf(decoded, { index: this.frames.length, at: performance.now(), text })
    if (frame !== undefined) this.frames.push(frame)
  }
}
