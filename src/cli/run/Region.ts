/**
 * Lines at the end of what a terminal shows that are drawn anew in place. All that the process writes to the terminal goes
 * through here: it comes out above them. The cursor rests, hidden, at the beginning of the first of them, so that "erase from
 * the cursor on" takes them away whatever a terminal did with them when it was resized.
 */

/** Puts text on the terminal, as it is and at once. */
export type Write = (text: string) => void

export interface Size {
  readonly columns: number
  readonly rows: number
}

const HIDE_CURSOR = "\u001b[?25l"
const SHOW_CURSOR = "\u001b[?25h"
const ERASE_BELOW = "\u001b[J"
// From the first column of the first row, some terminals take "erase below" for "clear" and keep what was there.
const ERASE_ALL = `\r\u001b[K\u001b[C${ERASE_BELOW}\r`
const ERASE_REST = "\u001b[K"
// A line that is wider than it looks to us must not become two.
const NO_WRAP = "\u001b[?7l"
const WRAP = "\u001b[?7h"
// Terminals that know it show everything between the two at once; others pass over it.
const BEGIN_UPDATE = "\u001b[?2026h"
const END_UPDATE = "\u001b[?2026l"

export class Region {
  readonly #write: Write
  readonly #size: () => Size
  #lines: ReadonlyArray<string> = []
  #drawn = false
  #hidden = false
  #atLineStart = true
  /** What was written while a question is open, in order. */
  #waiting: Array<() => void> | undefined

  /** `write` puts text on the terminal at once. */
  constructor(write: Write, size: () => Size) {
    this.#write = write
    this.#size = size
  }

  get size(): Size {
    return this.#size()
  }

  /** Nothing stands on the line of the cursor. */
  get atLineStart(): boolean {
    return this.#atLineStart
  }

  /** Puts text above the lines. `write`: where it goes, if not where the lines are. */
  print(text: string, write: Write = this.#write): void {
    if (text === "") return
    if (this.#waiting !== undefined) {
      this.#waiting.push(() => this.print(text, write))
      return
    }
    if (!this.#drawn) {
      write(text)
      this.#atLineStart = text.endsWith("\n")
      return
    }
    this.#write(`${BEGIN_UPDATE}${ERASE_ALL}`)
    this.#drawn = false
    write(text)
    this.#atLineStart = text.endsWith("\n")
    this.#write(`${this.#rendered()}${END_UPDATE}`)
  }

  /** A whole line, even where half a line of text stands. */
  printLine(line: string): void {
    if (this.#waiting !== undefined) this.#waiting.push(() => this.printLine(line))
    else this.print(`${this.#atLineStart ? "" : "\n"}${line}\n`)
  }

  /** The lines from now on; each is one row of the terminal, cut where it is too long. None: the cursor is shown again. */
  draw(lines: ReadonlyArray<string>): void {
    this.#lines = lines
    if (this.#waiting !== undefined) return
    if (lines.length === 0) this.#clear()
    else this.#write(`${BEGIN_UPDATE}${this.#rendered()}${END_UPDATE}`)
  }

  /**
   * Takes the lines away and keeps back all that is written, so that a question can be asked. Gives what writes the question;
   * `release` lets the rest come, and is to be called once.
   */
  hold(): { readonly say: Write; readonly release: (atLineStart: boolean) => void } {
    const waiting: Array<() => void> = []
    const lines = this.#lines
    this.#clear()
    if (!this.#atLineStart) this.#write("\n")
    this.#lines = lines
    this.#waiting = waiting
    return {
      say: (text) => {
        if (this.#waiting === waiting) this.#write(text)
      },
      release: (atLineStart) => {
        if (this.#waiting !== waiting) return
        this.#waiting = undefined
        if (!atLineStart) this.#write("\n")
        this.#atLineStart = true
        for (const print of waiting) print()
        this.draw(this.#lines)
      }
    }
  }

  /** Ends it for good, whatever is going on: nothing is drawn any more, the cursor is shown. May be called again. */
  close(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#lines = []
    this.#clear()
    if (waiting === undefined) return
    this.#write("\n")
    this.#atLineStart = true
    for (const print of waiting) print()
  }

  #clear(): void {
    if (this.#drawn) this.#write(ERASE_ALL)
    this.#drawn = false
    if (this.#hidden) this.#write(SHOW_CURSOR)
    this.#hidden = false
  }

  /** From where the cursor is, and back there. */
  #rendered(): string {
    const lines = this.#lines.slice(0, Math.max(1, this.#size().rows - 1))
    const text = lines.map((line) => `${line}${ERASE_REST}`).join("\r\n")
    // Half a line of text stays where it is; the lines begin below it.
    const before = `${this.#hidden ? "" : HIDE_CURSOR}${this.#atLineStart ? "" : "\r\n"}\r${NO_WRAP}`
    this.#atLineStart = true
    this.#drawn = true
    this.#hidden = true
    return `${before}${text}${ERASE_BELOW}${lines.length > 1 ? `\u001b[${lines.length - 1}A` : ""}\r${WRAP}`
  }
}
