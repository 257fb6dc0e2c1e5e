/** Scripts of Code Mode: what they see, their calls, and their ends. docs/code-mode.md. */
import { at, type Backend, type Case, c, call, cite, code, completedOne, runSteps, shown, sleep, tool } from "../dsl.ts"

const codeMode = cite("code-mode")
const clientTools = cite("client-tools")

const callGives = codeMode(
  "tools.call(name, args) | a promise of {success: true, content} or {success: false, content, error: {code, message}}; it never rejects"
)
const withoutHost = codeMode(
  "The JavaScript of QuickJS (ES2023) without a host: no modules, files, network, timers, console or process."
)
const endOfThread = codeMode(
  "Interruption, the time, a failure and a return all end the thread, whatever it is doing; then the unfinished calls are interrupted and waited for, at most one second."
)
const scriptEnds = clientTools(
  "A script's calls carry the identity of the agent that runs it, take slots like all others, and are cancelled when the script ends or runs out of its 60 s, which include the client's time."
)

/** Starts a turn whose one call is this script. */
const runScript = (b: Backend, source: string) => b.turn([{ calls: [code(source)] }, { text: "{{results}}" }])

/** Gives what of a host it found, or got by a detour. */
const HOST = `
  const names = ["process", "require", "module", "fetch", "Deno", "Bun", "console", "setTimeout"]
  const found = names.filter((name) => typeof globalThis[name] !== "undefined")
  for (const root of [globalThis, tools, tools.call, tools.list, {}]) {
    try {
      if (root.constructor.constructor("return typeof process")() !== "undefined") found.push("a constructor")
    } catch {}
  }
  try {
    await import("node:fs")
    found.push("import")
  } catch {}
  return found
`

