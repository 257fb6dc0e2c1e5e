/** `magi-code check FILE`: validates a tools file without a backend. product section 1. */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { UsageError } from "../help/errors.ts"
import { readArgs } from "../help/readArgs.ts"
import { escapeLine } from "../run/escapeText.ts"
import { shareEffectOf } from "../run/oneEffect.ts"

/** Runs the command and gives its exit code. */
export const checkCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const parsed = parse(args)
  if ("usage" in parsed) {
    process.stderr.write(`magi-code check: ${escapeLine(parsed.usage)} (see magi-code check --help)\n`)
    return 2
  }
  const misfit = shareEffectOf(resolve(parsed.file))
  const { check } = await import("./checker.ts")
  return check(parsed.file, misfit, parsed.debug)
}

/** The command as a whole process: ends it with the exit code, whatever a tools file left running. */
export const main = async (args: ReadonlyArray<string>): Promise<never> => process.exit(await checkCommand(args))

const parse = (args: ReadonlyArray<string>) => {
  try {
    const { debug, words } = readArgs("check", args)
    const [file, ...more] = words
    if (file === undefined || file.trim() === "") return { usage: "a FILE is missing" }
    return more.length > 0 ? { usage: "one FILE at a time" } : { file, debug }
  } catch (error) {
    if (error instanceof UsageError) return { usage: error.message }
    throw error
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
