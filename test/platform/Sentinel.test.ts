/**
 * Nothing that a client, a model, a tool or the settings say reaches the logs, at the most verbose level. A real backend,
 * run from source. base-protocol sections 1 and 2; product section 2 ("never written or logged").
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const main = fileURLToPath(new URL("../../src/cli/serve/main.ts", import.meta.url))

interface Frame {
  readonly id?: string | null
  readonly event?: string
  readonly instance_id?: string
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly code: string; readonly message: string }
  readonly data?: { readonly [name: string]: unknown }
}

/** A backend in a home and a workspace of its own, spoken to line by line. */
class Backend {
  readonly root = mkdtempSync(join(tmpdir(), "mc-sentinel-"))
  readonly frames: Array<Frame> = []
  stderr = ""
  #ids = 0
  #child: ReturnType<typeof this.start> | undefined

  constructor(settings: unknown) {
    mkdirSync(join(this.root, "home"))
    mkdirSync(join(this.root, "work"))
    writeFileSync(
      join(this.root, "home", "settings.json"),
      typeof settings === "string" ? settings : JSON.stringify(settings)
    )
    this.#child = this.start()
  }

  start() {
    const child = spawn(process.execPath, [main, "serve", "--stdio"], {
      cwd: join(this.root, "work"),
      env: { ...process.env, MC_HOME: join(this.root, "home"), MC_LOG: "all", SOME_KEY: "SENTINEL-KEY" },
      stdio: ["pipe", "pipe", "pipe"]
    })
    child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk))
    createInterface({ input: child.stdout }).on("line", (line) => this.frames.push(JSON.parse(line)))
    return child
  }

  line(text: string): void {
    this.#child?.stdin.write(`${text}\n`)
  }

  /** Sends a request and waits for its answer. */
  async ask(method: string, params: object): Promise<Frame> {
    const id = `r${++this.#ids}`
    this.line(JSON.stringify({ version: 1, id, method, params }))
    return this.frame((frame) => frame.id === id)
  }

  async frame(wanted: (frame: Frame) => boolean): Promise<Frame> {
    for (let tries = 0; tries < 1_500; tries++) {
      const found = this.frames.find(wanted)
      if (found !== undefined) return found
      await new Promise((done) => setTimeout(done, 10))
    }
    throw new Error(`no such frame; ${this.frames.length} others; stderr ${this.stderr}`)
  }

  /** Ends it, and gives everything that it wrote to stderr. */
  async end(): Promise<string> {
    const child = this.#child
    if (child !== undefined) {
      child.stdin.end()
      if (child.exitCode === null) await once(child, "close")
    }
    rmSync(this.root, { recursive: true, force: true })
    return this.stderr
  }
}

const tool = {
  name: "client__a",
  description: "A tool.",
  input_schema: { type: "object", properties: { q: { type: "string" } } }
}

const noisy = (plan: string) => ({ command: [process.execPath, "-e", plan], on_failure: "warn" })

describe("a sentinel at the most verbose level", () => {
  it("in arguments, results, errors, malformed frames, hooks and keys is in no log", async () => {
    const backend = new Backend({
      providers: { p: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key_env: "SOME_KEY", models: ["m"] } },
      agents: { a: { instructions: "SENTINEL" } },
      hooks: {
        before_tool: [
          noisy("console.error('SENTINEL'); console.log('SENTINEL')"),
          noisy("process.exit(3) // SENTINEL")
        ],
        after_tool: [
          noisy("process.stdin.pipe(process.stderr); process.stdin.on('end', () => { process.exitCode = 4 })")
        ]
      }
    })
    const initialized = await backend.ask("initialize", {
      required_capabilities: ["client.tools", "session.create", "turn.start"],
      client_tools: [tool]
    })
    assert.isDefined(initialized.result, JSON.stringify(initialized))
    const instance_id = String(initialized.result?.["instance_id"])
    const created = await backend.ask("session.create", {})
    const session_id = String(created.result?.["session_id"])
    for (const malformed of [
      "SENTINEL",
      '{"SENTINEL"',
      '"SENTINEL"',
      '{"version":1,"id":"x0","method":"SENTINEL","params":{}}',
      '{"version":1,"id":"x1","method":"status","params":{"SENTINEL":1}}',
      '{"version":1,"id":"x2","method":"status","params":{"a":"SENTINEL","a":"SENTINEL"}}'
    ]) {
      backend.line(malformed)
    }
    const steps = [
      {
        calls: [
          { name: "client__a", arguments: { q: "SENTINEL-ARG" } },
          { name: "client__a", arguments: { q: "SENTINEL-ARG" } }
        ]
      },
      {
        calls: [
          { name: "read", arguments: { path: "SENTINEL/none" } },
          { name: "SENTINEL", arguments: {} },
          { name: "bash", arguments: '{"SENTINEL', raw: true }
        ]
      },
      { text: "SENTINEL-TEXT", error: "rejected" }
    ]
    await backend.ask("turn.start", { session_id, prompt: `script:${JSON.stringify(steps)}` })
    const called = (n: number) =>
      backend.frame((frame) => frame === backend.frames.filter(({ event }) => event === "client.tool.call")[n])
    for (const [n, status] of ["success", "error"].entries()) {
      const { data = {} } = await called(n)
      const { call_id, run_id, subagent_id, task_id } = data
      const identity = { instance_id, session_id, run_id, call_id, task_id, subagent_id }
      const twins = { "token=SENTINEL1": 1, "token=SENTINEL2": 2 }
      assert.strictEqual(
        (await backend.ask("client.tool.result", { ...identity, status, text: "", structured: twins })).error?.code,
        "invalid_params"
      )
      assert.strictEqual(
        (await backend.ask("client.tool.result", { ...identity, status: "SENTINEL", text: "SENTINEL" })).error?.code,
        "invalid_params"
      )
      assert.isDefined(
        (
          await backend.ask("client.tool.result", {
            ...identity,
            status,
            text: "SENTINEL",
            structured: { password: "SENTINEL" }
          })
        ).result
      )
    }
    await backend.frame(({ event }) => event === "run.finished")
    const stderr = await backend.end()
    assert.match(stderr, /"message":"a hook failed"/, "the level is verbose")
    assert.notInclude(stderr, "SENTINEL")
    // A path may name a member; a message repeats nothing.
    for (const { error } of backend.frames) assert.notInclude(error?.message ?? "", "SENTINEL")
  }, 60_000)

  it("in settings that are refused is in no log and no answer", async () => {
    for (const settings of [
      '{"SENTINEL',
      { approvals: { bash: "SENTINEL" } },
      { providers: { p: { kind: "openai", base_url: "https://u:SENTINEL@example.org", models: ["m"] } } },
      { providers: { p: { kind: "SENTINEL" } } },
      { mcp: { servers: { s: { command: "/nowhere/server", args: ["SENTINEL"], env: { A: "SENTINEL" } } } } },
      {
        mcp: {
          servers: {
            s: { command: process.execPath, args: ["-e", "throw new Error(process.env.A)"], env: { A: "SENTINEL" } }
          }
        }
      }
    ]) {
      const backend = new Backend(settings)
      const refused = await backend.ask("initialize", { required_capabilities: [] })
      assert.isDefined(refused.error)
      assert.notInclude(JSON.stringify(refused), "SENTINEL")
      assert.notInclude(await backend.end(), "SENTINEL", JSON.stringify(refused))
    }
  }, 60_000)
})
