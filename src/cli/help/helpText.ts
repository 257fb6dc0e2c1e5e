/** The help texts. product section 1. */
import { type CommandHelp, commands } from "./commands.ts"

const table = (rows: ReadonlyArray<readonly [string, string]>): string => {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("")
}

/** `magi-code --help`. */
export const overview = (): string =>
  [
    "usage: magi-code COMMAND [options]\n\n",
    table(commands.map(({ name, summary }) => [name, summary] as const)),
    "\nmagi-code COMMAND --help tells more, with examples; magi-code --version tells the version.\n",
    "Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.\n"
  ].join("")

/** `magi-code COMMAND --help`. */
export const helpOf = (command: CommandHelp): string => {
  const options = [
    ...command.options.map(({ name, text, value }) => [value ? `${name} ${value}` : name, text] as const),
    ["-h, --help", "this text"] as const
  ]
  return [
    command.usage.map((line, at) => `${at === 0 ? "usage:" : "      "} magi-code ${line}\n`).join(""),
    `\n${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.\n`,
    command.details.map((line) => `${line}\n`).join(""),
    `\nOptions:\n${table(options)}`,
    `\nExamples:\n${command.examples.map(({ line, text }) => `  ${line}\n      ${text}\n`).join("")}`
  ].join("")
}
