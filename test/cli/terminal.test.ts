/**
 * `magi-code run` on a real terminal (product sections 1 and 5): the live view, questions, Ctrl-C, and that the terminal is
 * left as it was. The built commands, in tmux; what a tool waits for is a file, so nothing depends on how fast the machine is.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { cli } from "../process/support/Built.ts"
import { folder } from "./support.ts"
import { hasTmux, openTerminal, type TerminalOptions } from "./tmux.ts"

const tools = `
import { existsSync, writeFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
const input_schema = { type: "object", properties: { file: { type: "string" } }, required: ["file"], additionalProperties: false }
writeFileSync("run.pid", String(process.pid))
const until = async (file, signal) => { while (!existsSync(file)) await setTimeout(20, undefined, { signal }) }
const tool = (name, timeout_ms, execute) => ({ name, description: name, input_schema, timeout_ms, execute })
export default [
  tool("wait_for", 60000, async ({ file }, { signal }) => { await until(file, signal); return "it is there" }),
  tool("stubborn", 60000, async ({ file }) => { await until(file) }),
  tool("failing", 60000, async () => { throw new Error("no") }),
  tool("leaving", 60000, async () => process.exit(7))
]
`

/** An agent that tells its process id. */
const agent = `
import { writeFileSync } from "node:fs"
writeFileSync("agent.pid", String(process.pid))
await import(${JSON.stringify(cli)})
`

const call = (name: string, file: string) => ({ name: `client__${name}`, arguments: { file } })
const bash = (command: string) => ({ name: "bash", arguments: { command } })

const start = async (
  steps: ReadonlyArray<object>,
  options: Partial<TerminalOptions> & { readonly args?: ReadonlyArray<string> } = {}
) => {
  const cwd = folder()
  writeFileSync(join(cwd, "tools.mjs"), tools)
  writeFileSync(join(cwd, "agent.mjs"), agent)
  const command = [process.execPath, cli, "run", "--tools", "tools.mjs", ...(options.args ?? [])]
  const terminal = await openTerminal([...command, `script:${JSON.stringify(steps)}`], {
    ...options,
    cwd,
    env: { MC_HOME: join(cwd, "home"), LC_ALL: "C.UTF-8", NO_COLOR: "", ...options.env }
  })
  return Object.assign(terminal, {
    has: (file: string) => existsSync(join(cwd, file)),
    make: (file: string) => writeFileSync(join(cwd, file), ""),
    pidOf: (who: "agent" | "run") => Number(readFileSync(join(cwd, `${who}.pid`), "utf8"))
  })
}

const occurrences = (text: string, of: RegExp) => text.match(new RegExp(of, "g"))?.length ?? 0

