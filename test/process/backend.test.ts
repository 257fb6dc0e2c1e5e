/**
 * The two seconds of the backend, as the built process over real pipes: a parent that never reads, and children that ignore
 * every signal and hide in sessions of their own. base-protocol section 3, Closing and Output.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Built, cli, tool, withBuilt } from "./support/Built.ts"
import { pidsIn, running, until } from "./support/processes.ts"

const allowed = { approvals: { bash: "allow" } }
const mcpServer = fileURLToPath(new URL("./fixtures/mcpServer.mjs", import.meta.url))

/** The two seconds, and what a process needs to end. */
const BOUND_MS = 2000 + 300
/** "planned to be over 1400 ms after its cause". */
const PLANNED_MS = 1400 + 300

/** A shell that ignores SIGTERM, with a child in a session of its own that does so too; both write their numbers down. */
const stubborn = (pids: string) => ({
  name: "bash",
  arguments: {
    command: `trap '' TERM HUP INT; echo $$ >> ${pids}; setsid bash -c 'trap "" TERM HUP INT; echo $$ >> ${pids}; while :; do sleep 1; done' & while :; do sleep 1; done`
  }
})

/** Where such processes write their numbers; whatever of them is left after the body is killed. */
const withPids = async (body: (pids: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "magi-pids-"))
  try {
    await body(join(folder, "pids"))
  } finally {
    for (const pid of running(pidsIn(join(folder, "pids")))) process.kill(pid, "SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From here on nobody reads what the backend says, and it is asked for more than any pipe holds. */
const stall = (backend: Built): number => {
  backend.child.stdout.pause()
  for (let n = 0; n < 1500; n++) backend.send("status", {})
  return performance.now()
}

describe("a parent that never reads", { timeout: 30_000 }, () => {
  it("is a transport failure two seconds after the oldest frame asked for its place: exit 3, and no child is left", () =>
    withPids((pids) =>
      withBuilt({ settings: allowed }, async (backend) => {
        await backend.open([tool("client__wait")])
        const run = await backend.turn([{ calls: [stubborn(pids), { name: "client__wait", arguments: {} }] }])
        await until("bash", () => pidsIn(pids).length === 2)
        const stalled = stall(backend)
        const ended = await backend.ended
        assert.strictEqual(ended.code, 3)
        // Not before its time, and closing does not begin a second budget of its own with output that nobody takes.
        assert.isAbove(ended.t - stalled, 1800)
        assert.isBelow(ended.t - stalled, 2000 + PLANNED_MS)
        assert.deepStrictEqual(running(pidsIn(pids)), [])
        assert.match(backend.stderr, /the transport failed: an output frame was not written within 2000 ms/)
        assert.isEmpty(backend.frames.filter(({ data, event }) => event === "run.finished" && data["run_id"] === run))
      })
    ))

  it("and closes its end: closing does not wait for it beyond the two seconds, exit 4, and the loss is logged", () =>
    withBuilt({}, async (backend) => {
      await backend.open()
      const stalled = stall(backend)
      backend.child.stdin.end()
      const ended = await backend.ended
      // EOF was the first cause, and its output was abandoned: by the frame's own two seconds or by the budget's end.
      assert.strictEqual(ended.code, 4)
      assert.isBelow(ended.t - stalled, BOUND_MS)
      const lost =
        /the transport failed: an output frame was not written|the output did not end within \d+ ms and was abandoned/
      assert.match(backend.stderr, lost)
    }))

  it("and is gone altogether: a broken pipe is exit 3, at once", () =>
    withPids((pids) =>
      withBuilt({ settings: allowed }, async (backend) => {
        await backend.open()
        await backend.turn([{ calls: [stubborn(pids)] }])
        await until("bash", () => pidsIn(pids).length === 2)
        backend.child.stdout.destroy()
        backend.send("status", {})
        const broken = performance.now()
        const ended = await backend.ended
        assert.strictEqual(ended.code, 3)
        assert.isBelow(ended.t - broken, PLANNED_MS)
        assert.deepStrictEqual(running(pidsIn(pids)), [])
      })
    ))
})

const ways = [
  ["EOF", (backend: Built) => backend.child.stdin.end()],
  ["SIGTERM", (backend: Built) => backend.child.kill("SIGTERM")],
  ["shutdown", (backend: Built) => backend.send("shutdown", {})]
] as const

describe("closing", { timeout: 30_000 }, () => {
  for (const [way, close] of ways) {
    it(`by ${way}: bash that ignores SIGTERM and its hidden child are gone, the run is told cancelled, exit 0`, () =>
      withPids((pids) =>
        withBuilt({ settings: allowed }, async (backend) => {
          await backend.open([tool("client__wait")])
          const run = await backend.turn([{ calls: [stubborn(pids), { name: "client__wait", arguments: {} }] }])
          await until("bash", () => pidsIn(pids).length === 2)
          await backend.frame("the call", ({ event }) => event === "client.tool.call")
          close(backend)
          const asked = performance.now()
          const ended = await backend.ended
          assert.isBelow(ended.t - asked, PLANNED_MS)
          assert.strictEqual(ended.code, 0)
          assert.deepStrictEqual(running(pidsIn(pids)), [])
          const cancel = backend.frames.findIndex(({ event }) => event === "client.tool.cancel")
          assert.strictEqual(backend.frames[cancel]?.data["reason"], "shutdown")
          const last = backend.frames.findLast(({ event }) => event !== undefined)
          assert.deepInclude(last?.data, { run_id: run, status: "cancelled" })
          assert.isBelow(cancel, backend.frames.length - 1)
        })
      ))
  }

  it("an MCP server that ignores EOF and every signal, and its child in a session of its own, are gone", () =>
    withPids((pids) =>
      withBuilt(
        { settings: { mcp: { servers: { stubborn: { command: process.execPath, args: [mcpServer, pids] } } } } },
        async (backend) => {
          await backend.open()
          await backend.turn([{ calls: [{ name: "mcp__stubborn__wait", arguments: {} }] }])
          await backend.frame("the call", ({ event }) => event === "activity.started")
          assert.lengthOf(running(pidsIn(pids)), 2)
          backend.child.stdin.end()
          const asked = performance.now()
          const ended = await backend.ended
          assert.isBelow(ended.t - asked, PLANNED_MS)
          assert.strictEqual(ended.code, 0)
          assert.deepStrictEqual(running(pidsIn(pids)), [])
        }
      )
    ))

  it("a hook that ignores every signal is gone too", () =>
    withPids((pids) => {
      const plan =
        "process.on('SIGTERM', () => {}); require('fs').appendFileSync(process.argv[1], process.pid + '\\n'); setInterval(() => {}, 1000)"
      const command = [process.execPath, "-e", plan, pids]
      return withBuilt({ settings: { hooks: { before_tool: [{ command, timeout_ms: 60_000 }] } } }, async (backend) => {
        await backend.open([tool("client__wait")])
        await backend.turn([{ calls: [{ name: "client__wait", arguments: {} }] }])
        await until("the hook", () => pidsIn(pids).length === 1)
        backend.child.stdin.end()
        const asked = performance.now()
        const ended = await backend.ended
        assert.isBelow(ended.t - asked, PLANNED_MS)
        assert.strictEqual(ended.code, 0)
        assert.deepStrictEqual(running(pidsIn(pids)), [])
      })
    }))
})

describe("a backend killed outright", { timeout: 30_000 }, () => {
  it("leaves children that the next backend of the same MC_HOME ends when it starts, and no run file", () =>
    withPids((pids) =>
      withBuilt({ settings: allowed }, async (killed) => {
        await killed.open()
        await killed.turn([{ calls: [stubborn(pids)] }])
        await until("bash", () => pidsIn(pids).length === 2)
        killed.child.kill("SIGKILL")
        await killed.ended
        assert.lengthOf(running(pidsIn(pids)), 2)
        const next = new Built({ settings: allowed, root: killed.root })
        try {
          await next.open()
          await until("the end of what was left", () => running(pidsIn(pids)).length === 0, 2000)
          // It has no child of its own yet, so what goes is the file of the killed one.
          await until("the end of its run file", () => readdirSync(join(killed.root, "home", "run")).length === 0, 2000)
        } finally {
          next.child.stdin.end()
          await next.ended
        }
      })
    ))
})

/** A Node in PATH that is too old for this package, if the machine has one. */
const oldNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((node) => {
    try {
      return Number(execFileSync(node, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" })) < 22
    } catch {
      return false
    }
  })

describe("an old Node", () => {
  it("is told in one line which one is needed, exit 1, whatever the command", (context) => {
    if (oldNode === undefined) return context.skip("no Node older than 22 in PATH: nothing to run the binary with")
    for (const args of [["serve", "--stdio"], ["run", "hello"], []]) {
      try {
        execFileSync(oldNode, [cli, ...args], { encoding: "utf8", stdio: "pipe" })
        assert.fail("it ran")
      } catch (error) {
        assert.deepInclude(error, { status: 1, stdout: "" })
        assert.match(
          String(Reflect.get(Object(error), "stderr")),
          /^magi-code needs Node 22\.19 or newer; this is \S+; start it with a newer one\n$/
        )
      }
    }
  })
})
