/**
 * Twenty client calls at once, from the root agent, two subagents and Code Mode, through the built backend: sixteen are
 * published, four are busy at once, and a cancel in the middle ends all of it in its time.
 * client-tools, Bounds (`pending_calls`: 16 across root, all subagents and Code Mode) and Cancellation.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Built, type Frame, tool, withBuilt } from "../process/support/Built.ts"
import { descendants, pidsIn, running, until } from "../process/support/processes.ts"

const call = (n: number) => ({ name: "client__wait", arguments: { n } })
const times = (count: number) => Array.from({ length: count }, (_, n) => call(n))
const subagent = (count: number) => ({
  intent: `script:${JSON.stringify([{ calls: times(count) }])}`,
  mode: "standard"
})

/** One response of the root's model. It, Code Mode and two subagents make five calls each: with four refused none is without. */
const twenty = (...more: ReadonlyArray<object>) => [
  {
    calls: [
      ...more,
      { name: "subagents", arguments: { tasks: [subagent(5), subagent(5)] } },
      {
        name: "code_mode",
        arguments: {
          code: "return (await Promise.all([...Array(5).keys()].map((n) => tools.call('client__wait', { n })))).length"
        }
      },
      ...times(5)
    ]
  },
  { text: "{{results}}" }
]

const settings = { approvals: { bash: "allow" } }
const all = (backend: Built, event: string): ReadonlyArray<Frame> =>
  backend.frames.filter((frame) => frame.event === event)
const busy = (backend: Built) =>
  all(backend, "activity.finished").filter(({ data }) => data["code"] === "client_tool_busy")

/** Waits for the sixteen and the four; checks their number, their places and how soon the four were told. */
const sixteenAndFour = async (backend: Built) => {
  await until("sixteen calls", () => all(backend, "client.tool.call").length >= 16)
  await until("four that are busy", () => busy(backend).length >= 4)
  const calls = all(backend, "client.tool.call")
  const refused = busy(backend)
  assert.lengthOf(calls, 16)
  assert.lengthOf(refused, 4)
  const sixteenth = calls[15]?.t ?? Number.NaN
  for (const { data, t } of refused) {
    assert.isBelow(t - sixteenth, 100)
    // No event of the call took its place in the writer.
    assert.deepInclude(data, { call_id: null, status: "failure" })
  }
  assert.strictEqual(new Set(calls.map(({ data }) => data["call_id"])).size, 16)
  for (const { data } of calls) assert.strictEqual(data["task_id"] === null, data["subagent_id"] === null)
  // The root's own and Code Mode's carry no task; each subagent has identities of its own.
  assert.strictEqual(new Set(calls.flatMap(({ data }) => data["task_id"] ?? [])).size, 2)
  const status = await backend.ask("status", {})
  assert.strictEqual(status["pending_client_calls"], 16)
  return calls
}

describe("twenty client calls at once", { timeout: 30_000 }, () => {
  it("sixteen are published, four are busy at once; a cancel ends the rest: one cancel each, nothing pending, no child", async () => {
    const folder = mkdtempSync(join(tmpdir(), "magi-parallel-"))
    const pids = join(folder, "pids")
    const bash = `trap '' TERM; echo $$ >> ${pids}; setsid bash -c 'echo $$ >> ${pids}; while :; do sleep 1; done' & while :; do sleep 1; done`
    try {
      await withBuilt({ settings }, async (backend) => {
        await backend.open([tool("client__wait")])
        const run = await backend.turn(twenty({ name: "bash", arguments: { command: bash } }))
        const calls = await sixteenAndFour(backend)
        await until("bash", () => pidsIn(pids).length === 2)
        backend.send("turn.cancel", { session_id: backend.session, run_id: run })
        const cancelled = performance.now()
        const finished = await backend.finished(run)
        assert.isBelow(finished.t - cancelled, 1500 + 100)
        assert.strictEqual(finished.data["status"], "cancelled")
        const cancels = all(backend, "client.tool.cancel")
        assert.deepStrictEqual(
          cancels.map(({ data }) => data["call_id"]).sort(),
          calls.map(({ data }) => data["call_id"]).sort()
        )
        for (const { data } of cancels) assert.strictEqual(data["reason"], "cancelled")
        assert.strictEqual((await backend.ask("status", {}))["pending_client_calls"], 0)
        await until(
          "the end of all children",
          () => running(pidsIn(pids)).length === 0 && descendants(backend.pid).length === 0,
          2000 - (performance.now() - cancelled)
        )
        // The slots are free again: the next run of the same session has all sixteen.
        const again = await backend.turn([{ calls: times(16) }])
        await until("sixteen more", () => all(backend, "client.tool.call").length === 32)
        for (const frame of all(backend, "client.tool.call").slice(16)) backend.reply(frame, "late but welcome")
        assert.strictEqual((await backend.finished(again)).data["status"], "completed")
        // Nothing of the first run was said after its end.
        const place = backend.frames.indexOf(finished)
        assert.isFalse(backend.frames.slice(place + 1).some(({ data }) => data["run_id"] === run))
      })
    } finally {
      for (const pid of running(pidsIn(pids))) process.kill(pid, "SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("replies to half of them free the slots; late replies to cancelled ones are stale", () =>
    withBuilt({ settings }, async (backend) => {
      await backend.open([tool("client__wait")])
      const run = await backend.turn(twenty())
      const calls = await sixteenAndFour(backend)
      for (const frame of calls.slice(0, 8)) backend.reply(frame, "found")
      const { pending_client_calls } = await backend.ask("status", {})
      assert.strictEqual(pending_client_calls, 8)
      backend.send("turn.cancel", { session_id: backend.session, run_id: run })
      const finished = await backend.finished(run)
      assert.strictEqual(finished.data["status"], "cancelled")
      assert.lengthOf(all(backend, "client.tool.cancel"), 8)
      const before = backend.frames.length
      for (const frame of calls.slice(8)) backend.reply(frame, "too late")
      await backend.ask("status", {})
      const answers = backend.frames.slice(before).flatMap(({ error }) => error?.code ?? [])
      assert.deepStrictEqual(
        answers,
        Array.from({ length: 8 }, () => "stale_client_tool_call")
      )
      const status = await backend.ask("status", {})
      assert.deepInclude(status, { pending_client_calls: 0, run_id: null })
    }))
})
