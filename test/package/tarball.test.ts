/**
 * The tarball as an application has it: in a project of its own, type-checked with each resolution, and run. `npm test` lays
 * the project without a registry; `npm run pack:check` installs it for real (`PACKED_BY=npm`).
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { type Page, page, programsOf } from "../docs/pages.ts"
import { copyExamples, layScratch, manifest, root } from "./scratch.ts"

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

const record =
  '{"record_id":"R-17","title":"Broken lamp in the hall","status":"open","notes":["reported by the porter"]}'

describe("the packed tarball", { timeout: 60_000 }, () => {
  let folder = ""
  beforeAll(() => {
    const scratch = layScratch(process.env["PACKED_BY"] === "npm" ? "npm" : "links")
    folder = scratch.folder
    writeFileSync(join(folder, "main.ts"), program)
    copyExamples(folder)
    return scratch.remove
  }, 120_000)

  /** Runs a program of the project with a home of its own; what it prints, and how it ends. */
  const run = (words: ReadonlyArray<string>) => {
    const home = join(folder, "home")
    mkdirSync(home, { recursive: true })
    // Without node_modules/.bin, as where somebody types `node main.ts`.
    const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
    const env = { PATH: path, HOME: home, MC_HOME: home, NO_COLOR: "1" }
    const { error, status, stderr, stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8", env })
    if (error !== undefined) throw error
    return { status, stderr, stdout }
  }
  const printed = (words: ReadonlyArray<string>): string => {
    const { status, stderr, stdout } = run(words)
    assert.strictEqual(status, 0, stderr)
    return stdout
  }

  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["esnext", "bundler"]
  ] as const) {
    it(`type-checks with moduleResolution ${moduleResolution}`, () => {
      const config = {
        compilerOptions: {
          // The declarations themselves are checked once; effect's name types of the DOM.
          ...{ module, moduleResolution, skipLibCheck: moduleResolution !== "nodenext", types: ["node"] },
          ...{ target: "es2024", lib: ["es2024", "esnext.disposable", "dom"], noEmit: true },
          ...{ strict: true, exactOptionalPropertyTypes: true, allowImportingTsExtensions: true }
        },
        include: ["main.ts", "examples"]
      }
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
      const { status, stdout } = run([tsc, "-p", "."])
      assert.strictEqual(status, 0, stdout)
    })
  }

  it("runs: every entry is there, and its own agent is found and driven", () =>
    assert.strictEqual(printed(["main.ts", join(folder, "home")]), "said ok 32 function object function\n"))

  describe("the examples run, with their imports from the package", () => {
    const example = (name: string, expected: ReadonlyArray<string>) =>
      it(name, () => {
        const out = printed([join("examples", name)]).replaceAll(folder, "FOLDER")
        assert.deepStrictEqual(out.trimEnd().split("\n"), [...expected])
      })

    example("script.ts", ["called: client__word_count", "replied: success", 'completed: {"words":6}'])
    example("library.ts", ["(client__lookup_record)", record])
    example("approvals.ts", [
      String.raw`tool: "client__add_note {\"record_id\":\"R-17\",\"note\":\"The lamp is ordered.\"}": allowed`,
      'completed: {"notes":2}',
      String.raw`agent: "bash in FOLDER, at most 120 s:\ndate": denied`,
      "completed: bash failed: it was not approved"
    ])
    example("embed-server.ts", ["embedded: completed: R-17 was looked up."])

    it("interop.ts", () => {
      const both = JSON.parse(printed([join("examples", "interop.ts")]))
      assert.deepStrictEqual(both, { viaModel: JSON.parse(record), viaAgent: JSON.parse(record) })
    })
  })

  describe("the pages' programs run", () => {
    const program = (page: Page, section: string, expected: string) =>
      it(`${page.path}, ${section}`, () => {
        const found = programsOf(page.text).find((one) => one.section === section)
        if (found === undefined) return assert.fail("there is no such program")
        // Beside tools.ts, which some of them import.
        const file = join("examples", "page.ts")
        writeFileSync(join(folder, file), found.text)
        assert.strictEqual(printed([file]), expected)
      })

    program(page("README.md"), "for-a-library-user", '{"title":"Record R-17"}\n')
    program(page("docs/library.md"), "without-effect", 'completed {"words":6}\n')
    program(page("docs/library.md"), "with-effect", `${record}\n`)
  })

  describe("its command", () => {
    const bin = join("node_modules", ".bin", "magi-code")

    it("tells its version", () => assert.strictEqual(printed([bin, "--version"]).trim(), manifest.version))

    it("runs a turn with a file of plain tools", () => {
      const { status, stderr, stdout } = run([
        bin,
        ...["run", "--tools", "examples/plain-tools.mjs", 'The word count of "to be or not to be"']
      ])
      assert.strictEqual(stdout, '{"words":6}\n', stderr)
      assert.strictEqual(status, 0)
    })

    it("runs a turn with a toolkit in TypeScript, on the application's copy of effect", () =>
      assert.include(printed([bin, "run", "--tools", "examples/tools.ts", 'Look up the record "R-17"']), "Broken lamp"))

    it("has the agent's own tools: grep finds its ripgrep", () => {
      const call = { name: "grep", arguments: { pattern: "word_count", path: "examples" } }
      const script = `script:${JSON.stringify([{ calls: [call] }, { text: "{{results}}" }])}`
      const result = JSON.parse(printed([bin, "run", "--tools", "examples/plain-tools.mjs", script]))
      assert.deepInclude(result, { name: "grep", success: true })
      assert.include(result.content.text, "plain-tools.mjs:6")
    })

    it("finds nothing wrong with its installation", () => {
      const { status, stderr } = run([bin, "doctor"])
      assert.include(stderr, "nothing is wrong")
      assert.strictEqual(status, 0)
    })
  })
})
