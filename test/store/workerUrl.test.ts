/** A worker is found from source, from the library and from any chunk of a bundle. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { workerUrl } from "../../src/platform/workerUrl.ts"
import { temporary } from "./support.ts"

describe("workerUrl", () => {
  it("source: the .ts beside its caller", () => {
    const url = workerUrl("storeWorker", "file:///p/src/store/SqliteSessionStore.ts")
    assert.strictEqual(url.href, "file:///p/src/store/storeWorker.ts")
  })

  it.effect("built: the .js beside its caller, else the one in dist/workers", () =>
    Effect.gen(function* () {
      const dist = yield* temporary
      for (const folder of ["workers", "chunks", "lib/store", "lib/agent/code-mode"]) {
        mkdirSync(join(dist, folder), { recursive: true })
      }
      const at = (path: string) => pathToFileURL(join(dist, path)).href
      for (const path of ["workers/storeWorker.js", "workers/other.js", "lib/store/storeWorker.js"]) {
        writeFileSync(join(dist, path), "")
      }
      assert.strictEqual(workerUrl("storeWorker", at("cli.js")).href, at("workers/storeWorker.js"))
      assert.strictEqual(workerUrl("storeWorker", at("chunks/x-1.js")).href, at("workers/storeWorker.js"))
      assert.strictEqual(workerUrl("storeWorker", at("lib/store/a.js")).href, at("lib/store/storeWorker.js"))
      assert.strictEqual(workerUrl("other", at("lib/agent/code-mode/a.js")).href, at("workers/other.js"))
      assert.strictEqual(workerUrl("none", at("cli.js")).href, at("none.js"))
    })
  )
})
