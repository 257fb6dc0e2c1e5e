/** The workspace's AGENTS.md: untrusted text for the system prompt. product section 2. */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { AGENTS_MD_BYTES } from "./model/SystemPrompt.ts"

/**
 * Its text, or `null`: only a regular file that lies in the workspace itself, no link. Opened without waiting, so that a
 * FIFO of that name holds nothing up. One byte more than is shown is read, so that the prompt can say that it was cut.
 */
export const read = (workspace: string): Effect.Effect<string | null> =>
  Effect.tryPromise(async () => {
    const path = join(workspace, "AGENTS.md")
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile()) return null
      const bytes = new Uint8Array(AGENTS_MD_BYTES + 1)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      return new TextDecoder().decode(bytes.subarray(0, bytesRead))
    } finally {
      await file.close()
    }
  }).pipe(Effect.orElseSucceed(() => null))
