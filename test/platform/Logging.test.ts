/** base-protocol section 1: "logs and diagnostics go to stderr; when the transport has failed nothing more is written anywhere". */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerWith, parseLevel } from "../../src/platform/Logging.ts"

const script = fileURLToPath(new URL("./children/logs.ts", import.meta.url))

/** Runs the script; its stderr is read only once it has ended if `late`. */
const run = async (level: string | undefined, mode = "", late = false) => {
  const { MC_LOG: _, ...env } = process.env
  const child = spawn(process.execPath, [script, mode], {
    env: level === undefined ? env : { ...env, MC_LOG: level },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const out = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk: Buffer) => (out.stdout += chunk))
  if (!late) child.stderr.on("data", (chunk: Buffer) => (out.stderr += chunk))
  else await once(child.stdout, "data")
  if (late) child.stderr.on("data", (chunk: Buffer) => (out.stderr += chunk))
  await once(child, "close")
  return out
}

const messages = (stderr: string): ReadonlyArray<string> =>
  stderr
    .trimEnd()
    .split("\n")
    .map((line): string => JSON.parse(line).message)

describe("logs", () => {
  it("go to stderr as lines of JSON, never to stdout, from the level of MC_LOG up", async () => {
    const warn = ["at warn \u001b[31m", "an error TypeError", "[object]", "failed", "died"]
    const levels: ReadonlyArray<readonly [string | undefined, ReadonlyArray<string>]> = [
      [undefined, warn],
      ["info", ["at info", ...warn]],
      ["DEBUG", ["at debug", "at info", ...warn]],
      ["all", ["at trace", "at debug", "at info", ...warn]]
    ]
    for (const [level, wanted] of levels) {
      const { stderr, stdout } = await run(level)
      assert.strictEqual(stdout, "")
      assert.deepStrictEqual(messages(stderr), wanted)
    }
    assert.deepStrictEqual(await run("none"), { stdout: "", stderr: "" })
  })

  it("an unknown level is said and the default taken", async () => {
    const { stderr } = await run("loud")
    assert.match(messages(stderr)[0] ?? "", /^MC_LOG is no level: use one of all, trace/)
    assert.strictEqual(messages(stderr).length, 6)
  })

  it("hold no value: of failures their kind, code and place, of objects nothing", async () => {
    const { stderr } = await run("all")
    assert.notMatch(stderr, /SENTINEL/)
    assert.match(stderr, /SomeFailure E_SOME\\n {4}at .*logs\.ts:\d+/)
    assert.match(stderr, /SyntaxError\\n/)
    assert.include(stderr, '"annotations":{"count":3,"object":"[object]"}')
  })

  it("never hold up the process when nobody reads them: what does not fit is dropped and counted", async () => {
    const { stderr, stdout } = await run("error", "flood", true)
    assert.strictEqual(stdout, "turned true\n")
    assert.isBelow(stderr.length, 1_000_000)
  })

  it("stop when the transport has failed", async () => {
    assert.notInclude((await run("all", "silence")).stderr, "after the transport failed")
  })

  it("for people: one line each, controls shown and not obeyed", async () => {
    const lines: Array<string> = []
    const logging = layerWith({ level: "Info", style: "pretty", write: (line) => lines.push(line) > 0 })
    const program = Effect.annotateLogs(Effect.logInfo("red \u001b[31m\nnext \u202e"), { "a\u0007": "b\r" })
    await Effect.runPromise(Effect.provide(program, logging))
    assert.strictEqual(lines.length, 1)
    assert.match(
      lines[0] ?? "",
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}red \\u\{1b\}\[31m\\u\{a\}next \\u\{202e\} a\\u\{7\}=b\\u\{d\}$/
    )
  })

  it("that could not be written are counted in the next one that can", async () => {
    const lines: Array<string> = []
    let full = true
    const write = (line: string) => !full && lines.push(line) > 0
    const program = Effect.gen(function* () {
      yield* Effect.logInfo("one")
      yield* Effect.logInfo("two")
      full = false
      yield* Effect.logInfo("three")
    })
    await Effect.runPromise(Effect.provide(program, layerWith({ level: "Info", style: "json", write })))
    assert.deepStrictEqual(messages(lines.join("\n")), ["log lines were dropped", "three"])
    assert.deepInclude(JSON.parse(lines[0] ?? ""), { annotations: { dropped: 2 } })
  })

  it("know their levels by name", () => {
    assert.deepStrictEqual(["warn", " Warning ", "OFF", "x", ""].map(parseLevel), [
      "Warn",
      "Warn",
      "None",
      undefined,
      undefined
    ])
  })
})
