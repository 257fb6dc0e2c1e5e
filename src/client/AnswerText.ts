/** The text of a run's outcome: the last assistant message's reconciled text. product section 5, `run`. */
import type { MessageReconcile } from "../protocol/Event.ts"

/** Joins the parts of reconciled messages; keeps the last message only. */
export class AnswerText {
  #messageId: string | undefined
  #parts: Array<string> = []

  /**
   * Takes a part; the first of a message begins its text anew. One that is not the next is passed over: its number is the
   * agent's word, and an array with such a hole takes hours to join. Gives the whole text when this was the last part.
   */
  reconcile(part: Pick<MessageReconcile, "message_id" | "part" | "parts" | "text">): string | undefined {
    if (part.message_id !== this.#messageId || part.part === 0) {
      this.#messageId = part.message_id
      this.#parts = []
    }
    if (part.part !== this.#parts.length) return undefined
    this.#parts.push(part.text)
    return part.part === part.parts - 1 ? this.text : undefined
  }

  get text(): string {
    return this.#parts.join("")
  }
}