export const codemode: ReadonlyArray<Case> = [
  c(
    "codemode.discovery",
    [
      codeMode("tools.list() | [{name, description}]: what this agent may call from Code Mode"),
      codeMode("The first four give values, so await is allowed and not needed.")
    ],
    function* (t) {
      const b = yield* t.ready([tool("alpha", { description: "Find lighthouses." }), tool("beta")])
      const [result] = yield* runSteps(b, [
        code(`
          const names = (all) => all.map((one) => one.name).filter((name) => name.startsWith("client__")).sort()
          return {
            lists: [names(tools.list()), names(await tools.list())],
            searches: [names(tools.search("lighthouses")), names(await tools.search("lighthouses"))],
            descriptions: [tools.describe("client__alpha"), await tools.describe("client__alpha")].map((one) => one.description),
            budgets: [typeof tools.budget().calls_left, typeof (await tools.budget()).calls_left]
          }
        `)
      ])
      const both = ["client__alpha", "client__beta"]
      yield* t.equal(
        result?.content,
        {
          lists: [both, both],
          searches: [["client__alpha"], ["client__alpha"]],
          descriptions: ["Find lighthouses.", "Find lighthouses."],
          budgets: ["number", "number"]
        },
        "what list, search, describe and budget gave, without and with await"
      )
    }
  ),

  c("codemode.call", [callGives, codeMode("content is the structured value, else {text}."), scriptEnds], function* (t) {
    const b = yield* t.ready()
    yield* runScript(b, 'return [await tools.call("client__a", { n: 1 }), await tools.call("client__a", { n: 2 })]')
    const [first] = yield* b.calls()
    if (first === undefined) return yield* t.fail("no call")
    const { arguments: args, run_id, session_id, subagent_id, task_id } = first.data
    yield* t.equal(
      [session_id, run_id, task_id, subagent_id, args],
      [b.session, b.run, null, null, { n: 1 }],
      "identity of a call of the root's script, and its arguments"
    )
    yield* b.accepted(first, { text: "T", structured: { deep: [1] } })
    const second = (yield* b.calls(2))[1]
    if (second === undefined) return yield* t.fail("no second call")
    yield* b.accepted(second, { text: "only text" })
    yield* t.equal(
      (yield* completedOne(b)).content,
      [
        { success: true, content: { deep: [1] } },
        { success: true, content: { text: "only text" } }
      ],
      "what the calls gave the script"
    )
  }),

  c("codemode.error", callGives, function* (t) {
    const b = yield* t.ready()
    yield* runScript(
      b,
      `
      const results = []
      for (const [name, args] of [["client__a", {}], ["client__none", {}], ["client__a", [1]]]) {
        const { success, content, error } = await tools.call(name, args)
        results.push([success, content, error.code, typeof error.message])
      }
      return results
    `
    )
    const [e] = yield* b.calls()
    if (e === undefined) return yield* t.fail("no call")
    yield* b.accepted(e, { status: "error", text: "broken" })
    const { content } = yield* completedOne(b)
    yield* t.equal(
      at(content, 0),
      [false, { text: "broken" }, "client_tool_error", "string"],
      "what the script saw of the client's error"
    )
    yield* t.equal(
      [1, 2].map((n) => [at(content, n, 0), at(content, n, 2), at(content, n, 3)]),
      [
        [false, "client_tool_not_permitted", "string"],
        [false, "client_tool_invalid_arguments", "string"]
      ],
      "what it saw of an unknown tool, and of arguments that are no object"
    )
    yield* t.equal(b.events("client.tool.call").length, 1, "events")
  }),

  c("codemode.concurrent", codeMode("Each has a fiber of its own, so they are really concurrent."), function* (t) {
    const b = yield* t.ready()
    yield* runScript(
      b,
      `
        const all = await Promise.all([0, 1, 2, 3, 4].map((i) => tools.call("client__a", { i })))
        return all.map((one) => one.content.text)
      `
    )
    const events = yield* b.calls(5)
    for (const e of [...events].reverse()) yield* b.accepted(e, { text: `t${e.data.arguments["i"]}` })
    yield* t.equal((yield* completedOne(b)).content, ["t0", "t1", "t2", "t3", "t4"], "results, in the order of calls")
  }),

  c("codemode.unfinished", [scriptEnds, endOfThread], function* (t) {
    const b = yield* t.ready()
    yield* runScript(
      b,
      `
      tools.call("client__a", { late: true })
      await tools.call("client__a", { late: false })
      return "script ended"
    `
    )
    const events = yield* b.calls(2)
    const late = events.find(({ data }) => data.arguments["late"] === true)
    const other = events.find(({ data }) => data.arguments["late"] === false)
    if (late === undefined || other === undefined) return yield* t.fail("the script should make both calls")
    yield* b.accepted(other)
    yield* t.equal((yield* completedOne(b)).content, "script ended", "what the script returned")
    yield* t.equal(
      b.cancels().map(({ data }) => [data.call_id, data.reason]),
      [[late.data.call_id, "cancelled"]],
      "notices"
    )
    yield* b.replyRefused("stale_client_tool_call", late)
    yield* t.equal((yield* b.ok("status")).pending_client_calls, 0, "pending calls")
  }),

  c("codemode.no-host", withoutHost, function* (t) {
    const b = yield* t.ready()
    const [result] = yield* runSteps(b, [code(HOST)])
    yield* t.equal([result?.success, result?.content], [true, []], "what of a host the script found")
  }),

  c("codemode.loop", endOfThread, function* (t) {
    const b = yield* t.ready()
    yield* runScript(b, "for (;;) {}")
    yield* sleep(400)
    yield* t.equal(
      (yield* b.ok("status", {}, { timeout: 1000 })).run_id,
      b.run,
      "run in status, while the script loops"
    )
    yield* b.ok("turn.cancel", { session_id: b.session, run_id: b.run })
    yield* t.equal((yield* b.finished(b.run, { timeout: 3000 })).data.status, "cancelled", "status of the run")
  }),

  c(
    "codemode.throws",
    [
      codeMode(
        "an uncaught exception, source that does not parse, a value that is no JSON | tool_failed with the message and the line of the script"
      ),
      clientTools("tool_invalid_arguments | its arguments break a rule")
    ],
    function* (t) {
      const b = yield* t.ready()
      const results = yield* runSteps(b, [code('throw new Error("boom")'), code("return ((("), call("code_mode")])
      yield* t.equal(
        results.map(({ error, success }) => [success, error?.code]),
        [
          [false, "tool_failed"],
          [false, "tool_failed"],
          [false, "tool_invalid_arguments"]
        ],
        "results"
      )
      yield* t.expect(JSON.stringify(results[0]).includes("boom"), `the message is told: ${shown(results[0])}`)
    }
  ),

  c(
    "codemode.cancelled-calls",
    clientTools(
      "cancelled | the run, the subagent or the script that made the call was cancelled, or the script ran out of time"
    ),
    function* (t) {
      const b = yield* t.ready()
      yield* runScript(b, 'await Promise.all([1, 2, 3].map(() => tools.call("client__a", {})))')
      const events = yield* b.calls(3)
      yield* b.ok("turn.cancel", { session_id: b.session, run_id: b.run })
      yield* t.equal((yield* b.finished()).data.status, "cancelled", "status of the run")
      yield* t.equal(
        b
          .cancels()
          .map(({ data }) => [data.call_id, data.reason])
          .sort(),
        events.map(({ data }) => [data.call_id, "cancelled"]).sort(),
        "notices, one a call"
      )
    }
  )
]
