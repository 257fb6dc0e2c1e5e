/** `magi-code completions`: what the shells themselves make of the scripts. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commands } from "../../src/cli/help/commands.ts"
import { completions } from "../../src/cli/help/completions.ts"
import { folder } from "./support.ts"
import { hasTmux, openTerminal } from "./tmux.ts"

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

/** A folder with files to complete. */
const files = (): string => {
  const cwd = folder()
  for (const name of ["tools.ts", "my tools.mjs", "run.jsonl"]) writeFileSync(join(cwd, name), "")
  return cwd
}

const names = commands.map(({ name }) => name)

describe("completions for bash", () => {
  /** What is offered for the last of these words. */
  const offered = (cwd: string, ...words: ReadonlyArray<string>): ReadonlyArray<string> => {
    const script = `${completions("bash")}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _magi_code; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { status, stderr, stdout } = spawnSync("bash", ["-c", script, "bash", "magi-code", ...words], {
      cwd,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    return stdout.split("\n").filter((line) => line !== "")
  }

  it("are of commands, of the words and options of each, of values and of files", () => {
    const cwd = files()
    assert.deepStrictEqual(offered(cwd, ""), [...names, "--help", "--version"])
    assert.deepStrictEqual(offered(cwd, "se"), ["sessions", "serve"])
    assert.deepStrictEqual(offered(cwd, "run", "--to"), ["--tools"])
    assert.deepStrictEqual(offered(cwd, "run", "--tools", "my"), ["my tools.mjs"])
    assert.deepStrictEqual(offered(cwd, "run", "--tools", "=", "t"), ["tools.ts"])
    assert.deepStrictEqual(offered(cwd, "run", "--approve", "=", "a"), ["ask", "all"])
    assert.deepStrictEqual(offered(cwd, "run", "--approve", "="), ["ask", "all", "none"])
    assert.deepStrictEqual(offered(cwd, "run", "--session", ""), [])
    assert.deepStrictEqual([...offered(cwd, "check", "")].sort(), ["my tools.mjs", "run.jsonl", "tools.ts"])
    assert.deepStrictEqual(offered(cwd, "sessions", "d"), ["delete"])
    assert.deepStrictEqual(offered(cwd, "sessions", "delete", ""), [])
    assert.include(offered(cwd, "conformance", "--", "ech"), "echo")
    assert.deepStrictEqual(offered(cwd, "conformance", "ech"), [])
    assert.deepStrictEqual(offered(cwd, "nonsense", ""), [])
  })
})

describe.skipIf(!has("fish"))("completions for fish (skipped where there is no fish)", () => {
  const offered = (cwd: string, line: string): ReadonlyArray<string> => {
    writeFileSync(join(cwd, "magi-code.fish"), completions("fish"))
    const script = `source magi-code.fish; complete -C ${JSON.stringify(line)}`
    const { status, stderr, stdout } = spawnSync("fish", ["--no-config", "-c", script], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, HOME: cwd }
    })
    assert.deepStrictEqual([status, stderr], [0, ""])
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split("\t")[0] ?? "")
  }

  it("are of commands, of the words and options of each, of values and of files", () => {
    const cwd = files()
    assert.deepStrictEqual([...offered(cwd, "magi-code ")].sort(), [...names].sort())
    assert.deepStrictEqual(offered(cwd, "magi-code run --to"), ["--tools"])
    assert.deepStrictEqual([...offered(cwd, "magi-code run --approve a")].sort(), ["all", "ask"])
    assert.include(offered(cwd, "magi-code run --tools my"), "my tools.mjs")
    assert.include(offered(cwd, "magi-code check t"), "tools.ts")
    assert.deepStrictEqual(offered(cwd, "magi-code sessions d"), ["delete"])
    assert.deepStrictEqual(offered(cwd, "magi-code sessions delete "), [])
  })
})

describe.skipIf(!has("zsh") || !hasTmux())("completions for zsh (skipped where there is no zsh or no tmux)", () => {
  it("are of commands, of options with their texts, of values and of files", async () => {
    const cwd = files()
    mkdirSync(join(cwd, "functions"))
    writeFileSync(join(cwd, "functions", "_magi-code"), completions("zsh"))
    writeFileSync(join(cwd, ".zshrc"), 'PS1="> "\nfpath=(~/functions $fpath)\nautoload -Uz compinit\ncompinit -u -D\n')
    await using terminal = await openTerminal(["zsh"], { cwd, env: { HOME: cwd, ZDOTDIR: cwd, LC_ALL: "C.UTF-8" } })
    await terminal.shows(/> ?$/)
    for (const [typed, shown, several] of [
      ["magi-code co", /conformance +-- run the protocol's cases/, true],
      ["magi-code run --ag", /magi-code run --agent/, false],
      ["magi-code run --approve ", /all +ask +none/, true],
      ["magi-code run --tools my", /magi-code run --tools my\\ tools\.mjs/, false],
      ["magi-code run --tools=t", /magi-code run --tools=tools\.ts/, false],
      ["magi-code sessions d", /magi-code sessions delete/, false],
      ["magi-code conformance -- ech", /magi-code conformance -- echo/, false]
    ] as const) {
      await terminal.keys("C-u")
      await terminal.keys("-l", typed)
      await terminal.keys("Tab")
      // Where there are several, the second one shows them.
      if (several) await terminal.keys("Tab")
      await terminal.shows(shown)
      await terminal.keys("C-c", "C-l")
    }
  }, 60_000)
})
