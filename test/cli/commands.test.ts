/** product section 1: exit codes, one clear line for each error, results on stdout and everything else on stderr. */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commands } from "../../src/cli/help/commands.ts"
import { nearest } from "../../src/cli/help/suggest.ts"
import { cli } from "../process/support/Built.ts"
import { folder, magi } from "./support.ts"

const oneLine = (text: string) => {
  assert.match(text, /^magi-code[^\n]*\n$/)
  assert.notMatch(text, /\n\s+at /)
}

describe("help", () => {
  it("each command has its own, with examples, on stdout", () => {
    const { status, stderr, stdout } = magi(["--help"])
    assert.strictEqual(status, 0)
    assert.strictEqual(stderr, "")
    for (const { examples, name } of commands) {
      assert.include(stdout, name)
      const own = magi([name, "--help"])
      assert.strictEqual(own.status, 0, name)
      assert.include(own.stdout, `usage: magi-code ${name}`)
      assert.include(own.stdout, examples[0]?.line ?? "no example")
    }
  }, 60_000)

  it("wrong usage is exit code 2 and one line, with what was meant", () => {
    for (const [args, meant] of [
      [["sesions"], "did you mean sessions?"],
      [["hlep"], "did you mean help?"],
      [["--versoin"], "did you mean --version?"],
      [["trace", "a", "--htlm", "b"], "did you mean --html?"],
      [["sessions", "delte", "a"], "did you mean delete?"],
      [["sessions", "show"], "ID"],
      [["sessions", "show", "not an id"], "not the id"],
      [["sessions", "prune"], "--older-than"],
      [["sessions", "prune", "--older-than", "soon"], "number of days"],
      [["sessions", "list", "--yes"], "--yes does not go with list"],
      [["trust", "--yes"], "unknown option --yes"],
      [["doctor", "now"], "no arguments"],
      [["trace"], "SESSION"],
      [["trace", "a", "--html"], "needs a value"],
      [["completions", "csh"], "bash"],
      [["run", "--tols", "a.ts", "go"], "did you mean --tools?"],
      [["run", "--approve", "aks", "go"], "did you mean ask?"],
      [["run", "--log-level", "wran", "go"], "did you mean warn?"],
      [["run"], "PROMPT"],
      [["run", "--\u001b[31m", "go"], "unknown option"],
      [["check", "--log-lvel", "warn", "a.ts"], "did you mean --log-level?"],
      [["check"], "FILE"],
      [["check", "a", "b"], "one FILE"],
      [["doctor", "--jsn"], "unknown option"],
      [["trust", "--revok"], "did you mean --revoke?"],
      [["sessions", "prune", "--older-then", "3"], "did you mean --older-than?"],
      [["a\u001b[31m\nb"], "unknown command"]
    ] as const) {
      const { status, stderr, stdout } = magi(args)
      assert.strictEqual(status, 2, args.join(" "))
      assert.strictEqual(stdout, "")
      oneLine(stderr)
      assert.include(stderr, meant)
      assert.notInclude(stderr, "\u001b")
    }
  }, 60_000)

  it("serve tells its help on stdout when asked for nothing else; anything else is exit code 1 with an empty stdout", () => {
    const serve = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, [cli, "serve", ...args], { encoding: "utf8", input: "", timeout: 20_000 })
    for (const word of ["--help", "-h"]) {
      const { status, stderr, stdout } = serve(word)
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.include(stdout, "usage: magi-code serve --stdio")
    }
    for (const args of [[], ["--stdoi"], ["--stdio", "--help"], ["--help", "--stdio"], ["--stdio", "--stdio"]]) {
      const { status, stderr, stdout } = serve(...args)
      assert.deepStrictEqual([status, stdout], [1, ""], args.join(" "))
      assert.match(stderr, /^usage: magi-code serve --stdio[^\n]*\n$/)
    }
  }, 60_000)

  it("nothing is suggested for a word that is near to none", () => {
    assert.isUndefined(nearest("xylophone", ["run", "check"]))
    assert.strictEqual(nearest("rnu", ["run", "check"]), "run")
  })
})

