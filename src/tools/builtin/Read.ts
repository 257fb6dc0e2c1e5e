/** `read`: a text file, or a range of its lines. product section 2. */
import { Effect } from "effect"
import type { AgentTool } from "../Tool.ts"
import { defineArguments, integer, text } from "./Arguments.ts"
import { headOf, OUTPUT_BYTES } from "./BoundedText.ts"
import { prepareReading, readAll } from "./OpenedFile.ts"
import { failed, type Workbench } from "./Workbench.ts"

/** Larger files are for `grep` and `bash`. */
const FILE_BYTES = 16 * 1024 * 1024
const DEFAULT_LINES = 2000
/** Where a NUL in the beginning makes a file a binary one. */
const BINARY_PROBE_BYTES = 8192
const NOTE_BYTES = 160

interface ReadArguments {
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

const args = defineArguments<ReadArguments>({
  required: { path: text("The file, relative to the workspace or absolute.", { filled: true }) },
  optional: {
    offset: integer("The first line to read; lines count from 1.", 1, 1_000_000_000),
    limit: integer(`How many lines to read at most (default ${DEFAULT_LINES}).`, 1, 1_000_000_000)
  }
})

/** The lines of a text with their ends; a text that ends in a line end has no empty line behind it. */
const linesOf = (content: string): ReadonlyArray<string> => content.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The asked-for range within the bound, and where to go on. */
const rangeOf = (content: string, offset: number, limit: number) => {
  const lines = linesOf(content)
  if (offset > Math.max(1, lines.length)) return undefined
  const budget = OUTPUT_BYTES - NOTE_BYTES
  let shown = ""
  let bytes = 0
  let next = offset - 1
  while (next < lines.length && next < offset - 1 + limit) {
    const line = lines[next] ?? ""
    bytes += Buffer.byteLength(line)
    if (bytes > budget) break
    shown += line
    next += 1
  }
  if (next >= lines.length) return shown
  const where = `lines ${offset} to ${next} of ${lines.length}`
  if (next >= offset) return `${shown}[${where} shown; go on with offset ${next + 1}]`
  // One line alone is too long: its beginning is all there is to show.
  return `${headOf(lines[next] ?? "", budget)}\n[only the beginning of line ${offset} of ${lines.length}, which is too long]`
}

export const read = (bench: Workbench): AgentTool => ({
  name: "read",
  description:
    "Reads a text file of the workspace. Gives the text as it is, without line numbers, at most 30 KiB; a note in " +
    "brackets at the end says where to go on. Binary files are refused. Outside the workspace the user is asked.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "read",
  fingerprint: null,
  compact: true,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { path, offset = 1, limit = DEFAULT_LINES } = yield* args.decode(given)
      return yield* prepareReading(bench, path, context, `read ${path}`, (file) =>
        file.stats.isDirectory()
          ? Effect.fail(failed("it is a directory; list_files shows what is in it"))
          : Effect.succeed({
              lines: [file.shown],
              execute: Effect.gen(function* () {
                const bytes = yield* readAll(file.handle, FILE_BYTES)
                if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) {
                  return yield* failed(`a binary file of ${bytes.length} bytes`)
                }
                const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
                const range = rangeOf(content, offset, limit)
                if (range === undefined) return yield* failed(`the file has only ${linesOf(content).length} lines`)
                return { text: range }
              })
            })
      )
    })
})
