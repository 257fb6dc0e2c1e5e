/** The run itself: an agent, a session, one turn, its events, its outcome. product sections 1 and 5. */
import { StringDecoder } from "node:string_decoder"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agent } from "../../client/Agent.ts"
import type { ClientTools } from "../../client/ClientTool.ts"
import { ownBackend } from "../../platform/OwnBackend.ts"
import { withHint } from "../help/hints.ts"
import { makeApprover } from "./askApproval.ts"
import { isDebug } from "./Options.ts"
import { type Progress, tellEnd, tellFailure } from "./Progress.ts"

/** Tells its end itself, before the agent is closed. */
export const conversation = (progress: Progress, tools: ClientTools, prompt: string): Effect.Effect<void> => {
  const { report } = progress
  const talk = Effect.gen(function* () {
    const { options, streams, view } = progress
    const words = options.agent ?? ownBackend()
    if (words === undefined) {
      return tellFailure(progress, "AgentNotStarted", "the package was not built", () =>
        report.error("this package was not built: run npm run build, or name a backend with --agent")
      )
    }
    const agent = yield* Agent.make({
      words,
      tools,
      approver: makeApprover(options.approve, streams, () => view),
      onEnd: report.ended,
      ...(isDebug(options) ? { onStderr: shownLive(progress) } : {})
    })
    yield* options.session === undefined ? agent.createSession : agent.openSession(options.session)
    if (options.model !== undefined) yield* agent.selectModel(options.model)
    const turn = yield* agent.turn(prompt)
    progress.turn = turn
    yield* Stream.runForEach(turn.events, (event) =>
      Effect.andThen(
        Effect.sync(() => view.event(event)),
        streams.out.ready
      )
    )
    tellEnd(progress, yield* turn.outcome)
  })
  return Effect.scoped(
    Effect.catch(talk, (error) =>
      Effect.sync(() =>
        tellFailure(progress, error._tag, error.message, () =>
          error._tag === "TransportLost"
            ? report.lost(error)
            : report.error(withHint(error.message, "code" in error ? error.code : undefined))
        )
      )
    )
  ).pipe(
    Effect.catchDefect((defect) =>
      Effect.sync(() => tellFailure(progress, "internal_error", "internal error", () => report.defect(defect)))
    )
  )
}

/** `--log-level debug`: the agent's stderr as it comes. */
const shownLive = ({ streams }: Progress) => {
  const decoder = new StringDecoder("utf8")
  return (chunk: Uint8Array) => streams.err.foreign(decoder.write(Buffer.from(chunk)))
}
