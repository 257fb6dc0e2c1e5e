/** base-protocol section 6: the call path, failures inside the backend, what an ending becomes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../../src/protocol/Json.ts"
import { type PreparedCall, ToolFailure } from "../../src/tools/Tool.ts"
import { builtin, call, client, codeMode, makeAgent, until } from "./AgentHarness.ts"

const raw = (name: string, text: string) => ({ name, arguments: text, raw: true })
const show = { text: "{{results}}" }

const codes = (results: ReadonlyArray<{ readonly success: boolean; readonly error?: { readonly code: string } }>) =>
  results.map((one) => (one.success ? "success" : one.error?.code))

describe("surface permission", () => {
  it.effect("a name is taken exactly; what is not permitted never reaches a client tool", () =>
    Effect.gen(function* () {
      const read = builtin("read", () => Effect.succeed({ text: "built-in" }))
      const h = yield* makeAgent({
        client: [client("read"), client("b")],
        tools: [read],
        settings: {
          capabilities: {
            disabled: ["read", "client__b"],
            code_mode: { enabled: true, compact_direct_tools: false, disabled: [] }
          }
        }
      })
      const names = ["read", "client__b", "client__READ", "client__", "nothing", "Read"]
      yield* h.run([{ calls: names.map((name) => call(name)) }, show])
      assert.deepStrictEqual(codes(h.results()), [
        "tool_unknown",
        "client_tool_not_permitted",
        "client_tool_not_permitted",
        "client_tool_not_permitted",
        "tool_unknown",
        "tool_unknown"
      ])
      assert.strictEqual(h.calls().length, 0)
      const finished = h.events("activity.finished")
      assert.isTrue(finished.every((one) => one["status"] === "failure" && one["call_id"] === null))
    })
  )

  it.effect("direct calls and Code Mode exclude independently of each other", () =>
    Effect.gen(function* () {
      const one = builtin("one", () => Effect.succeed({ text: "1" }))
      const two = builtin("two", () => Effect.succeed({ text: "2" }))
      const h = yield* makeAgent({
        tools: [codeMode, one, two],
        settings: {
          capabilities: {
            disabled: ["one"],
            code_mode: { enabled: true, compact_direct_tools: false, disabled: ["two"] }
          }
        }
      })
      const both = [call("one"), call("two")]
      yield* h.run([{ calls: [...both, call("code_mode", { calls: [...both, call("code_mode")] })] }, show])
      const [first, second, script] = h.results()
      assert.deepStrictEqual([first?.error?.code, second?.success], ["tool_unknown", true])
      assert.deepStrictEqual(script?.content, ["1", "tool_unknown", "tool_unknown"])
    })
  )

  it.effect(
    "compact hides MCP tools and most built-ins, not client tools; what is hidden is not callable directly",
    () =>
      Effect.gen(function* () {
        const shown = builtin("shown", () => Effect.succeed({ text: "" }), { compact: true })
        const hidden = builtin("hidden", () => Effect.succeed({ text: "" }))
        const mcp = builtin("mcp__s__t", () => Effect.succeed({ text: "m" }), { origin: "mcp" })
        const h = yield* makeAgent({
          tools: [codeMode, shown, hidden, mcp],
          client: [client("a")],
          settings: {
            capabilities: { disabled: [], code_mode: { enabled: true, compact_direct_tools: true, disabled: [] } }
          }
        })
        yield* h.run("xyzzy")
        const listed = h.text()
        for (const name of ["code_mode", "subagents", "shown", "client__a"]) assert.include(listed, `- ${name}:`)
        for (const name of ["hidden", "mcp__s__t"]) assert.notInclude(listed, `- ${name}:`)
        yield* h.run([
          { calls: [call("hidden"), call("mcp__s__t"), call("code_mode", { calls: [call("mcp__s__t")] })] },
          show
        ])
        const [one, two, script] = h.results()
        assert.deepStrictEqual(
          [one?.error?.code, two?.error?.code, script?.content],
          ["tool_unknown", "tool_unknown", ["m"]]
        )
      })
  )
})

describe("raw arguments and the re-check", () => {
  it.effect("what is not JSON by section 1, or no object, is invalid, without hooks and without an event", () =>
    Effect.gen(function* () {
      let hooked = 0
      const tool = builtin("tool", () => Effect.succeed({ text: "" }))
      const h = yield* makeAgent({
        client: [client("a")],
        tools: [tool],
        hooks: {
          before: (one) =>
            Effect.sync(() => {
              hooked += 1
              return one.arguments
            })
        }
      })
      const bad = ['{"a":1,"a":2}', '{"n":9007199254740993}', "[1]", "null", '{"q":"\\ud800"}', '{"a":']
      yield* h.run([
        { calls: [...bad.map((text) => raw("client__a", text)), raw("tool", "[]"), call("tool", 5)] },
        show
      ])
      assert.deepStrictEqual(codes(h.results()), [
        ...bad.map(() => "client_tool_invalid_arguments"),
        "tool_invalid_arguments",
        "tool_invalid_arguments"
      ])
      assert.deepStrictEqual([h.calls().length, hooked], [0, 0])
    })
  )

  it.effect("arguments deeper or longer than their reader takes are over the bound, not of a wrong form", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      const deep = (n: number) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`
      const huge = `{"a":"${"x".repeat(1_048_576)}"}`
      yield* h.run([{ calls: [deep(257), deep(5000), huge].map((text) => raw("client__a", text)) }, show])
      assert.deepStrictEqual(codes(h.results()), Array(3).fill("client_tool_payload_limit"))
      assert.deepStrictEqual(h.calls(), [])
    })
  )

  it.effect("empty argument text is an empty object", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      yield* h.start([{ calls: [raw("client__a", "")] }])
      yield* h.pending(1)
      assert.deepStrictEqual(h.calls()[0]?.["arguments"], {})
    })
  )

  it.effect("arguments that a hook replaced are checked again", () =>
    Effect.gen(function* () {
      const replaced: Record<string, { readonly [key: string]: Json }> = {
        client__big: { a: "x".repeat(16_384 - 7) },
        client__fits: { a: "x".repeat(16_384 - 8) },
        client__odd: { a: "\ud800" },
        mcp__s__big: { a: "x".repeat(16_384 - 7) }
      }
      const mcp = builtin("mcp__s__big", () => Effect.succeed({ text: "" }), { origin: "mcp" })
      const h = yield* makeAgent({
        client: [client("big"), client("fits"), client("odd")],
        tools: [mcp],
        hooks: { before: (one) => Effect.succeed(replaced[one.tool] ?? {}) }
      })
      yield* h.start([{ calls: Object.keys(replaced).map((name) => call(name)) }, show])
      yield* h.pending(1)
      assert.deepStrictEqual(h.calls()[0]?.["name"], "client__fits")
      yield* h.reply(0)
      yield* h.ended
      assert.deepStrictEqual(codes(h.results()), [
        "client_tool_payload_limit",
        "success",
        "client_tool_invalid_arguments",
        "tool_invalid_arguments"
      ])
    })
  )

  it.effect("a call cancelled while its hook runs is never published", () =>
    Effect.gen(function* () {
      let waiting = false
      const h = yield* makeAgent({
        client: [client("a")],
        hooks: {
          before: () =>
            Effect.andThen(
              Effect.sync(() => {
                waiting = true
              }),
              Effect.never
            )
        }
      })
      const run = yield* h.start([{ calls: [call("client__a")] }])
      yield* until("the hook", () => waiting)
      yield* run.cancel
      yield* h.ended
      assert.deepStrictEqual([h.calls().length, h.cancels()], [0, []])
      assert.deepInclude((yield* h.outcomes)[0], { status: "cancelled" })
      assert.deepInclude(h.events("activity.finished")[0], {
        status: "cancelled",
        code: "client_tool_cancelled",
        call_id: null
      })
    })
  )
})

describe("approval, execution, results", () => {
  const asking = (name: string, ran: Array<string>, more: Partial<PreparedCall> = {}) =>
    builtin(name, () => Effect.succeed({ text: "" }), {
      prepare: (args) =>
        Effect.succeed({
          approval: { kind: "bash", summary: `run ${String(args["what"])}` },
          lines: [`run ${String(args["what"])}`],
          execute: Effect.sync(() => {
            ran.push(String(args["what"]))
            return { text: "ran" }
          }),
          ...more
        })
    })

  it.effect("an answer holds for exactly the arguments shown, those the hook left", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const h = yield* makeAgent({
        tools: [asking("tool", ran)],
        hooks: { before: () => Effect.succeed({ what: "that" }) }
      })
      const run = yield* h.start([{ calls: [call("tool", { what: "this" }), call("tool", { what: "this" })] }, show])
      yield* until("two approvals", () => h.events("approval.request").length === 2)
      const [first, second] = h.events("approval.request")
      assert.deepInclude(first, {
        kind: "bash",
        summary: "run that",
        task_id: null,
        subagent_id: null,
        timeout_ms: 300_000
      })
      const answer = (one: typeof first, allow: boolean) =>
        h.approvals.answer({ runId: run.runId, approvalId: String(one?.["approval_id"]), allow }, () => {})
      assert.isTrue(yield* answer(first, true))
      assert.isFalse(yield* answer(first, false), "one answer wins")
      assert.isTrue(yield* answer(second, false))
      yield* h.ended
      assert.deepStrictEqual(codes(h.results()), ["success", "approval_denied"])
      assert.deepStrictEqual(ran, ["that"])
    })
  )

  it.effect("a cancelled run closes its approvals; nothing runs", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const h = yield* makeAgent({ tools: [asking("tool", ran)] })
      const run = yield* h.start([{ calls: [call("tool", { what: "x" })] }])
      yield* until("the approval", () => h.events("approval.request").length === 1)
      yield* run.cancel
      yield* h.ended
      assert.deepStrictEqual(
        h.events("approval.closed").map((one) => one["reason"]),
        ["cancelled"]
      )
      assert.deepStrictEqual([ran, yield* h.approvals.pending], [[], 0])
    })
  )

  it.effect("failures of tools: their code, their content, and what they become", () =>
    Effect.gen(function* () {
      const failing = builtin("failing", () =>
        Effect.fail(new ToolFailure({ code: "tool_timeout", message: "too slow", output: { text: "so far" } }))
      )
      const large = builtin("large", () => Effect.succeed({ text: "x".repeat(32_769) }))
      const fits = builtin("fits", () => Effect.succeed({ text: "x".repeat(32_768) }))
      const broken = builtin("broken", () => Effect.die(new Error("SENTINEL")))
      const h = yield* makeAgent({ tools: [failing, large, fits, broken] })
      yield* h.run([{ calls: [call("failing"), call("large"), call("fits"), call("broken")] }, show])
      const results = h.results()
      assert.deepStrictEqual(codes(results), ["tool_timeout", "result_too_large", "success", "tool_failed"])
      assert.deepStrictEqual(results[0]?.content, { text: "so far" })
      assert.notInclude(JSON.stringify(h.frames), "SENTINEL")
      assert.deepStrictEqual((yield* h.outcomes).map((one) => one.status).sort(), [
        "failure",
        "failure",
        "failure",
        "success"
      ])
    })
  )

  it.effect("after_tool sees the final arguments and what the model sees, and only of calls that ran", () =>
    Effect.gen(function* () {
      const seen: Array<Json> = []
      const denied = new ToolFailure({ code: "hook_denied", message: "no" })
      const h = yield* makeAgent({
        client: [client("a"), client("b"), client("c")],
        hooks: {
          before: (one) => (one.tool === "client__b" ? Effect.fail(denied) : Effect.succeed({ n: 2 })),
          after: (one) =>
            Effect.sync(() => {
              seen.push([one.tool, one.arguments, one.status, one.result])
            })
        }
      })
      yield* h.start([{ calls: [call("client__a", { n: 1 }), call("client__b"), call("client__c")] }, show])
      yield* h.pending(2)
      yield* h.reply(0, { structured: { ok: true } })
      yield* h.reply(1, { status: "error", text: "broken" })
      yield* h.ended
      assert.deepStrictEqual(seen, [
        ["client__a", { n: 2 }, "success", { ok: true }],
        ["client__c", { n: 2 }, "failure", { text: "broken" }]
      ])
      assert.deepStrictEqual(codes(h.results()), ["success", "hook_denied", "client_tool_error"])
    })
  )

  it.effect("a client's result was protected before it was accepted, any other is protected afterwards", () =>
    Effect.gen(function* () {
      const own = builtin("own", () => Effect.succeed({ text: "own" }))
      const h = yield* makeAgent({ client: [client("a")], tools: [own] })
      yield* h.start([{ calls: [call("client__a")] }])
      yield* h.pending(1)
      yield* h.reply(0)
      yield* h.ended
      assert.strictEqual(h.protections(), 1, "by the broker, once")
      yield* h.run([{ calls: [call("own")] }])
      assert.strictEqual(h.protections(), 2)
    })
  )

  it.effect("a refused call stands in history where it was made, one that ran is recorded at once", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a"), client("b")] })
      yield* h.start([{ calls: [call("client__a"), call("nope"), call("client__b")] }, show])
      yield* h.pending(2)
      yield* h.reply(1)
      yield* until("the second outcome", () => h.events("activity.finished").length === 2)
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => one.name),
        ["client__b"]
      )
      yield* h.reply(0)
      yield* h.ended
      assert.deepStrictEqual(
        (yield* h.outcomes).map((one) => one.name),
        ["client__b", "client__a", "nope"]
      )
    })
  )

  it.effect("results go to the model in call order, whatever the order of the replies", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")] })
      yield* h.start([{ calls: [0, 1, 2].map((n) => call("client__a", { n })) }, show])
      yield* h.pending(3)
      for (const nth of [2, 0, 1]) yield* h.reply(nth, { text: `answer ${nth}` })
      yield* h.ended
      assert.deepStrictEqual(
        h.results().map((one) => one.content),
        [{ text: "answer 0" }, { text: "answer 1" }, { text: "answer 2" }]
      )
    })
  )
})

describe("tool cards (section 5)", () => {
  it.effect("a running and a final card with rising revisions; lines masked; only when negotiated", () =>
    Effect.gen(function* () {
      const tool = builtin("tool", () => Effect.succeed({ text: "SENTINEL output" }), {
        role: "bash",
        prepare: () =>
          Effect.succeed({
            approval: null,
            lines: ["run --password=SENTINEL", ...Array<string>(24).fill("y".repeat(1000))],
            execute: Effect.succeed({ text: "SENTINEL output" })
          })
      })
      const options = { tools: [tool], maskText: (text: string) => text.replaceAll("SENTINEL", "[redacted]") }
      const h = yield* makeAgent({ ...options, cards: true })
      yield* h.run([{ calls: [call("tool")] }, { text: "x" }])
      const cards = h.frames.filter((frame) => frame.event === "tool.card")
      assert.deepStrictEqual(
        cards.map((frame) => frame.droppable === true),
        [true, false]
      )
      const [running, last] = cards.map((frame) => frame.data["card"])
      assert.deepInclude(running, { revision: 1, state: "running", outcome: null, role: "bash", title: "tool" })
      assert.deepInclude(last, {
        revision: 2,
        state: "finished",
        outcome: "success",
        lines: ["run --password=[redacted]", ...Array<string>(19).fill("y".repeat(256))]
      })
      assert.deepStrictEqual((yield* h.outcomes)[0]?.card, last)
      const plain = yield* makeAgent(options)
      yield* plain.run([{ calls: [call("tool")] }, { text: "x" }])
      assert.strictEqual(plain.events("tool.card").length, 0)
    })
  )
})

describe("Code Mode's calls", () => {
  it.effect("are children of the script's call, with the identity of its agent, and no part of the transcript", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [client("a")], tools: [codeMode] })
      yield* h.start([{ calls: [call("code_mode", { calls: [call("client__a"), call("client__a", [1])] })] }, show])
      yield* h.pending(1)
      assert.deepInclude(h.calls()[0], { task_id: null, subagent_id: null })
      yield* h.reply(0, { text: "inner" })
      yield* h.ended
      assert.deepStrictEqual(h.results()[0]?.content, ["inner", "client_tool_invalid_arguments"])
      const started = h.events("activity.started")
      const script = started.find((one) => one["kind"] === "code_mode")
      assert.deepStrictEqual(
        started.map((one) => one["parent_id"]),
        [null, script?.["activity_id"] ?? "none", script?.["activity_id"] ?? "none"]
      )
      const outcomes = yield* h.outcomes
      const own = outcomes.find((one) => one.name === "code_mode")
      assert.deepStrictEqual(
        outcomes.filter((one) => one.name === "client__a").map((one) => one.parentKey),
        [own?.callKey ?? "none", own?.callKey ?? "none"]
      )
    })
  )
})