describe("doctor", () => {
  it("finds nothing wrong with a new home, and makes none", () => {
    const home = join(folder(), "home")
    const { status, stdout } = magi(["doctor"], { home, cwd: folder() })
    assert.strictEqual(status, 0, stdout)
    assert.isFalse(existsSync(home))
  })

  it("says what is wrong and what to do: the home's mode, settings, a server that does not start; it shows no key", () => {
    const home = folder()
    chmodSync(home, 0o777)
    const open = magi(["doctor"], { home, cwd: folder() })
    assert.strictEqual(open.status, 1)
    assert.include(open.stdout, `chmod go-w '${home}'`)
    assert.strictEqual(open.stdout.match(/WRONG/g)?.length, 1, open.stdout)
    assert.include(open.stderr, "1 thing is wrong")
    chmodSync(home, 0o700)
    writeFileSync(
      join(home, "settings.json"),
      JSON.stringify({
        schema_version: 2,
        providers: { p: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key_env: "PATH", models: ["m"] } },
        mcp: { servers: { gone: { command: "/nowhere/server", args: [], env: {}, required: true } } }
      })
    )
    const { status, stdout } = magi(["doctor"], { home, cwd: folder() })
    assert.strictEqual(status, 1, stdout)
    assert.match(stdout, /WRONG {2}mcp .*gone/)
    assert.include(stdout, "PATH is set")
    assert.notInclude(stdout, process.env["PATH"] ?? "?")
    writeFileSync(join(home, "settings.json"), JSON.stringify({ schema_version: 2, colour: "red" }))
    assert.match(magi(["doctor"], { home, cwd: folder() }).stdout, /WRONG {2}settings .*settings\.json/)
    writeFileSync(join(home, "settings.json"), '{\n  "schema_version": 2,\n}')
    assert.match(magi(["doctor"], { home, cwd: folder() }).stdout, /settings\.json: not JSON at line 3, column 1/)
  }, 60_000)
})

describe("trust", () => {
  it("is not given without a terminal; where nothing needs trust that is no failure", () => {
    const [cwd, home] = [folder(), folder()]
    assert.strictEqual(magi(["trust"], { cwd, home }).status, 0)
    mkdirSync(join(cwd, ".magi-code"))
    const file = join(cwd, ".magi-code", "settings.json")
    writeFileSync(file, JSON.stringify({ approvals: { bash: "deny" } }))
    assert.strictEqual(magi(["trust"], { cwd, home }).status, 0)
    writeFileSync(file, JSON.stringify({ hooks: { before_tool: [{ command: ["./hook.sh"] }] } }))
    const { status, stderr, stdout } = magi(["trust"], { cwd, home, input: "y\n" })
    assert.strictEqual(status, 1)
    oneLine(stderr)
    assert.include(stdout, "/hooks")
    assert.isFalse(existsSync(join(home, "trust.json")))
  }, 60_000)

  it("is recorded on a terminal's yes, and taken away again", (context) => {
    // `script` gives the command a terminal.
    if (spawnSync("script", ["--version"]).status !== 0) return context.skip("there is no script(1) here")
    const [cwd, home] = [folder(), folder()]
    mkdirSync(join(cwd, ".magi-code"))
    writeFileSync(join(cwd, ".magi-code", "settings.json"), '{"hooks":{"before_tool":[{"command":["./a\u202eb"]}]}}')
    const main = join(import.meta.dirname, "../../src/cli/main.ts")
    const answer = (word: string) =>
      spawnSync("script", ["-qec", `${process.execPath} --no-warnings ${main} trust`, "/dev/null"], {
        cwd,
        env: { ...process.env, MC_HOME: home },
        input: `${word}\n`,
        encoding: "utf8",
        timeout: 20_000
      })
    assert.strictEqual(answer("no").status, 1)
    assert.isFalse(existsSync(join(home, "trust.json")))
    const yes = answer("y")
    assert.strictEqual(yes.status, 0, yes.stdout)
    assert.notInclude(yes.stdout, "\u202e")
    assert.strictEqual(statSync(join(home, "trust.json")).mode & 0o777, 0o600)
    assert.include(magi(["trust"], { cwd, home }).stdout, "Trusted")
    assert.include(magi(["trust", "--revoke"], { cwd, home }).stdout, "no longer trusted")
    assert.strictEqual(magi(["trust"], { cwd, home }).status, 1)
  }, 60_000)
})
