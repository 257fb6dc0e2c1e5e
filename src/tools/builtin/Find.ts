/** `find`: files whose path matches a glob. product section 2. */
import { Effect } from "effect"
import type { AgentTool } from "../Tool.ts"
import { defineArguments, invalidArguments, text } from "./Arguments.ts"
import { OUTPUT_BYTES } from "./BoundedText.ts"
import { matcherOf } from "./Glob.ts"
import { type OpenedFile, prepareReading } from "./OpenedFile.ts"
import * as Ripgrep from "./Ripgrep.ts"
import { failed, type Workbench } from "./Workbench.ts"

const NOTE_BYTES = 120

interface FindArguments {
  readonly pattern: string
  readonly path?: string
}

const args = defineArguments<FindArguments>({
  required: {
    pattern: text("A glob: without a slash it is about names at any depth, with one about paths below the directory.", {
      filled: true
    })
  },
  optional: { path: text("The directory to look in (default: the workspace).", { filled: true }) }
})

const taking = (root: OpenedFile, matches: (path: string) => boolean) => {
  let bytes = 0
  return (line: string) => {
    const path = line.replace(/^\.\//, "")
    if (!matches(path)) return { keep: undefined, isFull: false }
    const keep = Ripgrep.pathOfHit(root, path)
    bytes += Buffer.byteLength(keep) + 1
    return { keep, isFull: bytes > OUTPUT_BYTES - NOTE_BYTES }
  }
}

export const find = (bench: Workbench): AgentTool => ({
  name: "find",
  description:
    "Finds files by a glob such as *.ts or src/**/*.test.ts. Gives one path on a line, sorted, at most 30 KiB. Files " +
    "that .gitignore excludes and symbolic links are left out. Outside the workspace the user is asked.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "search",
  fingerprint: null,
  compact: false,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { path = ".", pattern } = yield* args.decode(given)
      const matches = matcherOf(pattern)
      if (matches === undefined) return yield* invalidArguments("no glob", "/pattern")
      return yield* prepareReading(bench, path, context, `find ${pattern}\nin ${path}`, (file) =>
        file.stats.isDirectory()
          ? Effect.succeed({
              lines: [file.shown],
              execute: Effect.map(
                Ripgrep.run(bench, file, { args: ["--files", "--null"], separator: "\0", take: taking(file, matches) }),
                ({ incomplete, lines, more }) => {
                  const notes = [
                    ...(lines.length === 0
                      ? ["no file matches; files that .gitignore excludes were not looked at"]
                      : []),
                    ...(more ? ["there are more files; look for something narrower"] : []),
                    ...(incomplete ? ["some folders could not be read"] : [])
                  ]
                  return { text: [...lines, ...notes.map((note) => `[${note}]`)].join("\n") }
                }
              )
            })
          : Effect.fail(failed("it is not a directory"))
      )
    })
})
