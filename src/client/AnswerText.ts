/** The text of a run's outcome: the last assistant message's reconciled text. product section 5, `run`. */
import type { MessageReconcile } from "../protocol/Event.ts"

/** Joins the parts of reconciled messages; keeps the last message only. */
export class AnswerText {
  #messageId: string | undefined
  #parts: Array<string> = []

  /** Takes a part. Gives the whole text of its message when this was its last part. */
  reconcile(part: Pick<MessageReconcile, "message_id" | "part" | "parts" | "text">): string | undefined {
    if (part.message_id !== this.#messageId) {
      this.#messageId = part.message_id
      this.#parts = []
    }
    this.#parts[part.part] = part.text
    return part.part === part.parts - 1 ? this.text : undefined
  }

  get text(): string {
    return this.#parts.join("")
  }
}
