/**
 * The standalone runner: loads the tools, starts the agent, runs one turn, shows it, and closes everything in time.
 * product sections 1 and 5.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { type ClientTools, none } from "../../client/ClientTool.ts"
import { bounded } from "../../platform/Bounded.ts"
import { layerWith, parseLevel } from "../../platform/Logging.ts"
import { traced } from "../../platform/Telemetry.ts"
import { conversation } from "./conversation.ts"
import { escapeText } from "./escapeText.ts"
import * as Interrupts from "./Interrupts.ts"
import { jsonView } from "./JsonView.ts"
import { liveView } from "./LiveView.ts"
import { isDebug, type RunOptions } from "./Options.ts"
import type { EffectCopy } from "./oneEffect.ts"
import { callLines, plainView } from "./PlainView.ts"
import { type Progress, tellEnd, tellFailure } from "./Progress.ts"
import type { Region } from "./Region.ts"
import { makeReport } from "./Report.ts"
import * as readPrompt from "./readPrompt.ts"
import { type Streams, takeStreams } from "./Streams.ts"
import { styleOf } from "./Style.ts"
import { strayErrors } from "./strayErrors.ts"
import { redirect } from "./ToolOutput.ts"
import * as ToolsFile from "./ToolsFile.ts"
import type { View } from "./View.ts"

const DRAW_EVERY_MS = 100
/** What the finalizers of a toolkit's own layer get, after the agent is closed. */
const LAYER_MS = 500
/** What readers of stdout and stderr get to take the rest, once a signal asked for the end. */
const FLUSH_MS = 500

/** Runs and gives the exit code. `misfit`: the tools file's own copy of `effect`, where it is one that does not fit. */
export const run = (options: RunOptions, misfit: EffectCopy | undefined): Promise<number> => {
  const streams = takeStreams()
  redirect(streams.err.raw, streams.err.isTerminal)
  const logging = layerWith({
    level: parseLevel(options.logLevel) ?? "Warn",
    style: "pretty",
    write: (line) => {
      streams.err.raw(`${streams.err.isTerminal ? escapeText(line) : line}\n`)
      return true
    }
  })
  // Listened for outside of what exports traces: loading that, and its last sending, are no time for a signal to kill.
  const whole = Effect.flatMap(Interrupts.listen, (interrupts) =>
    traced(Effect.scoped(program(options, misfit, streams, interrupts)))
  )
  return Effect.runPromise(Effect.scoped(whole).pipe(Effect.provide(logging)))
}

const program = Effect.fnUntraced(function* (
  options: RunOptions,
  misfit: EffectCopy | undefined,
  streams: Streams,
  interrupts: Interrupts.Interrupts
) {
  const clock = yield* Clock.Clock
  const view = yield* makeView(options, streams, clock)
  const report = makeReport(streams, () => view, isDebug(options))
  const progress: Progress = { options, streams, view, report, interrupts, turn: undefined, exitCode: undefined }
  const stray = yield* strayErrors(report)
  // What a toolkit's layer holds is let go of after the agent, and bounded too.
  const layers = yield* Scope.make()

  const main = yield* Effect.forkChild(Scope.provide(prepareAndTalk(progress, misfit), layers))
  yield* Effect.raceAllFirst([
    Fiber.await(main),
    Effect.andThen(interrupts.first, cancelThenClose(progress, main)),
    Effect.andThen(interrupts.atOnce, Fiber.interrupt(main)),
    Effect.andThen(streams.out.gone, Effect.andThen(outputGone(progress), Fiber.interrupt(main))),
    Effect.andThen(stray.crashed, Fiber.interrupt(main))
  ])
  if (interrupts.any()) tellEnd(progress, { status: "cancelled", error: null, text: "" })
  else tellFailure(progress, "interrupted", "the run was ended", () => report.error("the run was ended"))
  yield* bounded(Scope.close(layers, Exit.void), LAYER_MS)
  // A slow reader is waited for, until someone wants the end: one that has stopped reading would keep it away for ever.
  const whole = yield* Effect.raceFirst(
    Effect.as(Effect.andThen(streams.out.flushed, streams.err.flushed), true),
    Effect.as(Effect.andThen(interrupts.first, Effect.sleep(FLUSH_MS)), false)
  )
  return whole ? (progress.exitCode ?? 1) : 130
})

