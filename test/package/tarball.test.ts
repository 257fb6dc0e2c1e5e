/** The tarball as an application has it: installed into a project of its own, type-checked with each resolution, and run. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const program = `
import { Effect } from "effect"
import { Agent, PlainTools, type TurnOutcome } from "magi-code"
import { openAgent } from "magi-code/promise"
import { Limits } from "magi-code/protocol"
import { MemorySessionStore, startupWith } from "magi-code/server"
import { callTool } from "magi-code/testing"

const tool = { name: "t", description: "A tool.", input_schema: { type: "object" }, execute: () => "said" }
const reply = await Effect.runPromise(Effect.flatMap(PlainTools.make([tool]), (tools) => callTool(tools, "t")))
await using agent = await openAgent({ tools: [tool], env: { MC_HOME: process.argv[2] ?? "" } })
await agent.createSession()
const outcome: TurnOutcome = await agent.run('script:[{"calls":[{"name":"client__t","arguments":{}}]},{"text":"ok"}]')
console.log(reply.text, outcome.text, Limits.json_depth, typeof startupWith, typeof MemorySessionStore, typeof Agent.make)
`

describe("the packed tarball", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "packed-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeAll(() => {
    const modules = join(folder, "node_modules")
    mkdirSync(join(modules, "magi-code"), { recursive: true })
    execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: root })
    const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
    execFileSync("tar", ["-xzf", join(folder, tarball), "--strip-components=1", "-C", join(modules, "magi-code")])
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (!existsSync(join(modules, name))) symlinkSync(join(root, "node_modules", name), join(modules, name))
    }
    writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}')
    writeFileSync(join(folder, "main.ts"), program)
  }, 60_000)

  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["esnext", "bundler"]
  ] as const) {
    it(`type-checks with moduleResolution ${moduleResolution}`, () => {
      const options = ["--noEmit", "--strict", "--target", "es2024", "--lib", "es2024,esnext.disposable,dom"]
      const rest = ["--skipLibCheck", "--types", "node", "--module", module, "--moduleResolution", moduleResolution]
      const tsc = join(root, "node_modules/typescript/bin/tsc")
      execFileSync(process.execPath, [tsc, ...options, ...rest, "main.ts"], { cwd: folder, encoding: "utf8" })
    })
  }

  it("runs: every entry is there, and its own agent is found and driven", () => {
    const out = execFileSync(process.execPath, ["main.ts", join(folder, "home")], { cwd: folder, encoding: "utf8" })
    assert.strictEqual(out, "said ok 32 function object function\n")
  })
})
