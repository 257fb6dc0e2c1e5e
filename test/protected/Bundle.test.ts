/** The scanning thread runs from a bundle as it does from source: `dist/workers/redactWorker.js` (platform/workerUrl.ts). */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"

const source = (path: string) => fileURLToPath(new URL(`../../src/broker/protected/${path}`, import.meta.url))

/** What the bundled program tells of itself. */
interface Bundled {
  readonly scanned: Promise<{ readonly text: string; readonly millis: number }>
}

describe("bundled", () => {
  it("the thread is found, warms up, and scans", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mc-bundle-"))
    try {
      const shared = {
        bundle: true,
        platform: "node",
        format: "esm",
        banner: {
          js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
        }
      } as const
      await build({
        ...shared,
        entryPoints: [source("redactWorker.ts")],
        outfile: join(folder, "workers", "redactWorker.js")
      })
      await build({
        ...shared,
        stdin: {
          contents: `
            import { Effect } from "effect"
            import { makeScanner } from "./Scanner.ts"
            const begun = performance.now()
            export const scanned = Effect.runPromise(Effect.scoped(Effect.flatMap(makeScanner(["quiet.harbour+42"]), (scanner) =>
              Effect.map(scanner.scan({ text: "quiet.harbour+42 token=x ghp_" + "a1B2".repeat(9) }, 1000), (verdict) =>
                ({ text: verdict._tag === "Protected" ? verdict.value.text : verdict.rule, millis: performance.now() - begun })))))
          `,
          resolveDir: source("."),
          loader: "ts"
        },
        outfile: join(folder, "chunks", "program.js")
      })
      const program: Bundled = await import(pathToFileURL(join(folder, "chunks", "program.js")).href)
      const { millis, text } = await program.scanned
      console.log(`from a cold bundle to the first result: ${millis.toFixed(0)} ms`)
      assert.strictEqual(text, "[redacted] token=[redacted] [redacted]")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