/** Nobody reads the answer any more. */
const outputGone = (progress: Progress) =>
  Effect.sync(() =>
    tellFailure(progress, "output_closed", "stdout was closed", () => progress.report.error("stdout was closed"))
  )

/** The first Ctrl-C: at once before the turn, else two seconds for the run to finish. */
const cancelThenClose = (progress: Progress, main: Fiber.Fiber<unknown>) =>
  Effect.gen(function* () {
    if (progress.turn !== undefined) {
      if (progress.streams.err.isTerminal && !progress.interrupts.closing()) {
        progress.view.line("cancelling the turn; Ctrl-C again closes at once")
      }
      yield* progress.turn.cancel
      yield* Effect.timeoutOption(Fiber.await(main), Interrupts.CANCEL_MS)
    }
    yield* Fiber.interrupt(main)
  })

const prepareAndTalk = (progress: Progress, misfit: EffectCopy | undefined) =>
  prepare(progress.options, misfit).pipe(
    Effect.matchCauseEffect({
      onSuccess: ({ prompt, tools }) => conversation(progress, tools, prompt),
      onFailure: (cause) =>
        Effect.sync(() => {
          if (Cause.hasInterruptsOnly(cause)) return
          const error = Cause.squash(cause)
          // Nothing was started: stdout stays empty, also under --json.
          progress.exitCode = error instanceof readPrompt.PromptRefused ? 2 : 1
          if (error instanceof readPrompt.PromptRefused) progress.report.error(error.message)
          else if (error instanceof ToolsFile.ToolsFileRefused) progress.report.error(error.message, error.thrown)
          else progress.report.defect(error)
        })
    })
  )

/** Everything that can be wrong before an agent is started. */
const prepare = Effect.fnUntraced(function* (options: RunOptions, misfit: EffectCopy | undefined) {
  let tools: ClientTools = none
  if (options.tools !== undefined) {
    tools = yield* ToolsFile.toolsOf(options.tools, yield* ToolsFile.load(options.tools, misfit))
  }
  const text = options.prompt === "-" ? yield* readPrompt.fromStdin : options.prompt
  return { tools, prompt: yield* readPrompt.check(text) }
})

/** Chooses the view, and keeps a live one drawn while the scope is open. */
const makeView = Effect.fnUntraced(function* (options: RunOptions, streams: Streams, clock: Clock.Clock) {
  const now = () => clock.monotonicTimeNanosUnsafe()
  // In this order: what a loaded machine puts between the two readings must not make the runner older than it is.
  const age = BigInt(Math.round(performance.now() * 1_000_000))
  const startedAt = now() - age
  const runClock = (at = now()) => Number(at - startedAt) / 1_000_000
  const { region } = streams
  if (region === undefined || ["", "dumb"].includes(process.env["TERM"] ?? "")) {
    return options.json ? jsonView(streams, runClock, callLines(streams, now)) : plainView(streams, now)
  }
  const live = liveView({ region, now, style: styleOf(process.env), out: options.json ? undefined : streams.out })
  yield* keptDrawn(region, live.draw)
  return options.json ? jsonView(streams, runClock, live) : (live satisfies View)
})

/** Draws several times a second and after a resize. The terminal is left as it was, also when the process is suspended or a tool exits it. */
const keptDrawn = (region: Region, draw: () => void) =>
  Effect.gen(function* () {
    const close = () => region.close()
    const suspend = () => {
      region.draw([])
      process.kill(process.pid, "SIGSTOP")
    }
    const listeners = [
      [process, "exit", close],
      [process, "SIGTSTP", suspend],
      [process, "SIGCONT", draw],
      [process.stderr, "resize", draw]
    ] as const
    yield* Effect.acquireRelease(
      Effect.sync(() => listeners.forEach(([of, name, listener]) => of.on(name, listener))),
      () =>
        Effect.sync(() => {
          listeners.forEach(([of, name, listener]) => of.off(name, listener))
          close()
        })
    )
    yield* Effect.forkScoped(Effect.repeat(Effect.sync(draw), Schedule.spaced(DRAW_EVERY_MS)))
  })
