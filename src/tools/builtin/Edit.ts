/** `edit`: replaces a text of a file by another, exactly. product section 2. */
import { Effect } from "effect"
import type { AgentTool, ToolFailure } from "../Tool.ts"
import { defineArguments, flag, invalidArguments, text } from "./Arguments.ts"
import { type OpenedFile, readAll } from "./OpenedFile.ts"
import { type Replaced, replaceText } from "./Replacement.ts"
import { failed, type Workbench } from "./Workbench.ts"
import { writeApproval } from "./WriteApproval.ts"
import { commit, writeTarget } from "./WriteTarget.ts"

const FILE_BYTES = 16 * 1024 * 1024

interface EditArguments {
  readonly path: string
  readonly old: string
  readonly new: string
  readonly all?: boolean
}

const args = defineArguments<EditArguments>({
  required: {
    path: text("The file, relative to the workspace or absolute.", { filled: true }),
    old: text("The text to replace, exactly as it is in the file. It must occur once, unless all is true.", {
      filled: true,
      anyCharacter: true
    }),
    new: text("The text to put in its place.", { anyCharacter: true })
  },
  optional: { all: flag("Replace every occurrence.") }
})

const replacement = (file: OpenedFile, given: EditArguments): Effect.Effect<Replaced, ToolFailure> =>
  Effect.gen(function* () {
    const content = yield* readAll(file.handle, FILE_BYTES)
    const replaced = replaceText(content, { old: given.old, fresh: given.new, all: given.all ?? false })
    if (replaced === "missing") return yield* failed("the old text is not in the file; read it again")
    if (!("content" in replaced)) {
      return yield* failed(`the old text occurs ${replaced.times} times; give more of its surroundings, or all: true`)
    }
    return replaced
  })

export const edit = (bench: Workbench): AgentTool => ({
  name: "edit",
  description:
    "Replaces one text in a file by another. The old text must be in the file exactly, white space included, and only " +
    "once unless all is true. Line endings, mode and owner are kept. Protected places and paths outside the workspace " +
    "ask the user.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "edit",
  fingerprint: null,
  compact: true,
  prepare: (raw, context) =>
    Effect.gen(function* () {
      const given = yield* args.decode(raw)
      if (given.old === given.new) return yield* invalidArguments("must be another text than old", "/new")
      const target = yield* writeTarget(bench, given.path, context)
      const missing = failed("no such file; write makes one")
      if (target._tag === "Target" && !target.existing && target.asks !== "outside") return yield* missing
      const approval = yield* writeApproval(bench, target, {
        action: `edit ${given.path}${given.all ? ", every occurrence" : ""}`,
        before: `old text:\n${given.old}\n`,
        text: given.new
      })
      const lines = [target.shown]
      // Nobody is asked about an edit that cannot be made. Outside the workspace the answer itself would tell what is
      // there and in the file, so there the user is asked first.
      if (target._tag === "Unwritable") return { approval, lines, execute: Effect.fail(target.failure) }
      if (!target.existing) return { approval, lines, execute: Effect.fail(missing) }
      if (target.asks !== "outside") yield* replacement(target.existing, given)
      let times = 0
      const apply = (present: OpenedFile | undefined) =>
        present === undefined
          ? Effect.fail(failed("the file is gone"))
          : Effect.map(replacement(present, given), (replaced) => {
              times = replaced.times
              return replaced.content
            })
      return {
        approval,
        lines,
        execute: Effect.map(commit(bench, target, apply), () => ({
          text: `edited ${target.shown} (${times === 1 ? "1 replacement" : `${times} replacements`})`
        }))
      }
    })
})
