/**
 * The two seconds of the client, as whole processes: whatever a handler or an agent does, the program ends in its time, and
 * nothing that it started is left. product sections 4 and 5, Time.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { cli, type Ended } from "./support/Built.ts"
import { descendants, pidsIn, running, until } from "./support/processes.ts"

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const processAgent = file("../client/support/processAgent.mjs")

/** The two seconds, and what a process needs to say its last words and go. */
const BOUND_MS = 2000 + 500

interface Line {
  readonly t: number
  readonly type: string
  readonly event?: string
  readonly status?: string
}

/** `magi-code run --json` as a process; its lines with the time at which they were read. */
class Runner {
  readonly root = mkdtempSync(join(tmpdir(), "magi-run-"))
  readonly lines: Array<Line> = []
  readonly child
  readonly ended: Promise<Ended>
  stderr = ""

  constructor(args: ReadonlyArray<string>) {
    this.child = spawn(process.execPath, [cli, "run", "--json", "--approve", "all", ...args], {
      cwd: this.root,
      env: { ...process.env, MC_HOME: join(this.root, "home") },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk))
    createInterface({ input: this.child.stdout }).on("line", (line) =>
      this.lines.push({ ...JSON.parse(line), t: performance.now() })
    )
    this.ended = new Promise((resolve) =>
      this.child.once("close", (code, signal) => resolve({ code, signal, t: performance.now() }))
    )
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  async event(name: string): Promise<Line> {
    const find = () => this.lines.find(({ event }) => event === name)
    await until(`${name} (stderr: ${this.stderr})`, () => find() !== undefined)
    return find() ?? { t: Number.NaN, type: "" }
  }

  async clean(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.ended
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 })
  }
}

const withRunner = async (args: ReadonlyArray<string>, body: (run: Runner) => Promise<void>): Promise<void> => {
  const run = new Runner(args)
  try {
    await body(run)
  } finally {
    await run.clean()
  }
}

const script = (...steps: ReadonlyArray<object>) => `script:${JSON.stringify(steps)}`

const handlers = [
  ["a handler that cannot be interrupted", "./fixtures/endlessToolkit.ts", "client__uninterruptible"],
  ["a handler whose finalizer hangs", "./fixtures/endlessToolkit.ts", "client__hanging_finalizer"],
  ["a handler that ignores its AbortSignal", "./fixtures/endlessPlain.mjs", "client__ignores_signal"]
] as const

describe("a handler that does not end", { timeout: 30_000 }, () => {
  // Each of these programs waits nearly all of its time, so they do so side by side.
  for (const [what, tools, name] of handlers) {
    it.concurrent(`${what}: the program ends two seconds after a cancelled run at the latest, and says what it abandoned`, () =>
      withRunner(["--tools", file(tools), script({ calls: [{ name, arguments: {} }] })], async (run) => {
        await run.event("client.tool.call")
        const below = descendants(run.pid)
        assert.isNotEmpty(below)
        run.child.kill("SIGINT")
        const finished = await run.event("run.finished")
        const ended = await run.ended
        assert.isBelow(ended.t - finished.t, BOUND_MS)
        assert.strictEqual(ended.code, 130)
        assert.deepInclude(run.lines.at(-1), { type: "outcome", status: "cancelled" })
        assert.match(run.stderr, /abandoned/)
        assert.deepStrictEqual(running(below), [])
      }))
  }

  it("a second Ctrl-C does not add to the two seconds", () =>
    withRunner(
      [
        "--tools",
        file("./fixtures/endlessToolkit.ts"),
        script({ calls: [{ name: "client__uninterruptible", arguments: {} }] })
      ],
      async (run) => {
        await run.event("client.tool.call")
        run.child.kill("SIGINT")
        const finished = await run.event("run.finished")
        run.child.kill("SIGINT")
        const ended = await run.ended
        assert.isBelow(ended.t - finished.t, BOUND_MS)
        assert.strictEqual(ended.code, 130)
      }
    ))

  it("a run that completes beside an abandoned handler is completed, and ends in the same time", () =>
    withRunner(
      [
        "--tools",
        file("./fixtures/shortDeadline.mjs"),
        script({ calls: [{ name: "client__ignores_signal", arguments: {} }] })
      ],
      async (run) => {
        const finished = await run.event("run.finished")
        const ended = await run.ended
        assert.isBelow(ended.t - finished.t, BOUND_MS)
        assert.strictEqual(ended.code, 0)
        assert.deepInclude(run.lines.at(-1), { type: "outcome", status: "completed" })
      }
    ))
})

