import { existsSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CodeModeLimits } from "../../src/agent/code-mode/CodeModeLimits.ts"
import * as SandboxThread from "../../src/agent/code-mode/SandboxThread.ts"

const dist = new URL("../../dist/", import.meta.url)

describe("Code Mode as it is built", () => {
  // The bundled engine looks for its WebAssembly beside itself; the library takes it from the package.
  for (const entry of ["workers/codeModeWorker.js", "lib/agent/code-mode/codeModeWorker.js"]) {
    it.live.skipIf(!existsSync(dist))(`dist/${entry} finds its engine and runs a script`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const thread = yield* SandboxThread.start(CodeModeLimits, () => undefined, new URL(entry, dist))
          yield* thread.ready
          yield* thread.send({ type: "run", code: "return 6 * 7", tools: [], bounds: CodeModeLimits, ms: 1000 })
          assert.deepStrictEqual(yield* thread.next, { type: "returned", value: "42" })
        })
      )
    )
  }
})
