/**
 * Approvals over the writer: at most 16 wait at once, each for at most 300 s, and the first of answer, time and
 * cancellation wins. base-protocol sections 4 (`approval.answer`) and 5 (`approval.request`, `approval.closed`).
 */
import { Deferred, Effect, Exit, Layer } from "effect"
import { ProtectedResults } from "../broker/ProtectedResult.ts"
import { uuid } from "../platform/Ids.ts"
import { textBytes } from "../protocol/CompactJson.ts"
import { APPROVAL_SUMMARY_BYTES, APPROVAL_TIMEOUT_MS, Limits } from "../protocol/Limits.ts"
import { type AgentIdentity, type ApprovalNeed, ToolFailure } from "../tools/Tool.ts"
import { EventWriter } from "../transport/FrameWriter.ts"
import { Approvals } from "./Approvals.ts"

type Verdict = "allowed" | "denied"
type Closing = "answered" | "timeout" | "cancelled"

interface PendingApproval {
  readonly identity: AgentIdentity
  readonly verdict: Deferred.Deferred<Verdict>
}

const denied = (message: string) => new ToolFailure({ code: "approval_denied", message })

// Everything invisible but LF: controls, formats (the bidirectional ones among them), line and paragraph separators, halves
// of surrogate pairs. Shown, they could make a command look like another.
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Control and bidirectional characters as visible escapes. */
export const escapeVisibly = (text: string): string =>
  text.replace(invisible, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\u{${code}}`
  })

/** What `maskText` gives for a text that could not be scanned: it shows nothing of what will run. */
const UNSCANNABLE = "[redacted]"

export const layer: Layer.Layer<Approvals, never, EventWriter | ProtectedResults> = Layer.effect(
  Approvals,
  Effect.gen(function* () {
    const writer = yield* EventWriter
    const results = yield* ProtectedResults
    const pending = new Map<string, PendingApproval>()

    /** The one transition that ends an approval; the losers find it gone. */
    const settle = (id: string, reason: Closing, verdict: Verdict, acknowledge?: () => void): boolean => {
      const found = pending.get(id)
      if (!found) return false
      pending.delete(id)
      acknowledge?.()
      const { runId, sessionId } = found.identity
      writer.placeEvent({
        event: "approval.closed",
        data: { session_id: sessionId, run_id: runId, approval_id: id, reason }
      })
      Deferred.doneUnsafe(found.verdict, Exit.succeed(verdict))
      return true
    }

    const shown = (text: string): Effect.Effect<string | undefined> =>
      Effect.map(results.maskText(escapeVisibly(text)), (masked) =>
        textBytes(masked) <= APPROVAL_SUMMARY_BYTES && masked !== UNSCANNABLE ? masked : undefined
      )

    /** Everything that will run, or what may stand for it where that is too long. */
    const summaryOf = (need: ApprovalNeed): Effect.Effect<string, ToolFailure> =>
      Effect.gen(function* () {
        const summary =
          (yield* shown(need.summary)) ?? (need.short === undefined ? undefined : yield* shown(need.short))
        return summary ?? (yield* denied("it is too long to show to the one who would approve it"))
      })

    const request = (need: ApprovalNeed, identity: AgentIdentity): Effect.Effect<void, ToolFailure> =>
      Effect.gen(function* () {
        const summary = yield* summaryOf(need)
        const id = yield* uuid
        const verdict = Deferred.makeUnsafe<Verdict>()
        // From here to the wait nothing is interruptible: what is pending has an event, and what has an event is closed.
        const answer = yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            if (pending.size >= Limits.pending_approvals) {
              return yield* denied(`${Limits.pending_approvals} approvals are waiting already`)
            }
            pending.set(id, { identity, verdict })
            const place = writer.placeEvent({
              event: "approval.request",
              data: {
                session_id: identity.sessionId,
                run_id: identity.runId,
                approval_id: id,
                kind: need.kind,
                summary,
                task_id: identity.taskId,
                subagent_id: identity.subagentId,
                timeout_ms: APPROVAL_TIMEOUT_MS
              }
            })
            if (place._tag !== "Placed") {
              pending.delete(id)
              return yield* denied("it could not be asked")
            }
            const wait = Effect.timeoutOrElse(Deferred.await(verdict), {
              duration: APPROVAL_TIMEOUT_MS,
              // An answer of the same instant may have won: the verdict says so.
              orElse: () =>
                Effect.suspend(() => {
                  settle(id, "timeout", "denied")
                  return Deferred.await(verdict)
                })
            })
            return yield* Effect.onInterrupt(restore(wait), () =>
              Effect.sync(() => {
                settle(id, "cancelled", "denied")
              })
            )
          })
        )
        if (answer === "denied") return yield* denied("it was not approved")
      })

    return Approvals.of({
      request,
      answer: ({ allow, approvalId, runId }, acknowledge) =>
        Effect.sync(
          () =>
            pending.get(approvalId)?.identity.runId === runId &&
            settle(approvalId, "answered", allow ? "allowed" : "denied", acknowledge)
        ),
      pending: Effect.sync(() => pending.size)
    })
  })
)
