/** `--approve ask|all|none`: who answers. Without a terminal nobody can be asked, and nothing is allowed. product section 1. */
import { createInterface } from "node:readline"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { ApprovalQuestion, Approver } from "../../client/Approver.ts"
import { escapeLine, escapeText } from "./escapeText.ts"
import type { ApproveMode } from "./Options.ts"
import type { Region } from "./Region.ts"
import { timeText } from "./rowText.ts"
import type { Streams } from "./Streams.ts"
import { discardTypedAhead } from "./typedAhead.ts"
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
  const denied = (question: ApprovalQuestion, why: string) =>
    Effect.sync(() => {
      view().line(`${subject(question)}: denied, as ${why} (see --approve)`)
      return false
    })
  const { region } = streams
  if (region === undefined || process.stdin.isTTY !== true) {
    return (question) => denied(question, "there is no terminal to ask on")
  }
  return (question) =>
    Effect.suspend(() => {
      const until = performance.now() + question.timeoutMs
      // After a Ctrl-D the stream gives nothing more: a question would stand there that takes no answer.
      const asked = Effect.suspend(() =>
        process.stdin.readableEnded ? denied(question, "the input has ended") : ask(question, region, until)
      )
      return oneAtATime.withPermits(1)(asked)
    })
}

/** `undefined`: neither yes nor no. */
const meant = (line: string): boolean | undefined => {
  if (/^\s*y(es)?\s*$/i.test(line)) return true
  return /^\s*(no?)?\s*$/i.test(line) ? false : undefined
}

const indented = (text: string): string => escapeText(text).replaceAll(/^/gm, "    ")

/** Asks until there is an answer; interruption takes the question back. All else that is written waits for the answer. */
const ask = (question: ApprovalQuestion, region: Region, until: number): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let ended = false
    return Effect.acquireUseRelease(
      Effect.sync(() => region.hold()),
      ({ say }) =>
        Effect.callback<boolean>((resume) => {
          const { stdin } = process
          discardTypedAhead()
          const time = timeText(Math.ceil(Math.max(0, until - performance.now()) / 1000) * 1000)
          say(
            `\n  ${subject(question)}; without an answer within ${time} it is denied:\n${indented(question.summary)}\n`
          )
          say("  Allow? [y/N] ")
          const lines = createInterface({ input: stdin, terminal: false })
          const stop = () => {
            lines.removeAllListeners()
            lines.close()
            stdin.pause()
          }
          lines.on("line", (line) => {
            const allow = meant(line)
            if (allow === undefined) return say("  Please answer y or n: ")
            ended = true
            stop()
            resume(Effect.succeed(allow))
          })
          // The end of the input is no permission.
          lines.once("close", () => {
            stop()
            resume(Effect.succeed(false))
          })
          return Effect.sync(() => {
            stop()
            say("\n  (the question was closed)")
          })
        }),
      ({ release }) => Effect.sync(() => release(ended))
    )
  })
