/** What a command writes, and asks. Text of others is escaped on a terminal, as in `run`. */
import { createInterface } from "node:readline"
import { escapeLine } from "../run/escapeText.ts"

export const out = (text: string): void => {
  process.stdout.write(text)
}

export const err = (text: string): void => {
  process.stderr.write(text)
}

/** Text of others on one line. Piped it is the same: what reads lines should get lines. */
export const plain = (text: string): string => escapeLine(text)

/** Somebody can be asked: both the question and the answer are on a terminal. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on stderr. Only `y` or `yes` is a yes; the end of the input is a no. */
export const confirm = (question: string): Promise<boolean> =>
  new Promise((resolve) => {
    err(`${question} [y/N] `)
    const lines = createInterface({ input: process.stdin, terminal: false })
    let answer: boolean | undefined
    lines.once("line", (line) => {
      answer = /^\s*y(es)?\s*$/i.test(line)
      lines.close()
    })
    lines.once("close", () => {
      process.stdin.pause()
      if (answer === undefined) err("\n")
      resolve(answer ?? false)
    })
  })

/** Lines no wider than the terminal of stdout; piped they are whole. */
export const fitted = (text: string): string => {
  const { columns, isTTY } = process.stdout
  if (isTTY !== true || !columns) return text
  const most = columns - 1
  return text
    .split("\n")
    .map((line) => {
      const characters = [...line]
      return characters.length <= most ? line : `${characters.slice(0, most - 3).join("")}...`
    })
    .join("\n")
}

/** Columns as wide as their widest cell; the last one is not filled up. */
export const columns = (rows: ReadonlyArray<ReadonlyArray<string>>, right: ReadonlySet<number> = new Set()): string => {
  const widths: Array<number> = []
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => {
          if (right.has(at)) return cell.padStart(widths[at] ?? 0)
          return at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)
        })
        .join("  ")
        .trimEnd()
    )
    .map((line) => `${line}\n`)
    .join("")
}
