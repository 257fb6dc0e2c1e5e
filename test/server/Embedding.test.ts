/** product section 4: the backend embedded in another Effect program, with its own transport, model, settings and store. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agent, fromTransport } from "../../src/index.ts"
import { MemorySessionStore, makeMemoryPair, serve, startupWith, Transport } from "../../src/server/index.ts"

describe("magi-code/server", () => {
  it("the example serves over a Unix socket, answers with its own model, and its process ends by itself", async () => {
    const example = fileURLToPath(new URL("../../examples/embed-server.ts", import.meta.url))
    const child = spawn(process.execPath, [example], { stdio: ["ignore", "pipe", "inherit"] })
    let out = ""
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text
    })
    const [code] = await once(child, "close")
    assert.strictEqual(out, "embedded: completed: R-17 was looked up.\n")
    assert.strictEqual(code, 0)
  })

  it.live("settings given as a value are checked as strictly as a file", () =>
    Effect.gen(function* () {
      const [client, server] = yield* makeMemoryPair()
      const startup = startupWith({ settings: { schema_version: 2, unknown: true }, store: MemorySessionStore })
      yield* serve({ workspace: process.cwd(), startup, server: { name: "t", version: "1" } }).pipe(
        Effect.provideService(Transport, server),
        Effect.forkScoped
      )
      const error = yield* Effect.flip(Agent.over(fromTransport(client)))
      assert.strictEqual(error._tag, "InitializeFailed")
      if (error._tag === "InitializeFailed") {
        assert.strictEqual(error.code, "configuration_invalid")
        assert.strictEqual(error.path, "/unknown")
      }
    }).pipe(Effect.scoped)
  )
})
