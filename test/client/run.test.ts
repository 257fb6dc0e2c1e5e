/** product sections 1 and 5, `run` and `check`, as processes with a small agent. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))
const runner = join(root, "src/cli/run/main.ts")
const commands = join(root, "src/cli/main.ts")
const checker = join(root, "src/cli/check/main.ts")
const agentScript = join(root, "test/client/support/processAgent.mjs")

let directory = ""
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "magi-run-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Started {
  readonly args: ReadonlyArray<string>
  readonly node?: ReadonlyArray<string>
  readonly cwd?: string
  readonly stdin?: string
  readonly program?: string
  /** Acts while it runs. */
  readonly during?: (pid: number) => void
}

const start = ({ args, cwd = directory, during, node = [], program = runner, stdin = "" }: Started) =>
  new Promise<Ended>((resolve) => {
    const child = spawn(process.execPath, [...node, program, ...args], { cwd, stdio: "pipe" })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.stdin.end(stdin)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
    during?.(child.pid ?? 0)
  })

const file = (name: string, source: string): string => {
  const path = join(directory, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, source)
  return path
}

const agent = (...modes: ReadonlyArray<string>) => {
  const log = join(directory, `agent-${modes.join("-")}.log`)
  return ["--agent", [process.execPath, agentScript, log, ...modes].map((word) => `'${word}'`).join(" ")]
}

/** Runs `act` once the agent has noted this. */
const whenLogged = (log: string, word: string, act: () => void) => {
  const path = join(directory, log)
  const look = setInterval(() => {
    if (!existsSync(path) || !readFileSync(path, "utf8").includes(word)) return
    clearInterval(look)
    act()
  }, 20)
}

const calls = (...names: ReadonlyArray<string>) =>
  JSON.stringify(names.map((name) => ({ name: `client__${name}`, arguments: {} })))

const plain = (name: string, body: string) =>
  `{ name: "${name}", description: "x", input_schema: { type: "object" }, execute: async (args, context) => { ${body} } }`

