/** `magi-code check FILE`: validates a tools file without a backend. product section 1. */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { shareEffectOf } from "../run/oneEffect.ts"

const USAGE = `usage: magi-code check FILE

Validates a tools file without a backend: each tool's name, the bytes it uses of each bound, the schema keywords that are
refused and where, and its fingerprint. Exit code 0: every tool can be registered; 1: not; 2: wrong usage.
`

/** Runs the command and gives its exit code. */
export const checkCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const parsed = parse(args)
  if (parsed === "help") {
    process.stdout.write(USAGE)
    return 0
  }
  if ("usage" in parsed) {
    process.stderr.write(`magi-code check: ${parsed.usage} (see magi-code check --help)\n`)
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
    const { positionals, values } = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: true,
      options: { "log-level": { type: "string" }, help: { type: "boolean", short: "h" } }
    })
    if (values.help) return "help"
    const [file, ...more] = positionals
    if (file === undefined || file.trim() === "") return { usage: "a FILE is missing" }
    if (more.length > 0) return { usage: "one FILE at a time" }
    return { file, debug: values["log-level"]?.toLowerCase() === "debug" }
  } catch (error) {
    return { usage: error instanceof Error ? (error.message.split(". ")[0] ?? "wrong usage") : "wrong usage" }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
