/**
 * The answer as it streams. Messages are separated by an empty line. What deltas missed is printed from the reconcile; where
 * that does not begin with what was streamed, the whole text comes again after an empty line. product section 5, `run`.
 */
import { AnswerText } from "../../client/AnswerText.ts"
import type { MessageDelta, MessageReconcile } from "../../protocol/Event.ts"

const SEPARATOR = "\n\n"

export class AnswerPrinter {
  readonly #write: (text: string) => void
  #messageId: string | undefined
  #shown = ""
  readonly #answer = new AnswerText()
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

  reconcile(part: MessageReconcile): void {
    this.#enter(part.message_id)
    if (this.#complete) return
    const whole = this.#answer.reconcile(part)
    if (whole === undefined) return
    this.#complete = true
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
