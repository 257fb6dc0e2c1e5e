/** `--approve ask|all|none`: who answers. Without a terminal nobody can be asked, and nothing is allowed. product section 1. */
import { createInterface } from "node:readline"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { ApprovalQuestion, Approver } from "../../client/Approver.ts"
import { escapeLine, escapeText } from "./escapeText.ts"
import type { ApproveMode } from "./Options.ts"
import type { Streams } from "./Streams.ts"
import type { View } from "./View.ts"

const subject = (question: ApprovalQuestion): string =>
  question.source === "tool"
    ? `the tool ${escapeLine(question.name)} asks`
    : `the agent asks (${escapeLine(question.kind)}${question.subagentId === null ? "" : ", for a subagent"})`

export const makeApprover = (mode: ApproveMode, streams: Streams, view: () => View): Approver => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const answered = (question: ApprovalQuestion, allow: boolean) =>
    Effect.sync(() => {
      view().line(`${subject(question)}: ${allow ? "allowed" : "denied"} (--approve ${mode})`)
      return allow
    })
  if (mode !== "ask") return (question) => answered(question, mode === "all")
  if (!streams.err.isTerminal || process.stdin.isTTY !== true) {
    return (question) =>
      Effect.sync(() => {
        view().line(`${subject(question)}: denied, as there is no terminal to ask on (see --approve)`)
        return false
      })
  }
  return (question) => oneAtATime.withPermits(1)(ask(question, streams, view()))
}

/** Asks until there is an answer; interruption takes the question back. */
const ask = (question: ApprovalQuestion, streams: Streams, view: View): Effect.Effect<boolean> =>
  Effect.acquireUseRelease(
    Effect.sync(() => view.hold()),
    () =>
      Effect.callback<boolean>((resume) => {
        streams.err.raw(`\n${subject(question)}:\n${escapeText(question.summary)}\nAllow? [y/N] `)
        const lines = createInterface({ input: process.stdin, terminal: false })
        let answered = false
        const answer = (allow: boolean) => {
          if (answered) return
          answered = true
          lines.close()
          process.stdin.pause()
          resume(Effect.succeed(allow))
        }
        lines.once("line", (line) => answer(/^\s*y(es)?\s*$/i.test(line)))
        // The end of the input is no permission.
        lines.once("close", () => answer(false))
        return Effect.sync(() => {
          answered = true
          lines.close()
          process.stdin.pause()
          streams.err.raw("\n(the question was closed)\n")
        })
      }),
    (resumeDrawing) => Effect.sync(resumeDrawing)
  )
