/** `magi-code conformance`: runs the protocol's cases against any backend. product section 1. */
import { existsSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { resolve } from "node:path"
import { Effect } from "effect"
import { type Command, casesMatching, human, junit, probe, runCases, summary } from "../../conformance/index.ts"
import { CommandFailed, UsageError } from "../help/errors.ts"
import type { Args } from "../help/readArgs.ts"
import { runEffect } from "../help/runEffect.ts"
import { err, out, plain } from "../help/Terminal.ts"

/** A backend runs in a workspace of its own: a script or program that lies here is named by its absolute path. */
const absolute = (words: ReadonlyArray<string>): Command => {
  const [program, ...args] = words
  if (program === undefined) throw new UsageError("name the backend's command behind --")
  const isPath = program.includes("/") && existsSync(program)
  return [
    isPath ? resolve(program) : program,
    ...args.map((word) => (/^[^-].*\.[cm]?[jt]s$/.test(word) && existsSync(word) ? resolve(word) : word))
  ]
}

const jobsOf = (value: string | undefined): number => {
  if (value === undefined) return Math.max(4, availableParallelism() * 3)
  if (!/^[1-9]\d{0,2}$/.test(value)) throw new UsageError("--jobs is a number from 1 to 999")
  return Number(value)
}

const writeReport = (path: string, text: string): void => {
  try {
    writeFileSync(path, text)
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "unknown"
    throw new CommandFailed(`${path} cannot be written: ${why}; name a file in a folder that exists`)
  }
}

export const conformance = async ({ values, words }: Args): Promise<number> => {
  const command = absolute(words)
  const jobs = jobsOf(values.get("jobs"))
  const filter = values.get("filter") ?? ""
  const file = values.get("junit")
  const json = values.has("json")
  if (json && file !== undefined) throw new UsageError("--json and --junit do not go together")
  const cases = casesMatching(filter)
  if (cases.length === 0) throw new UsageError(`no case has "${filter}" in its id or page`)
  // Before the cases: a file that cannot be written should not cost a whole run.
  if (file !== undefined) writeReport(file, "")
  const results = await runEffect(
    Effect.andThen(
      probe(command),
      runCases({
        cases,
        command,
        jobs,
        onResult: (result) => out(json ? `${JSON.stringify(result)}\n` : human(result, plain))
      })
    )
  )
  if (file !== undefined) writeReport(file, junit(results))
  const say = json ? err : out
  say(`${summary(results)}\n`)
  return results.some(({ status }) => status === "failed") ? 1 : 0
}
