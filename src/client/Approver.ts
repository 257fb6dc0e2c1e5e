/** Who answers questions of approval. The spawning client owns any approval UI (client-tools, first paragraph). */
import type * as Effect from "effect/Effect"

/** A question. Texts are the agent's or the tool's: escape them to show them. */
export type ApprovalQuestion =
  | {
      /** The agent asks before it runs a tool of its own (`approval.request`). */
      readonly source: "agent"
      readonly kind: string
      readonly summary: string
      readonly taskId: string | null
      readonly subagentId: string | null
      /** Milliseconds after which the agent takes the silence as a denial. */
      readonly timeoutMs: number
    }
  | {
      /** A client tool's handler asks (`ToolCall.approve`, or a toolkit's `needsApproval`). */
      readonly source: "tool"
      readonly name: string
      readonly callId: string
      readonly summary: string
      readonly timeoutMs: number
    }

/** Answers a question; interrupted when the question is closed. A defect is a denial. */
export type Approver = (question: ApprovalQuestion) => Effect.Effect<boolean>