describe("run", { timeout: 60_000, concurrent: false }, () => {
  it("what tools write to stdout goes to stderr, by whichever way", async () => {
    const tools = file(
      "noisy.mjs",
      `import { execFileSync, spawn } from "node:child_process"
       import fs, { writeSync } from "node:fs"
       console.log("one")
       export default [${plain(
         "noisy",
         `process.stdout.write(Buffer.from("two"))
          writeSync(1, "three")
          fs.writeSync(1, "four")
          execFileSync(process.execPath, ["-e", "console.log('five')"], { stdio: "inherit" })
          await new Promise((done) => spawn(process.execPath, ["-e", "console.log('six')"], { stdio: ["ignore", 1, 2] }).on("close", done))
          await new Promise((done) => spawn(process.execPath, ["-e", "console.log('seven')"], { stdio: "inherit" }).on("close", done))
          return "quiet"`
       )}]`
    )
    const { code, stderr, stdout } = await start({ args: ["--tools", tools, ...agent(), calls("noisy")] })
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(stdout, `${JSON.stringify([{ status: "success", text: "quiet" }])}\n`)
    for (const word of ["one", "two", "three", "four", "five", "six", "seven"]) assert.include(stderr, word)
  })

  it("a tools file and the runner share the copy of effect that the file resolves", async () => {
    const project = join(directory, "project")
    const copy = join(project, "node_modules", "effect")
    cpSync(join(root, "node_modules/effect/package.json"), join(copy, "package.json"))
    cpSync(join(root, "node_modules/effect/dist"), join(copy, "dist"), {
      recursive: true,
      filter: (path) => !/\.(d\.ts|map)$/.test(path)
    })
    file("project/package.json", '{"type":"module"}')
    const tools = file(
      "project/tools.ts",
      `import { Effect, Schema } from "effect"
       import { Tool, Toolkit } from "effect/ai"
       const Add = Tool.make("add", { description: "Adds.", parameters: Schema.Struct({ a: Schema.Int, b: Schema.Int }), success: Schema.Int })
       const toolkit = Toolkit.make(Add)
       export default { toolkit, layer: toolkit.toLayer({ add: ({ a, b }) => Effect.succeed(a + b as number) }) }`
    )
    const loaded = join(directory, "loaded")
    const preload = file(
      "preload.mjs",
      `import { registerHooks } from "node:module"
       import { appendFileSync } from "node:fs"
       registerHooks({ load: (url, context, next) => { if (url.includes("/effect/dist/Effect.js")) appendFileSync(${JSON.stringify(loaded)}, url + "\\n"); return next(url, context) } })`
    )
    const prompt = '[{"name":"client__add","arguments":{"a":2,"b":3}}]'
    const { code, stderr, stdout } = await start({
      node: ["--import", preload],
      args: ["--tools", tools, ...agent(), prompt]
    })
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(stdout, `${JSON.stringify([{ status: "success", text: "", structured: 5 }])}\n`)
    const copies = new Set(readFileSync(loaded, "utf8").trim().split("\n"))
    assert.deepStrictEqual([...copies], [`file://${join(copy, "dist/Effect.js")}`])
  })

  it("a toolkit of an effect that does not fit is refused with its version; plain tools beside it run", async () => {
    file("old/node_modules/effect/package.json", '{"name":"effect","version":"3.19.0","main":"index.js"}')
    file("old/node_modules/effect/index.js", "module.exports = {}")
    file("old/package.json", '{"type":"module"}')
    const toolkit = file("old/toolkit.mjs", 'import "effect"\nexport default { toolkit: { tools: {} }, layer: {} }')
    const refused = await start({ args: ["--tools", toolkit, ...agent(), "go"] })
    assert.strictEqual(refused.code, 1)
    assert.include(refused.stderr, "effect 3.19.0")
    const tools = file("old/plain.mjs", `import "effect"\nexport default [${plain("ok", "return 'ok'")}]`)
    const { code, stderr, stdout } = await start({ args: ["--tools", tools, ...agent(), calls("ok")] })
    assert.strictEqual(code, 0, stderr)
    assert.include(stdout, '"ok"')
  })

  it("TypeScript that Node cannot strip is loaded with tsx, also imported by a plain module", async () => {
    file("typed/kind.ts", "export enum Kind { One = 'one' }")
    file("typed/package.json", '{"type":"module"}')
    const tools = file(
      "typed/tools.mjs",
      `import { Kind } from "./kind.ts"\nexport default [${plain("kind", "return Kind.One")}]`
    )
    const { code, stderr, stdout } = await start({ args: ["--tools", tools, ...agent(), calls("kind")] })
    assert.strictEqual(code, 0, stderr)
    assert.include(stdout, '"one"')
  })

  it("so is what a module without the word import re-exports, and what a link to TypeScript stands for", async () => {
    file("again.ts", "enum E { A }\nexport default E[0] === 'A' ? [] : undefined\n")
    const again = file("again.mjs", 'export { default } from "./again.ts"\n')
    const link = join(directory, "link.mjs")
    symlinkSync(join(directory, "again.ts"), link)
    for (const tools of [again, link]) {
      const checked = await start({ args: [tools], program: checker })
      assert.strictEqual(checked.code, 0, checked.stderr)
    }
  })
  it("a promise that a tool leaves behind does not end the run; its message is not shown", async () => {
    const tools = file(
      "stray.mjs",
      `export default [${plain("stray", 'Promise.reject(new TypeError("SECRET")); await 0; await new Promise((r) => setTimeout(r, 50)); return "on"')}]`
    )
    const { code, stderr } = await start({ args: ["--tools", tools, ...agent(), calls("stray")] })
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "TypeError")
    assert.notMatch(stderr, /SECRET|unhandled|\n\s+at /i)
  })

  it("an error thrown outside of any call ends the run with one line", async () => {
    const tools = file(
      "crash.mjs",
      `export default [${plain("crash", 'setTimeout(() => { throw new RangeError("SECRET") }, 10); await new Promise((r) => setTimeout(r, 5000))')}]`
    )
    const { code, stderr } = await start({ args: ["--tools", tools, ...agent(), calls("crash")] })
    assert.strictEqual(code, 1)
    assert.include(stderr, "RangeError")
    assert.notMatch(stderr, /SECRET|uncaught|\n\s+at /i)
  })

  it("the tail of the agent's stderr is shown when it ends abnormally, and only then", async () => {
    const fine = await start({ args: [...agent("chatters"), "[]"] })
    assert.strictEqual(fine.code, 0)
    assert.notInclude(fine.stderr, "chatter")
    const bad = await start({ args: [...agent("chatters", "bad-exit"), "[]"] })
    assert.strictEqual(bad.code, 0)
    assert.match(bad.stderr, /exit code 4[\s\S]*chatter of the agent/)
    const live = await start({ args: ["--log-level", "debug", ...agent("chatters"), "[]"] })
    assert.include(live.stderr, "chatter of the agent")
  })

  it("SIGTERM closes at once: 130, and an outcome under --json", async () => {
    const { code, stdout } = await start({
      args: ["--json", ...agent("silent"), "go"],
      during: (pid) => whenLogged("agent-silent.log", "turn.start", () => process.kill(pid, "SIGTERM"))
    })
    assert.strictEqual(code, 130)
    assert.deepInclude(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""), { type: "outcome", status: "cancelled" })
  })

  it("a reader that has stopped reading does not keep the process: Ctrl-C ends it, before the run's end and after", async () => {
    for (const [modes, when] of [
      [["floods"], "eof"],
      [["floods", "ignores-eof"], "turn.start"]
    ] as const) {
      const child = spawn(process.execPath, [runner, ...agent(...modes), "[]"], { cwd: directory, stdio: "pipe" })
      child.stdout.pause()
      child.stderr.resume()
      whenLogged(`agent-${modes.join("-")}.log`, when, () => {
        child.kill("SIGINT")
        child.kill("SIGINT")
      })
      const [code] = await once(child, "exit")
      assert.strictEqual(code, 130, when)
      child.stdout.destroy()
    }
  })

  it("a reader that has gone ends it: the agent is closed in order, exit code 1", async () => {
    const args = ["run", ...agent("floods", "bad-exit"), "[]"]
    const child = spawn(process.execPath, [commands, ...args], { cwd: directory, stdio: "pipe" })
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.stdout.once("data", () => child.stdout.destroy())
    const [code] = await once(child, "close")
    assert.strictEqual(code, 1)
    // That it waited for the agent's end shows in what it says of it.
    assert.match(stderr, /stdout was closed[\s\S]*exit code 4/)
  })

  it("whenever Ctrl-C comes at the end, the exit code is the run's or 130, never a death by the signal", async () => {
    for (let round = 0; round < 3; round += 1) {
      const child = spawn(process.execPath, [runner, ...agent("hammered"), "[]"], { cwd: directory, stdio: "ignore" })
      let hammering: NodeJS.Timeout | undefined
      whenLogged("agent-hammered.log", "eof", () => {
        hammering = setInterval(() => child.kill("SIGINT"), 1)
      })
      const [code] = await once(child, "exit")
      clearInterval(hammering)
      rmSync(join(directory, "agent-hammered.log"))
      assert.include([0, 130], code)
    }
  })

  it("a prompt from stdin is wrong usage when it is blank or too long", async () => {
    assert.strictEqual((await start({ args: [...agent(), "-"], stdin: " \n" })).code, 2)
    assert.strictEqual((await start({ args: [...agent(), "-"], stdin: "x".repeat(32_769) })).code, 2)
  })
})

describe("check", { timeout: 60_000, concurrent: false }, () => {
  it("tells each tool's name, bytes, refused keywords and where, and its fingerprint", async () => {
    const tools = file(
      "checked.mjs",
      `const bad = ${plain("bad", "")}
       bad.input_schema = { type: "object", properties: { x: { $ref: "#" }, y: { not: { nullable: true } } } }
       export default [${plain("good", "")}, bad]`
    )
    const { code, stderr, stdout } = await start({ program: checker, args: [tools] })
    assert.strictEqual(code, 1)
    assert.match(stdout, /client__good\n(?: {2}\S+ +\d+ of \d+\n)+ {2}fingerprint +[0-9a-f]{64}/)
    assert.include(stdout, "/input_schema/properties/x/$ref")
    assert.include(stdout, "/input_schema/properties/y/not/nullable")
    assert.include(stderr, "checked.mjs")
  })

  it("takes the examples of this package", async () => {
    for (const name of ["tools.ts", "plain-tools.mjs"]) {
      const { code, stderr } = await start({ program: checker, args: [join(root, "examples", name)] })
      assert.strictEqual(code, 0, stderr)
    }
  })
})
