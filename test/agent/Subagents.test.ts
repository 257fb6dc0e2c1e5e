/** base-protocol section 7, `subagents`; client-tools, Execute and reply (identities). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../../src/protocol/Json.ts"
import { builtin, call, client, codeMode, makeAgent, script, until } from "./AgentHarness.ts"

const show = { text: "{{results}}" }
const task = (intent: Json, more: { readonly [key: string]: Json } = {}) => ({
  intent: typeof intent === "string" ? intent : script(intent),
  mode: "standard",
  ...more
})
const agents = (...tasks: ReadonlyArray<Json>) => call("subagents", { tasks })

interface TaskResult {
  readonly task_id: string
  readonly status: string
  readonly output: string
  readonly error?: { readonly code: string }
}

const isTaskResults = (value: unknown): value is ReadonlyArray<TaskResult> => Array.isArray(value)
const taskResults = (value: unknown): ReadonlyArray<TaskResult> => (isTaskResults(value) ? value : [])

describe("identities", () => {
  it.effect("session and run are the root's; task and subagent ids are those of the activity", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")], tools: [codeMode] })
      const run = yield* h.start([
        {
          calls: [
            agents(task([{ calls: [call("client__a"), call("code_mode", { calls: [call("client__a")] })] }, show]))
          ]
        },
        show
      ])
      yield* h.pending(2)
      const activity = h.events("activity.started").find((one) => one["kind"] === "subagent")
      const parent = h.events("activity.started").find((one) => one["name"] === "subagents")
      assert.strictEqual(activity?.["parent_id"], parent?.["activity_id"])
      for (const one of h.calls()) {
        assert.deepStrictEqual(
          [one["session_id"], one["run_id"], one["task_id"], one["subagent_id"]],
          ["session-1", run.runId, activity?.["task_id"] ?? "", activity?.["activity_id"] ?? ""]
        )
      }
      yield* h.reply(0, { text: "for the subagent" })
      yield* h.reply(1)
      yield* h.ended
      const [result] = taskResults(h.results()[0]?.content)
      assert.strictEqual(result?.task_id, activity?.["task_id"])
      assert.include(result?.output ?? "", "for the subagent")
      assert.strictEqual(h.events("message.reconcile").length, 1, "a subagent's text is not shown as the root's")
    })
  )
})

describe("tasks", () => {
  it.effect("run at most 4 at once, and give their results in input order", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      const tasks = Array.from({ length: 6 }, (_, n) => task([{ calls: [call("client__a", { n })] }, show]))
      yield* h.start([{ calls: [agents(...tasks)] }, show])
      yield* h.pending(4)
      assert.strictEqual(yield* h.broker.pending, 4)
      // Which task gets to its call first is open: an answer says which task asked.
      const answer = (nth: number) => h.reply(nth, { text: `answer ${JSON.stringify(h.calls()[nth]?.["arguments"])}` })
      for (let nth = 3; nth >= 0; nth--) yield* answer(nth)
      yield* h.pending(6)
      yield* answer(4)
      yield* answer(5)
      yield* h.ended
      const results = taskResults(h.results()[0]?.content)
      assert.deepStrictEqual(
        results.map((one) => /answer \D*(\d)/.exec(one.output)?.[1]),
        ["0", "1", "2", "3", "4", "5"]
      )
      assert.strictEqual(new Set(results.map((one) => one.task_id)).size, 6)
      let running = 0
      let most = 0
      const own = new Set(
        h.events("activity.started").flatMap((one) => (one["kind"] === "subagent" ? [one["activity_id"]] : []))
      )
      for (const { data, event } of h.frames) {
        if (!own.has(data["activity_id"])) continue
        if (event === "activity.started") most = Math.max(most, ++running)
        if (event === "activity.finished") running -= 1
      }
      assert.deepStrictEqual([most, running], [4, 0])
    })
  )

  it.effect("an unknown agent or a failing model fails that task only", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      yield* h.run([
        {
          calls: [
            agents(task([show], { agent: "nobody" }), task([{ error: "unavailable" }]), task([{ text: "third" }]))
          ]
        },
        show
      ])
      const results = taskResults(h.results()[0]?.content)
      assert.deepStrictEqual(
        results.map((one) => [one.status, one.output, one.error?.code]),
        [
          ["failed", "", "tool_invalid_arguments"],
          ["failed", "", "provider_unavailable"],
          ["completed", "third", undefined]
        ]
      )
      assert.deepStrictEqual(h.finished()[0]?.["status"], "completed")
    })
  )

  it.effect("arguments outside of the schema start nothing", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const bad: ReadonlyArray<Json> = [
        {},
        { tasks: [] },
        { tasks: Array.from({ length: 11 }, () => task("x")) },
        { tasks: [{ intent: "x" }] },
        { tasks: [task("x", { mode: "other" })] },
        { tasks: [task(" ")] },
        { tasks: [task("x", { label: "y" })] },
        { tasks: [task("x", { context: 5 })] },
        { tasks: [task("x")], more: 1 }
      ]
      yield* h.run([{ calls: bad.map((args) => call("subagents", args)) }, show])
      assert.deepStrictEqual(
        h.results().map((one) => one.error?.code),
        bad.map(() => "tool_invalid_arguments")
      )
      assert.isFalse(h.events("activity.started").some((one) => one["kind"] === "subagent"))
    })
  )

  it.effect("long outputs are cut so that the result fits, the shorter ones stay whole", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const long = "long ".repeat(8000)
      yield* h.run([
        { calls: [agents(task([{ text: long }]), task([{ text: "short" }]), task([{ text: long }]))] },
        show
      ])
      const [result] = h.results()
      assert.strictEqual(result?.success, true)
      const [one, two, three] = taskResults(result?.content)
      assert.strictEqual(two?.output, "short")
      for (const cut of [one, three]) assert.match(cut?.output ?? "", /\[cut here: \d+ more bytes/)
      assert.isAtLeast((one?.output.length ?? 0) + (three?.output.length ?? 0), 30_000)
    })
  )

  it.effect("a subagent sees its context, and nothing of its parent's conversation", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      yield* h.run([{ calls: [agents(task([show], { context: "the house is blue" }))] }, show])
      const [result] = taskResults(h.results()[0]?.content)
      const child = yield* Effect.scoped(
        Effect.flatMap(
          h.store.open({ sessionId: result?.task_id ?? "", workspace: "/workspace" }),
          (one) => one.records
        )
      )
      assert.deepStrictEqual(
        child.map((record) => record.kind),
        ["user", "user", "assistant", "run_finished"]
      )
      assert.include(child[0]?.kind === "user" ? child[0].text : "", "the house is blue")
    })
  )
})

describe("permissions at every depth", () => {
  it.effect("a child has its parent's tools within its profile; inspect has no client tool", () =>
    Effect.gen(function* () {
      let ran = 0
      const bash = builtin("bash", () => Effect.sync(() => ({ text: `${++ran}` })))
      const read = builtin("read", () => Effect.succeed({ text: "read" }))
      const profile = (...tools: ReadonlyArray<string>) => ({ instructions: "", tools })
      const h = yield* makeAgent({
        client: [client("a"), client("b")],
        tools: [bash, read, codeMode],
        settings: {
          agents: new Map([
            ["narrow", profile("subagents", "client__b")],
            ["wide", profile("client__*", "bash", "code_mode", "subagents")]
          ])
        }
      })
      const all = [
        call("client__a"),
        call("client__b"),
        call("bash"),
        call("code_mode", { calls: [call("client__a"), call("bash")] })
      ]
      const inner = [{ calls: all }, show]
      const outer = [{ calls: [agents(task(inner, { agent: "wide" }), task(inner))] }, show]
      yield* h.start([
        {
          calls: [
            agents(
              task(outer, { agent: "narrow" }),
              task([{ calls: [...all, call("read")] }, show], { mode: "inspect" })
            )
          ]
        },
        show
      ])
      yield* h.pending(2)
      yield* h.reply(0)
      yield* h.reply(1)
      yield* h.ended
      assert.deepStrictEqual(
        h.calls().map((one) => one["name"]),
        ["client__b", "client__b"]
      )
      assert.strictEqual(ran, 0)
      const [, inspected] = taskResults(h.results()[0]?.content)
      const lines = (inspected?.output ?? "").split("\n").map((line): { success: boolean } => JSON.parse(line))
      assert.deepStrictEqual(
        lines.map((line) => line.success),
        [false, false, false, false, true]
      )
    })
  )

  it.effect("depth is at most 2", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const third = [{ calls: [agents(task([{ text: "too deep" }]))] }, show]
      const second = [{ calls: [agents(task(third))] }, show]
      yield* h.run([{ calls: [agents(task(second))] }, show])
      assert.strictEqual(h.events("activity.started").filter((one) => one["kind"] === "subagent").length, 2)
      assert.include(h.text(), "tool_unknown")
    })
  )

  it.effect("what would ask for approval is denied to an inspection", () =>
    Effect.gen(function* () {
      const read = builtin("read", () => Effect.succeed({ text: "" }), {
        prepare: () =>
          Effect.succeed({
            approval: { kind: "read", summary: "outside" },
            lines: [],
            execute: Effect.succeed({ text: "SENTINEL" })
          })
      })
      const h = yield* makeAgent({ tools: [read] })
      yield* h.run([{ calls: [agents(task([{ calls: [call("read")] }, show], { mode: "inspect" }))] }, show])
      assert.deepStrictEqual(h.events("approval.request").length, 0)
      assert.include(h.text(), "approval_denied")
    })
  )
})

describe("the compact catalogue", () => {
  it.effect("does not narrow an inspection, which has no Code Mode to reach what is hidden", () =>
    Effect.gen(function* () {
      const find = builtin("find", () => Effect.succeed({ text: "found" }))
      const h = yield* makeAgent({
        tools: [find, codeMode],
        settings: {
          capabilities: { disabled: [], code_mode: { enabled: true, compact_direct_tools: true, disabled: [] } }
        }
      })
      yield* h.run([
        { calls: [agents(task([{ calls: [call("find")] }, show], { mode: "inspect" })), call("find")] },
        show
      ])
      const [inspected, direct] = h.results()
      assert.include(taskResults(inspected?.content)[0]?.output ?? "", "found")
      assert.strictEqual(direct?.error?.code, "tool_unknown")
    })
  )
})

describe("cancelling", () => {
  it.effect("a cancelled run ends every task; each has its record", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      const run = yield* h.start([
        { calls: [agents(task([{ calls: [call("client__a")] }]), task([{ delay_ms: 60_000 }]))] }
      ])
      yield* h.pending(1)
      yield* until(
        "two subagents",
        () => h.events("activity.started").filter((one) => one["kind"] === "subagent").length === 2
      )
      yield* run.cancel
      yield* h.ended
      assert.deepStrictEqual(h.cancels(), ["cancelled"])
      assert.isTrue(h.events("activity.finished").every((one) => one["status"] === "cancelled"))
      assert.strictEqual(h.events("activity.finished").length, h.events("activity.started").length)
      const taskId = String(h.calls()[0]?.["task_id"])
      const child = yield* Effect.scoped(
        Effect.flatMap(h.store.open({ sessionId: taskId, workspace: "/workspace" }), (one) => one.records)
      )
      assert.deepStrictEqual(
        child.map((record) => record.kind),
        ["user", "assistant", "call_started", "call_outcome", "run_finished"]
      )
    })
  )
})

describe("delegated sessions", () => {
  it.effect("are opened by their task id, stay delegated, and their runs are one activity without a parent", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a"), client("b")], cards: true })
      yield* h.start([{ calls: [agents(task([{ calls: [call("client__a")] }, show]))] }, show])
      yield* h.pending(1)
      yield* h.reply(0)
      yield* h.ended
      const taskId = String(h.calls()[0]?.["task_id"])
      const listed = yield* h.store.list({ workspace: "/workspace", revision: null, cursor: null, limit: 100 })
      assert.deepStrictEqual(
        listed.entries.map((one) => one.session_id),
        ["session-1"]
      )
      const session = yield* h.store.open({ sessionId: taskId, workspace: "/workspace" })
      const state = session.delegated
      assert.strictEqual(state._tag, "Delegated")
      const before = h.events("activity.started").length
      const run = yield* h.start([{ calls: [call("client__a")] }, { text: "again" }], session)
      yield* h.pending(2)
      const activity = h.events("activity.started")[before]
      assert.deepInclude(activity, { kind: "subagent", parent_id: null, task_id: taskId })
      const again = h.calls()[1]
      assert.deepStrictEqual(
        [again?.["session_id"], again?.["run_id"], again?.["task_id"], again?.["subagent_id"]],
        [taskId, run.runId, taskId, activity?.["activity_id"] ?? ""]
      )
      assert.notStrictEqual(again?.["subagent_id"], h.calls()[0]?.["subagent_id"])
      yield* h.reply(1)
      yield* until("the second end", () => h.finished().length === 2)
      assert.deepInclude(h.events("activity.finished").at(-1), {
        activity_id: activity?.["activity_id"] ?? "",
        status: "success"
      })
      assert.strictEqual(h.names().at(-1), "run.finished")
    })
  )
})
