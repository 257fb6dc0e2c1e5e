/** Checks a tools file and writes what was found to stdout. product section 1 (`check`). */

import { inspect } from "node:util"
import * as Effect from "effect/Effect"
import { escapeLine } from "../run/escapeText.ts"
import type { EffectCopy } from "../run/oneEffect.ts"
import { type Streams, takeStreams } from "../run/Streams.ts"
import { redirect } from "../run/ToolOutput.ts"
import * as ToolsFile from "../run/ToolsFile.ts"
import { draftsOf } from "./drafts.ts"
import { examine, type Findings } from "./findings.ts"
import { linesOf } from "./report.ts"

/** Gives the exit code: 0 when every tool can be registered. */
export const check = (file: string, misfit: EffectCopy | undefined, debug: boolean): Promise<number> => {
  const streams = takeStreams()
  redirect(streams.err.raw, streams.err.isTerminal)
  const program = Effect.gen(function* () {
    const exported = yield* ToolsFile.load(file, misfit)
    return yield* examine(yield* draftsOf(exported))
  }).pipe(
    Effect.matchEffect({
      onFailure: (error) =>
        Effect.sync(() => {
          streams.err.raw(`magi-code check: ${escapeLine(error.message)}\n`)
          if (debug) streams.err.foreign(`${inspect(error.thrown)}\n`)
          return 1
        }),
      onSuccess: (findings) => Effect.sync(() => tell(file, findings, streams))
    }),
    Effect.tap(() => Effect.andThen(streams.out.flushed, streams.err.flushed))
  )
  return Effect.runPromise(program)
}

const tell = (file: string, findings: Findings, streams: Streams): number => {
  for (const line of linesOf(findings)) streams.out.raw(`${escapeLine(line)}\n`)
  const refused = findings.tools.filter((tool) => tool.faults.length > 0).length
  if (refused === 0 && findings.setFaults.length === 0) return 0
  const what = refused > 0 ? `${refused} of ${findings.tools.length} tools` : "the set of tools"
  streams.err.raw(`magi-code check: ${escapeLine(file)}: ${what} cannot be registered\n`)
  return 1
}
