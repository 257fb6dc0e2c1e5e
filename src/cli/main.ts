/**
 * Every command but `serve`. Each is loaded when it is asked for: help, the version and wrong usage load nothing more.
 * product section 1.
 */
import { watchOutput, whenOutputCloses } from "./help/closedOutput.ts"
import { commandNamed, commands } from "./help/commands.ts"
import { completions, isShell, shells } from "./help/completions.ts"
import { Interrupted, UsageError } from "./help/errors.ts"
import { helpOf, overview } from "./help/helpText.ts"
import { type Args, readArgs } from "./help/readArgs.ts"
import { didYouMean } from "./help/suggest.ts"

/** A command of this folder; gives the exit code. */
type Command = (args: Args) => Promise<number> | number

const load: { readonly [name: string]: () => Promise<Command> } = {
  sessions: async () => (await import("./sessions/main.ts")).sessions,
  trust: async () => (await import("./trust/main.ts")).trust,
  doctor: async () => (await import("./doctor/main.ts")).doctor,
  trace: async () => (await import("./trace/main.ts")).trace,
  conformance: async () => (await import("./conformance/main.ts")).conformance,
  completions: async () => (args) => {
    const [shell, ...more] = args.words
    if (shell === undefined || more.length > 0) throw new UsageError(`name one shell: ${shells.join(", ")}`)
    if (!isShell(shell)) throw new UsageError(`no completions for ${shell}; name one of ${shells.join(", ")}`)
    process.stdout.write(completions(shell))
    return 0
  }
}

/** These read their own command line and end the process themselves. */
const own: { readonly [name: string]: () => Promise<{ readonly main: (args: ReadonlyArray<string>) => unknown }> } = {
  run: () => import("./run/main.ts"),
  check: () => import("./check/main.ts")
}

const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ").slice(0, 1_000)

const usage = (who: string, message: string, help: string): number => {
  process.stderr.write(`${oneLine(`${who}: ${message} (see ${help} --help)`)}\n`)
  return 2
}

/** What an error is worth in exit codes, after it was told in one line. */
const told = (name: string, error: unknown, debug: boolean): number => {
  if (error instanceof UsageError) return usage(`magi-code ${name}`, error.message, `magi-code ${name}`)
  const is = error instanceof Error ? error : new Error(String(error))
  if (is instanceof Interrupted) return 130
  process.stderr.write(`${oneLine(`magi-code ${name}: ${is.message}`)}\n`)
  if (debug) process.stderr.write(`${is.stack ?? ""}\n${is.cause === undefined ? "" : String(is.cause)}\n`)
  return 1
}

const dispatch = async (argv: ReadonlyArray<string>): Promise<number> => {
  const [name, ...rest] = argv
  if (name === "--help" || name === "-h") return print(overview())
  if (name === "help") {
    const about = rest[0] === undefined ? undefined : commandNamed(rest[0])
    if (rest[0] === undefined) return print(overview())
    return about === undefined ? unknown(rest[0]) : print(helpOf(about))
  }
  if (name === "--version" || name === "-V") {
    const { version } = await import("../platform/Version.ts")
    return print(`${version}\n`)
  }
  if (name === undefined) {
    process.stderr.write(overview())
    return 2
  }
  const command = commandNamed(name)
  if (command === undefined) return unknown(name)
  const options = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : rest.length)
  const helped = options.includes("--help") || options.includes("-h")
  if (own[name] !== undefined && !helped) {
    // It closes its agent first, and tells.
    if (name === "run") whenOutputCloses(() => {})
    await (await own[name]()).main(rest)
    return 0
  }
  if (helped) return print(helpOf(command))
  let debug = false
  try {
    const args = readArgs(name, rest)
    debug = args.debug
    const run = await load[name]?.()
    return run === undefined ? 2 : await run(args)
  } catch (error) {
    return told(name, error, debug)
  }
}

const print = (text: string): number => {
  process.stdout.write(text)
  return 0
}

const unknown = (name: string): number => {
  const names = [...commands.map((one) => one.name), "help", "--help", "--version"]
  const what = name.startsWith("-") ? "option" : "command"
  return usage("magi-code", `unknown ${what} ${name}${didYouMean(name, names)}`, "magi-code")
}

watchOutput()
process.exitCode = await dispatch(process.argv.slice(2))
