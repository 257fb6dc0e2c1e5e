/** product section 2: AGENTS.md of a workspace is untrusted text, at most 32 KiB. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as WorkspaceNotes from "../../src/agent/WorkspaceNotes.ts"

const workspace = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "notes-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("AGENTS.md", () => {
  it.live("is read where it is a file, at most one byte more than is shown", () =>
    Effect.gen(function* () {
      const path = yield* workspace
      assert.isNull(yield* WorkspaceNotes.read(path))
      writeFileSync(join(path, "AGENTS.md"), "Use tabs.\n")
      assert.strictEqual(yield* WorkspaceNotes.read(path), "Use tabs.\n")
      writeFileSync(join(path, "AGENTS.md"), "x".repeat(100_000))
      assert.strictEqual((yield* WorkspaceNotes.read(path))?.length, 32_769)
    })
  )

  it.live("a link or a FIFO is not read, and holds nothing up", () =>
    Effect.gen(function* () {
      const linked = yield* workspace
      writeFileSync(join(linked, "other"), "SENTINEL")
      symlinkSync(join(linked, "other"), join(linked, "AGENTS.md"))
      assert.isNull(yield* WorkspaceNotes.read(linked))
      const piped = yield* workspace
      assert.strictEqual(spawnSync("mkfifo", [join(piped, "AGENTS.md")]).status, 0)
      assert.isNull(yield* WorkspaceNotes.read(piped))
    })
  )
})
