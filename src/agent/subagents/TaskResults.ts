/** What the tool `subagents` gives back: one entry a task, in input order. base-protocol section 7. */
import * as CompactJson from "../../protocol/CompactJson.ts"
import { ClientToolLimits } from "../../protocol/Limits.ts"

export type TaskResult = {
  readonly task_id: string
  readonly status: "completed" | "failed" | "cancelled"
  readonly output: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** Kept back for what redaction may add. Bytes. */
const RESERVE = 1024

const note = (bytes: number) => `\n[cut here: ${bytes} more bytes are in the task's own session]`
const NOTE_BYTES = CompactJson.textBytes(note(99_999_999))

const cut = (text: string, bytes: number): string => {
  const size = CompactJson.textBytes(text)
  if (size <= bytes) return text
  const kept = CompactJson.truncateText(text, Math.max(0, bytes - NOTE_BYTES))
  return kept + note(size - CompactJson.textBytes(kept))
}

/**
 * Makes the results fit into one tool result: the longest outputs are cut, and say so. A result that is refused as a whole
 * would lose the work of all its tasks.
 */
export const fitted = (results: ReadonlyArray<TaskResult>): ReadonlyArray<TaskResult> => {
  const bare = CompactJson.byteLength(results.map((result) => ({ ...result, output: "" })))
  let left = ClientToolLimits.result_bytes - RESERVE - bare
  const shares = new Map<TaskResult, number>()
  const bySize = [...results].sort((a, b) => CompactJson.textBytes(a.output) - CompactJson.textBytes(b.output))
  for (const [at, result] of bySize.entries()) {
    const share = Math.min(CompactJson.textBytes(result.output), Math.floor(left / (bySize.length - at)))
    shares.set(result, share)
    left -= share
  }
  return results.map((result) => ({ ...result, output: cut(result.output, shares.get(result) ?? 0) }))
}
