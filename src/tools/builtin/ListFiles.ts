/** `list_files`: what is in one directory. product section 2. */
import type { Dirent } from "node:fs"
import { opendir } from "node:fs/promises"
import { Effect } from "effect"
import { pathOfHandle } from "../../platform/HandlePath.ts"
import type { AgentTool } from "../Tool.ts"
import { defineArguments, text } from "./Arguments.ts"
import { joinLines, OUTPUT_BYTES } from "./BoundedText.ts"
import { type OpenedFile, prepareReading } from "./OpenedFile.ts"
import { failed, io, type Workbench } from "./Workbench.ts"

/** A directory is read no further than this. */
const ENTRIES = 20_000
const NOTE_BYTES = 80

interface ListArguments {
  readonly path?: string
}

const args = defineArguments<ListArguments>({
  required: {},
  optional: { path: text("The directory (default: the workspace).", { filled: true }) }
})

/** A name on one line, whatever characters it has. */
export const oneLine = (name: string): string =>
  name.replace(/\p{Cc}/gu, (character) => `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`)

/** As `ls -F` marks them. */
const marked = (entry: Dirent) =>
  `${oneLine(entry.name)}${entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : entry.isFile() ? "" : "="}`

const listing = (file: OpenedFile) =>
  io(async () => {
    const names: Array<string> = []
    // The iteration closes the directory itself, also where it is left early.
    for await (const entry of await opendir(pathOfHandle(file.handle, file.path))) {
      names.push(marked(entry))
      if (names.length >= ENTRIES) break
    }
    return names.sort()
  })

export const listFiles = (bench: Workbench): AgentTool => ({
  name: "list_files",
  description:
    "Lists the entries of one directory, one on a line, hidden ones too: directories end in /, symbolic links in @, " +
    "other special files in =. Outside the workspace the user is asked.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "search",
  fingerprint: null,
  compact: false,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { path = "." } = yield* args.decode(given)
      return yield* prepareReading(bench, path, context, `list ${path}`, (file) =>
        file.stats.isDirectory()
          ? Effect.succeed({
              lines: [file.shown],
              execute: Effect.map(listing(file), (names) => {
                const { left, text } = joinLines(names, OUTPUT_BYTES - NOTE_BYTES)
                const more = names.length >= ENTRIES ? "at least " : ""
                return {
                  text: left === 0 && more === "" ? text : `${text}\n[${more}${left} more entries are not shown]`
                }
              })
            })
          : Effect.fail(failed("it is not a directory"))
      )
    })
})
