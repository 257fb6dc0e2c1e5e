/**
 * `magi-code run`: what must happen before anything heavy is loaded. The command line is read, and the copy of `effect`
 * chosen that the tools file uses; the runner itself comes after that. product section 1.
 */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { escapeLine } from "./escapeText.ts"
import { parse } from "./Options.ts"
import { shareEffectOf } from "./oneEffect.ts"

/** Runs the command and gives its exit code: 0, 1, 2 for wrong usage, 130 when interrupted. */
export const runCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const parsed = parse(args)
  if (parsed._tag === "Usage") {
    process.stderr.write(`magi-code run: ${escapeLine(parsed.message)} (see magi-code run --help)\n`)
    return 2
  }
  const { options } = parsed
  const misfit = options.tools === undefined ? undefined : shareEffectOf(resolve(options.tools))
  // Until the runner listens itself, Ctrl-C has nothing to close.
  const leave = () => process.exit(130)
  process.on("SIGINT", leave)
  const { run } = await import("./runner.ts")
  const running = run(options, misfit)
  // For good: when the runner listens no more, the exit code is known, and a signal must not take its place.
  process.on("SIGINT", () => {})
  process.off("SIGINT", leave)
  return running
}

/** The command as a whole process: ends it with the exit code, whatever a tools file left running. */
export const main = async (args: ReadonlyArray<string>): Promise<never> => process.exit(await runCommand(args))

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
