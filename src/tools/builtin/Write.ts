/** `write`: a whole file, new or replaced. product section 2. */
import { Effect } from "effect"
import type { AgentTool } from "../Tool.ts"
import { defineArguments, text } from "./Arguments.ts"
import type { Workbench } from "./Workbench.ts"
import { writeApproval } from "./WriteApproval.ts"
import { commit, writeTarget } from "./WriteTarget.ts"

interface WriteArguments {
  readonly path: string
  readonly content: string
}

const args = defineArguments<WriteArguments>({
  required: {
    path: text("The file, relative to the workspace or absolute.", { filled: true }),
    content: text("The whole new text of the file.", { anyCharacter: true })
  }
})

export const write = (bench: Workbench): AgentTool => ({
  name: "write",
  description:
    "Writes a whole file: makes it, with the folders it needs, or replaces its text and keeps its mode and owner. To " +
    "change a part of a file use edit. Protected places and paths outside the workspace ask the user.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "edit",
  fingerprint: null,
  compact: false,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { content, path } = yield* args.decode(given)
      const target = yield* writeTarget(bench, path, context)
      const approval = yield* writeApproval(bench, target, { action: `write ${path}`, text: content })
      const lines = [target.shown]
      if (target._tag === "Unwritable") return { approval, lines, execute: Effect.fail(target.failure) }
      const bytes = Buffer.from(content)
      return {
        approval,
        lines,
        execute: Effect.as(
          commit(bench, target, () => Effect.succeed(bytes)),
          { text: `${target.existing ? "replaced" : "created"} ${target.shown} (${bytes.length} bytes)` }
        )
      }
    })
})
