/** One command line, read exactly: what is not known is wrong usage, with the nearest word that is. Loads nothing. */
import { commandNamed, logLevels } from "./commands.ts"
import { UsageError } from "./errors.ts"
import { didYouMean } from "./suggest.ts"

export interface Args {
  readonly words: ReadonlyArray<string>
  /** Switches and the values of options, by name without dashes. */
  readonly values: ReadonlyMap<string, string>
  readonly help: boolean
  readonly debug: boolean
}

/** Reads by the table of commands. `--` ends the options; `--name=value` and `--name value` are the same. */
export const readArgs = (name: string, args: ReadonlyArray<string>): Args => {
  const known = commandNamed(name)?.options ?? []
  const words: Array<string> = []
  const values = new Map<string, string>()
  let help = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    if (arg === "--") {
      words.push(...args.slice(at + 1))
      break
    }
    if (arg === "-h" || arg === "--help") {
      help = true
      continue
    }
    if (!arg.startsWith("-") || arg === "-") {
      words.push(arg)
      continue
    }
    const [flag = "", ...rest] = arg.split("=")
    const option = known.find((one) => one.name === flag)
    if (option === undefined) {
      const all = [...known.map((one) => one.name), "--help"]
      throw new UsageError(`unknown option ${flag}${didYouMean(flag, all)}`)
    }
    const key = flag.slice(2)
    if (values.has(key)) throw new UsageError(`${flag} is given twice`)
    if (option.value === undefined) {
      if (rest.length > 0) throw new UsageError(`${flag} takes no value`)
      values.set(key, "")
      continue
    }
    const next = args[at + 1]
    const value = rest.length > 0 ? rest.join("=") : next
    if (rest.length === 0) at += 1
    if (value === undefined || value === "" || (rest.length === 0 && value.startsWith("--"))) {
      throw new UsageError(`${flag} needs a value: ${flag} ${option.value}`)
    }
    values.set(key, value)
  }
  const level = values.get("log-level")?.toLowerCase()
  if (level !== undefined && !logLevels.includes(level)) {
    throw new UsageError(`--log-level is one of ${logLevels.join(", ")}${didYouMean(level, logLevels)}`)
  }
  return { words, values, help, debug: ["all", "trace", "debug"].includes(level ?? "") }
}