describe.skipIf(!hasTmux())("run on a terminal (skipped where there is no tmux)", () => {
  it("shows each call against its deadline in place, also when it is resized, and leaves a line for each", async () => {
    await using terminal = await start([
      { text: "I look.", calls: [call("wait_for", "a"), call("wait_for", "b"), call("failing", "c")] },
      { text: "Both are there." }
    ])
    const row = /client__wait_for +━*─+ +[\d.]+ m?s of 1 min/
    await terminal.shows(/client__failing: error after/)
    const before = await terminal.shows(row)
    assert.strictEqual(occurrences(before, row), 2)
    assert.isFalse(await terminal.cursorShown())
    await terminal.resize(40, 10)
    const narrow = await terminal.shows(/client__wait_for {2}[\d.]+ s$/m)
    assert.strictEqual(occurrences(narrow, /wait_for/), 2)
    await terminal.resize(100, 30)
    const wide = await terminal.shows(row)
    assert.strictEqual(occurrences(wide, /wait_for/), 2)
    terminal.make("b")
    await terminal.shows(/✓ client__wait_for: success after/)
    terminal.make("a")
    assert.strictEqual(await terminal.ended(), 0)
    const screen = await terminal.screen()
    assert.match(
      screen,
      /^I look\.\n {2}✗ client__failing: error after [^\n]+\n {2}✓ client__wait_for: [^\n]+\n {2}✓ client__wait_for: [^\n]+\n\nBoth are there\.$/
    )
    assert.isTrue(await terminal.cursorShown())
  }, 60_000)

  it("indents what a subagent calls under it", async () => {
    const task = {
      mode: "standard",
      intent: `script:${JSON.stringify([{ calls: [call("wait_for", "a")] }, { text: "x" }])}`
    }
    await using terminal = await start([
      { calls: [{ name: "subagents", arguments: { tasks: [task] } }] },
      { text: "Done." }
    ])
    await terminal.shows(/^ {2}\S subagents .*\n {4}\S subagent 1 .*\n {6}\S client__wait_for +[━─]/m)
    terminal.make("a")
    assert.strictEqual(await terminal.ended(), 0)
    assert.match(
      await terminal.screen(),
      /^ {2}✓ subagents: .*\n {4}✓ subagent 1: .*\n {6}✓ client__wait_for: success .*\nDone\.$/
    )
  }, 60_000)

  it("has no colours under NO_COLOR and only ASCII outside of a UTF-8 locale", async () => {
    await using terminal = await start([{ calls: [call("wait_for", "a"), call("failing", "b")] }, { text: "Done." }], {
      env: { NO_COLOR: "1", LC_ALL: "C" }
    })
    await terminal.shows(/client__wait_for +#*\.+ /)
    assert.match(await terminal.coloured(), /^[\x20-\x7e\n]+$/)
    terminal.make("a")
    assert.strictEqual(await terminal.ended(), 0)
    assert.match(await terminal.screen(), /^ {2}- client__failing.*\n {2}\+ client__wait_for/)
  }, 60_000)

  it("asks, and asks again after what is neither yes nor no; what was typed before the question is no answer", async () => {
    await using terminal = await start([
      { calls: [call("wait_for", "a")] },
      { calls: [bash("touch first")] },
      { calls: [bash("touch second")] },
      { text: "Done." }
    ])
    await terminal.shows(/client__wait_for +[━─]/)
    await terminal.keys("y", "Enter", "y")
    terminal.make("a")
    await terminal.shows(/touch first\n {2}Allow\? \[y\/N\]$/)
    await terminal.keys("Enter")
    await terminal.shows(/touch second\n {2}Allow\? \[y\/N\]$/)
    assert.isFalse(terminal.has("first"))
    await terminal.keys("maybe", "Enter")
    await terminal.shows(/Please answer y or n:$/)
    assert.isFalse(terminal.has("second"))
    await terminal.keys("y", "Enter")
    assert.strictEqual(await terminal.ended(), 0)
    assert.isFalse(terminal.has("first"))
    assert.isTrue(terminal.has("second"))
    assert.match(await terminal.screen(), /✗ bash: failure \(approval_denied\)[\s\S]*✓ bash: success/)
  }, 60_000)

  it("Ctrl-D is no permission, and what is asked after it is denied at once", async () => {
    await using terminal = await start([
      { calls: [bash("touch first")] },
      { calls: [bash("touch second")] },
      { text: "Done." }
    ])
    await terminal.shows(/touch first\n {2}Allow\? \[y\/N\]$/)
    await terminal.keys("C-d")
    assert.strictEqual(await terminal.ended(), 0)
    assert.include(await terminal.screen(), "denied, as the input has ended")
    assert.isFalse(terminal.has("first") || terminal.has("second"))
  }, 60_000)

  it("Ctrl-C cancels the turn and tells what is known; a question that is open is closed", async () => {
    await using terminal = await start([
      { text: "I look.", calls: [call("wait_for", "a"), bash("touch made")] },
      { text: "Done." }
    ])
    await terminal.shows(/Allow\? \[y\/N\]$/)
    await terminal.keys("y", "C-c")
    assert.strictEqual(await terminal.ended(), 130)
    const screen = await terminal.screen()
    assert.match(screen, /^I look\.\n/)
    assert.include(screen, "(the question was closed)")
    assert.match(screen, /■ client__wait_for: cancelled after/)
    assert.match(screen, /magi-code run: interrupted$/)
    assert.isTrue(await terminal.cursorShown())
    assert.isFalse(terminal.has("made"))
  }, 60_000)

  it("a second Ctrl-C ends it within two seconds, whatever a tool does", async () => {
    await using terminal = await start([{ calls: [call("stubborn", "a")] }, { text: "Done." }])
    await terminal.shows(/client__stubborn +[━─]/)
    await terminal.keys("C-c")
    await terminal.shows(/Ctrl-C again closes at once/)
    const second = performance.now()
    await terminal.keys("C-c")
    assert.strictEqual(await terminal.ended(), 130)
    // The rest is what tmux takes to be asked.
    assert.isBelow(performance.now() - second, 2_500)
    assert.isTrue(await terminal.cursorShown())
    assert.match(await terminal.screen(), /client__stubborn: (?:cancelled|not finished) after/)
  }, 60_000)

  it.each(["SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "%s closes it and leaves the terminal as it was",
    async (signal) => {
      await using terminal = await start([{ calls: [call("wait_for", "a")] }, { text: "Done." }])
      await terminal.shows(/client__wait_for +[━─]/)
      process.kill(terminal.pidOf("run"), signal)
      assert.strictEqual(await terminal.ended(), 130)
      assert.isTrue(await terminal.cursorShown())
      const screen = await terminal.screen()
      assert.notInclude(screen, "again closes at once")
      assert.match(screen, /client__wait_for: not finished after[\s\S]*magi-code run: interrupted$/)
    },
    60_000
  )

  it("the agent's death is told, and leaves the terminal as it was", async () => {
    await using terminal = await start([{ calls: [call("wait_for", "a")] }, { text: "Done." }], {
      args: ["--agent", `${process.execPath} agent.mjs serve --stdio`]
    })
    await terminal.shows(/client__wait_for +[━─]/)
    process.kill(terminal.pidOf("agent"), "SIGKILL")
    assert.strictEqual(await terminal.ended(), 1)
    assert.match(
      await terminal.screen(),
      /client__wait_for: not finished after [^\n]+\nmagi-code run: the agent was lost: [^\n]*SIGKILL/
    )
    assert.isTrue(await terminal.cursorShown())
  }, 60_000)

  it("a tool that ends the process leaves the terminal as it was", async () => {
    await using terminal = await start([{ calls: [call("wait_for", "a")] }, { calls: [call("leaving", "b")] }])
    await terminal.shows(/client__wait_for +[━─]/)
    assert.isFalse(await terminal.cursorShown())
    terminal.make("a")
    assert.strictEqual(await terminal.ended(), 7)
    assert.isTrue(await terminal.cursorShown())
    assert.match(await terminal.screen(), /^ {2}✓ client__wait_for: success after [^\n]+$/)
  }, 60_000)

  it("Ctrl-Z gives the terminal back, and fg goes on", async () => {
    const cwd = folder()
    writeFileSync(join(cwd, "tools.mjs"), tools)
    const steps = JSON.stringify([{ calls: [call("wait_for", "a")] }, { text: "Done." }])
    writeFileSync(join(cwd, "prompt"), `script:${steps}`)
    await using terminal = await openTerminal(["bash", "--norc", "--noprofile"], {
      cwd,
      env: { MC_HOME: join(cwd, "home"), LC_ALL: "C.UTF-8", PS1: "> " }
    })
    await terminal.keys("-l", `${process.execPath} ${cli} run --tools tools.mjs "$(cat prompt)"\n`)
    await terminal.shows(/client__wait_for +[━─]/)
    await terminal.keys("C-z")
    const stopped = await terminal.shows(/Stopped/)
    assert.notMatch(stopped, /client__wait_for +[━─]/)
    assert.isTrue(await terminal.cursorShown())
    await terminal.keys("fg", "Enter")
    await terminal.shows(/client__wait_for +[━─]/)
    writeFileSync(join(cwd, "a"), "")
    await terminal.shows(/✓ client__wait_for: success after [^\n]+\nDone\.\n> $|Done\.\n>$/)
  }, 60_000)
})
