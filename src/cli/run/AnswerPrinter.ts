/**
 * The answer as it streams. Messages are separated by an empty line. What deltas missed is printed from the reconcile; where
 * that does not begin with what was streamed, the whole text comes again after an empty line. product section 5, `run`.
 */
import type { MessageDelta, MessageReconcile } from "../../protocol/Event.ts"

const SEPARATOR = "\n\n"

export class AnswerPrinter {
  readonly #write: (text: string) => void
  #messageId: string | undefined
  #shown = ""
  #parts: Array<string> = []
  #complete = false
  #printed = false
  #separate = false

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  delta({ message_id, text }: MessageDelta): void {
    this.#enter(message_id)
    if (this.#complete) return
    this.#shown += text
    this.#print(text)
  }

  reconcile({ message_id, part, parts, text }: MessageReconcile): void {
    this.#enter(message_id)
    if (this.#complete) return
    this.#parts[part] = text
    if (part !== parts - 1) return
    this.#complete = true
    const whole = this.#parts.join("")
    if (whole.startsWith(this.#shown)) this.#print(whole.slice(this.#shown.length))
    else {
      this.#separate = true
      this.#print(whole)
    }
  }

  /** Ends the last line. */
  end(): void {
    if (this.#printed) this.#write("\n")
  }

  #enter(messageId: string): void {
    if (messageId === this.#messageId) return
    this.#messageId = messageId
    this.#shown = ""
    this.#parts = []
    this.#complete = false
    this.#separate = this.#printed
  }

  #print(text: string): void {
    if (text === "") return
    this.#write(this.#separate ? SEPARATOR + text : text)
    this.#separate = false
    this.#printed = true
  }
}
