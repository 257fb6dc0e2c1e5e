/**
 * The built backend as a process of its own, spoken to line by line over real pipes: what `npm test` builds into dist/.
 * Every frame keeps the time at which it was read, so that a test can state the protocol's own bounds.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { until } from "./processes.ts"

/** The binary of the package. */
export const cli: string = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url))

export interface Frame {
  /** Milliseconds (`performance.now`) at which the line was read. */
  readonly t: number
  readonly id?: string | null
  readonly event?: string
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly code: string; readonly message: string }
  readonly data: { readonly [name: string]: unknown }
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  /** Milliseconds (`performance.now`) at which the process had ended. */
  readonly t: number
}

export interface BuiltOptions {
  readonly settings?: object
  /** An `MC_HOME` that already exists; default: one of its own. */
  readonly root?: string
  /** Given to Node before the binary. */
  readonly execArgv?: ReadonlyArray<string>
  /** Instead of the built backend: another entry that speaks the protocol. */
  readonly entry?: ReadonlyArray<string>
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly input_schema: object
  readonly timeout_ms?: number
}

export const tool = (name: string, timeout_ms?: number): Tool => ({
  name,
  description: "A tool of the test.",
  input_schema: { type: "object" },
  ...(timeout_ms === undefined ? {} : { timeout_ms })
})

export class Built {
  readonly root: string
  readonly frames: Array<Frame> = []
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  stderr = ""
  instance = ""
  session = ""
  #ids = 0
  #listeners: Array<(frame: Frame) => void> = []

  constructor(options: BuiltOptions = {}) {
    this.root = options.root ?? mkdtempSync(join(tmpdir(), "magi-process-"))
    for (const folder of ["home", "work"]) mkdirSync(join(this.root, folder), { recursive: true, mode: 0o700 })
    // In one step: another backend of the same home may be reading them.
    const settings = join(this.root, "home", "settings.json")
    const fresh = join(this.root, `settings-${randomUUID()}.json`)
    writeFileSync(fresh, JSON.stringify(options.settings ?? {}))
    renameSync(fresh, settings)
    const args = [...(options.execArgv ?? []), ...(options.entry ?? [cli, "serve", "--stdio"])]
    this.child = spawn(process.execPath, args, {
      cwd: join(this.root, "work"),
      env: { ...process.env, MC_HOME: join(this.root, "home") },
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.child.stdin.on("error", () => {})
    this.child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk))
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const frame: Frame = { data: {}, ...JSON.parse(line), t: performance.now() }
      this.frames.push(frame)
      for (const listener of this.#listeners) listener(frame)
    })
    this.ended = new Promise((resolve) =>
      this.child.once("exit", (code, signal) => resolve({ code, signal, t: performance.now() }))
    )
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#listeners.push(listener)
  }

  /** Writes a request and gives its id. */
  send(method: string, params: object): string {
    const id = `q${++this.#ids}`
    this.child.stdin.write(`${JSON.stringify({ version: 1, id, method, params })}\n`)
    return id
  }

  /** Waits for a frame; one that has come already counts. */
  async frame(what: string, wanted: (frame: Frame) => boolean): Promise<Frame> {
    let found: Frame | undefined
    let gone = false
    void this.ended.then(() => (gone = true))
    await until(`${what} (stderr: ${this.stderr})`, () => {
      found = this.frames.find(wanted)
      return found !== undefined || gone
    })
    if (found === undefined) throw new Error(`the backend ended without ${what}; stderr: ${this.stderr}`)
    return found
  }

  /** Sends a request and waits for its success. */
  async ask(method: string, params: object): Promise<{ readonly [name: string]: unknown }> {
    const id = this.send(method, params)
    const answer = await this.frame(`an answer to ${method}`, (frame) => frame.id === id)
    if (answer.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`)
    return answer.result
  }

  /** `initialize` with these tools, and a fresh session. */
  async open(tools: ReadonlyArray<Tool> = []): Promise<void> {
    const { instance_id } = await this.ask("initialize", {
      required_capabilities: ["client.tools", "session.create", "turn.start"],
      client_tools: tools
    })
    this.instance = String(instance_id)
    await this.create()
  }

  async create(): Promise<void> {
    this.session = String((await this.ask("session.create", {}))["session_id"])
  }

  /** Starts a run of these steps of the offline model; gives its id. */
  async turn(steps: ReadonlyArray<object>): Promise<string> {
    const { run_id } = await this.ask("turn.start", {
      session_id: this.session,
      prompt: `script:${JSON.stringify(steps)}`
    })
    return String(run_id)
  }

  finished(run: string): Promise<Frame> {
    return this.frame("run.finished", ({ data, event }) => event === "run.finished" && data["run_id"] === run)
  }

  /** Replies to a `client.tool.call`. */
  reply(call: Frame, text: string): void {
    const { call_id, run_id, session_id, subagent_id, task_id } = call.data
    this.send("client.tool.result", {
      instance_id: this.instance,
      session_id,
      run_id,
      call_id,
      task_id,
      subagent_id,
      status: "success",
      text
    })
  }

  /** Kills what may still run, and takes its folders away. */
  async clean(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.ended
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A backend for the body, cleaned away after it. */
export const withBuilt = async <A>(options: BuiltOptions, body: (backend: Built) => Promise<A>): Promise<A> => {
  const backend = new Built(options)
  try {
    return await body(backend)
  } finally {
    await backend.clean()
  }
}