describe("an agent that does not end", { concurrent: true, timeout: 30_000 }, () => {
  const stubborn = (log: string, ...more: ReadonlyArray<string>) =>
    `"${process.execPath}" "${processAgent}" "${log}" ignores-eof ignores-term hidden-grandchild ${more.join(" ")}`
  const noted = (log: string): ReadonlyArray<number> =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .flatMap((line) => JSON.parse(line).pid ?? [])

  const withLog = async (body: (log: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), "magi-agent-"))
    try {
      await body(join(folder, "log"))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it("ignores EOF and SIGTERM, with a grandchild in a session of its own: both are gone two seconds after the run", () =>
    withLog((log) =>
      withRunner(["--agent", stubborn(log), "go"], async (run) => {
        const finished = await run.event("run.finished")
        const ended = await run.ended
        assert.isBelow(ended.t - finished.t, BOUND_MS)
        assert.strictEqual(ended.code, 0)
        assert.lengthOf(noted(log), 2)
        assert.deepStrictEqual(running(noted(log)), [])
      })
    ))

  it("and neither answers turn.cancel: two seconds for the run, two for the closing, and no more", () =>
    withLog((log) =>
      withRunner(["--agent", stubborn(log, "silent"), "go"], async (run) => {
        await until("the turn", () => /turn\.start/.test(existing(log)))
        run.child.kill("SIGINT")
        const interrupted = performance.now()
        const ended = await run.ended
        assert.isBelow(ended.t - interrupted, 2000 + BOUND_MS)
        assert.strictEqual(ended.code, 130)
        assert.match(existing(log), /turn\.cancel/)
        assert.deepStrictEqual(running(noted(log)), [])
      })
    ))

  it("with a second Ctrl-C the closing begins at once", () =>
    withLog((log) =>
      withRunner(["--agent", stubborn(log, "silent"), "go"], async (run) => {
        await until("the turn", () => /turn\.start/.test(existing(log)))
        run.child.kill("SIGINT")
        await until("turn.cancel", () => /turn\.cancel/.test(existing(log)))
        run.child.kill("SIGINT")
        const interrupted = performance.now()
        const ended = await run.ended
        assert.isBelow(ended.t - interrupted, BOUND_MS)
        assert.strictEqual(ended.code, 130)
        assert.deepStrictEqual(running(noted(log)), [])
      })
    ))
})

const existing = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

describe("what is killed outright", { timeout: 30_000 }, () => {
  const bash = (pids: string) =>
    script({
      calls: [
        {
          name: "bash",
          arguments: {
            command: `trap '' TERM HUP; echo $$ >> ${pids}; setsid bash -c 'trap "" TERM HUP; echo $$ >> ${pids}; while :; do sleep 1; done' & while :; do sleep 1; done`
          }
        }
      ]
    })
  const withPids = async (body: (pids: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), "magi-pids-"))
    try {
      await body(join(folder, "pids"))
    } finally {
      for (const pid of running(pidsIn(join(folder, "pids")))) process.kill(pid, "SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it("the client: its backend sees EOF, and nothing is left two seconds later", () =>
    withPids((pids) =>
      withRunner([bash(pids)], async (run) => {
        await until("bash", () => pidsIn(pids).length === 2)
        const below = [...descendants(run.pid), ...pidsIn(pids)]
        run.child.kill("SIGKILL")
        await until("the end of all of them", () => running(below).length === 0, BOUND_MS)
      })
    ))

  it("the backend: its client sweeps what carries the mark, and says how the agent ended", () =>
    withPids((pids) =>
      withRunner([bash(pids)], async (run) => {
        await until("bash", () => pidsIn(pids).length === 2)
        const [backend] = descendants(run.pid)
        assert.isDefined(backend)
        process.kill(backend ?? 0, "SIGKILL")
        const killed = performance.now()
        const ended = await run.ended
        assert.isBelow(ended.t - killed, BOUND_MS)
        assert.strictEqual(ended.code, 1)
        assert.deepInclude(run.lines.at(-1), { type: "outcome", status: "failed" })
        assert.deepStrictEqual(running(pidsIn(pids)), [])
      })
    ))
})
