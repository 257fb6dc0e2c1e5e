/** `grep`: lines that match a regular expression, through the packaged ripgrep. product section 2. */
import { Effect } from "effect"
import type { AgentTool } from "../Tool.ts"
import { defineArguments, invalidArguments, text } from "./Arguments.ts"
import { headOf, OUTPUT_BYTES } from "./BoundedText.ts"
import { matcherOf } from "./Glob.ts"
import { type OpenedFile, prepareReading } from "./OpenedFile.ts"
import * as Ripgrep from "./Ripgrep.ts"
import type { Workbench } from "./Workbench.ts"

/** Longer lines are cut. */
const LINE_BYTES = 1000
const NOTE_BYTES = 120

interface GrepArguments {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
}

const args = defineArguments<GrepArguments>({
  required: { pattern: text("A regular expression (Rust syntax), matched against each line.", { filled: true }) },
  optional: {
    path: text("The file or directory to search (default: the workspace).", { filled: true }),
    glob: text("Only files that match this glob, such as *.ts or src/**/*.test.ts.", { filled: true })
  }
})

/** What of ripgrep's output is a hit: `path NUL line:text`. */
const taking = (root: OpenedFile, matches: (path: string) => boolean) => {
  let bytes = 0
  return (line: string) => {
    const at = line.indexOf("\0")
    const path = line.slice(0, Math.max(0, at)).replace(/^\.\//, "")
    if (at < 0 || !matches(path)) return { keep: undefined, isFull: false }
    const keep = `${Ripgrep.pathOfHit(root, path)}:${headOf(line.slice(at + 1), LINE_BYTES)}`
    bytes += Buffer.byteLength(keep) + 1
    return { keep, isFull: bytes > OUTPUT_BYTES - NOTE_BYTES }
  }
}

/**
 * The cheap half of a glob about names, for ripgrep itself; the exact one is `taking`. Not its `--glob`, which would
 * bring ignored files back.
 */
const typeOptions = (glob: string | undefined) =>
  glob === undefined || /[/:![\]{}\\]/.test(glob) ? [] : [`--type-add=picked:${glob}`, "--type=picked"]

export const grep = (bench: Workbench): AgentTool => ({
  name: "grep",
  description:
    "Searches files for lines that match a regular expression. Gives path:line:text, at most 30 KiB. Files that " +
    ".gitignore excludes and binary files are left out. Outside the workspace the user is asked.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "search",
  fingerprint: null,
  compact: true,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { glob, path = ".", pattern } = yield* args.decode(given)
      const globMatches = glob === undefined ? () => true : matcherOf(glob)
      if (globMatches === undefined) return yield* invalidArguments("no glob", "/glob")
      return yield* prepareReading(bench, path, context, `grep ${pattern}\nin ${path}`, (file) => {
        const isDirectory = file.stats.isDirectory()
        // One file that is named is searched whatever its name.
        const matches = isDirectory ? globMatches : () => true
        const options = [
          `--regexp=${pattern}`,
          "--null",
          "--line-number",
          "--no-heading",
          "--with-filename",
          `--max-columns=${LINE_BYTES}`,
          "--max-columns-preview",
          ...(isDirectory ? typeOptions(glob) : [])
        ]
        return Effect.succeed({
          lines: [file.shown],
          execute: Effect.map(
            Ripgrep.run(bench, file, { args: options, separator: "\n", take: taking(file, matches) }),
            ({ incomplete, lines, more }) => {
              const notes = [
                ...(lines.length === 0 ? ["no line matches; files that .gitignore excludes were not searched"] : []),
                ...(more ? ["there are more matches; search for something narrower"] : []),
                ...(incomplete ? ["some files could not be read"] : [])
              ]
              return { text: [...lines, ...notes.map((note) => `[${note}]`)].join("\n") }
            }
          )
        })
      })
    })
})
