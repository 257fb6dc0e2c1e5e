/** What is asked before a file is written. base-protocol section 5 (`approval.request`), product section 2. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { type ApprovalNeed, ToolFailure } from "../Tool.ts"
import { headOf } from "./BoundedText.ts"
import type { Workbench } from "./Workbench.ts"
import type { Unwritable, WriteTarget } from "./WriteTarget.ts"

/** Of a text that is too long to be shown whole. */
const FIRST_LINES = 20
const FIRST_BYTES = 1500

/** Size, SHA-256 and first lines of a text. */
const digest = (text: string): string => {
  const bytes = Buffer.from(text)
  const lines = text.split("\n")
  const first = headOf(lines.slice(0, FIRST_LINES).join("\n"), FIRST_BYTES)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  return `too long to be shown whole: ${bytes.length} bytes, ${lines.length} lines, SHA-256 ${sha256}; it begins:\n${first}`
}

const whereOf = (target: WriteTarget | Unwritable): string => {
  const { asks, path } = target
  const verb = target._tag === "Unwritable" ? "writes" : target.existing ? "replaces" : "creates"
  if (asks === "outside") return `${verb} a file outside the workspace: ${path}`
  return asks === "protected" ? `${verb} a file in a protected place: ${path}` : `${verb} ${path}`
}

/**
 * The approval that writing `text` to `target` needs; `null` where the settings allow it and the place is an ordinary
 * one. `action` names the path as it was given, `before` is shown in front of the new text.
 */
export const writeApproval = (
  bench: Workbench,
  target: WriteTarget | Unwritable,
  shown: { readonly action: string; readonly before?: string; readonly text: string }
): Effect.Effect<ApprovalNeed | null, ToolFailure> => {
  const setting = bench.settings.approvals.write
  if (setting === "deny") {
    return Effect.fail(new ToolFailure({ code: "approval_denied", message: "the settings deny writing files" }))
  }
  const always = target.asks !== undefined
  if (setting === "allow" && !always) return Effect.succeed(null)
  const head = `${shown.action}\n${whereOf(target)}\n`
  return Effect.succeed({
    kind: "write",
    summary: `${head}${shown.before ?? ""}new text:\n${shown.text}`,
    short: `${head}new text: ${digest(shown.text)}`,
    always
  })
}
