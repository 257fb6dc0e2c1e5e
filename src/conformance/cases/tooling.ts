/** Around the agent's own tools: chains of hooks, approvals, MCP servers, bash, and bounds on texts. docs/tools.md. */
import {
  answering,
  at,
  type Case,
  c,
  call,
  cite,
  completed,
  failedWith,
  history,
  type Json,
  runSteps,
  shown,
  textBytes,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")
const tools = cite("tools")

const hookFailures = tools(
  "Failures are another exit code than 0, a hook that has not ended after timeout_ms, more than 64 KiB of output, output that is not JSON, an unknown decision, and replaced arguments that are not an object. warn goes on with the arguments as they were, block ends the call with hook_failed."
)
const summaryShowsAll = protocol(
  "The summary shows all that will run, with control and bidirectional characters written out visibly and secrets masked. What does not fit into 4096 compact bytes is denied and never asked."
)

/** Controls other than LF, and what turns the direction of text. */
const INVISIBLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const allowAll = { approvals: { bash: "allow", write: "allow" } }

export const tooling: ReadonlyArray<Case> = [
  c(
    "tooling.hook-chain",
    tools(
      "Hooks run in the order of the settings, each seeing the last replacement. The first denial ends the call with hook_denied and the hook's reason; no further hook runs, nothing is executed or published, and the run goes on."
    ),
    function* (t) {
      const before_tool = [
        t.hook({ print: { decision: "allow", arguments: { n: 1 } } }),
        t.hook({ log: t.file("two.log"), print: { decision: "allow", arguments: { n: 2 } } }),
        t.hook({ log: t.file("three.log"), print: { decision: "deny", reason: "the third says no" } }),
        t.hook({ log: t.file("four.log") })
      ]
      const b = yield* t.ready([tool("a")], { settings: { hooks: { before_tool, after_tool: [] } } })
      const [result] = yield* runSteps(b, [call("client__a", { n: 0 })])
      yield* failedWith(result, "hook_denied")
      yield* failedWith(result, "the third says no")
      const read: ReadonlyArray<Json> = ["two.log", "three.log"].map((name) => JSON.parse(t.read(name)))
      yield* t.equal(
        read.map((one) => at(one, "arguments")),
        [{ n: 1 }, { n: 2 }],
        "arguments that the second and the third hook read"
      )
      yield* t.equal([t.read("four.log"), b.events("client.tool.call").length], ["", 0], "fourth hook's log, events")
    }
  ),

  c("tooling.hook-failures", hookFailures, function* (t) {
    const prints: ReadonlyArray<Json> = [
      "this is not JSON",
      { decision: "maybe" },
      { decision: "allow", arguments: "text" },
      [1]
    ]
    const before_tool = prints.flatMap((print, i) =>
      (["warn", "block"] as const).map((on_failure) =>
        t.hook({ print }, { tools: [`client__${on_failure}${i}`], on_failure })
      )
    )
    const names = prints.flatMap((_, i) => [`client__warn${i}`, `client__block${i}`])
    const b = yield* t.ready(
      names.map((name) => tool(name)),
      { settings: { hooks: { before_tool, after_tool: [] } } }
    )
    const given = { as: "it was" }
    yield* b.turn([{ calls: names.map((name) => call(name, given)) }, { text: "{{results}}" }])
    const events = yield* b.calls(prints.length)
    yield* t.equal(
      events.map(({ data }) => [data.name, data.arguments]).sort(),
      prints.map((_, i) => [`client__warn${i}`, given]),
      "calls that go on, under warn"
    )
    for (const e of events) yield* b.accepted(e)
    const results = yield* completed(b)
    yield* t.equal(results.length, names.length, "results")
    for (const result of results) {
      if (result.name.startsWith("client__block")) yield* failedWith(result, "hook_failed")
      else yield* t.equal(result.success, true, `success of ${result.name}`)
    }
    yield* t.equal(b.events("client.tool.call").length, prints.length, "events")
  }),

  c("tooling.approval-summary", summaryShowsAll, function* (t) {
    const b = yield* t.ready()
    const command = `echo one > ran; echo '\u202etwo\u001b[2K\u200e'${" ".repeat(300)}; echo three >> ran`
    yield* b.turn([
      { calls: [call("bash", { command })] },
      { calls: [call("bash", { command: `echo x > long; # ${"y".repeat(4100)}` })] },
      { text: "{{results}}" }
    ])
    const asked = yield* answering(b, () => true)
    yield* t.equal(asked.length, 1, "questions: a command of more than 4096 bytes is none")
    const summary = asked[0]?.summary ?? ""
    for (const part of ["echo one > ran", "two", "echo three >> ran"]) {
      yield* t.expect(summary.includes(part), `the summary should show ${part}: ${shown(summary)}`)
    }
    yield* t.expect(!INVISIBLE.test(summary), `the summary shows nothing invisible: ${shown(summary)}`)
    yield* t.expect(/202e/i.test(summary), `the summary writes U+202E out: ${shown(summary)}`)
    yield* t.expect(/1b|\\e|\^\[|\u241b/i.test(summary), `the summary writes U+001B out: ${shown(summary)}`)
    const [result] = yield* b.results()
    yield* failedWith(result, "approval_denied")
    yield* t.equal([t.read("ran"), t.read("long")], ["one\nthree\n", ""], "what ran, of the two commands")
  }),

  c(
    "tooling.mcp-start",
    [
      tools(
        'A server that cannot be started fails initialize with mcp_failed and a line that says why, or, with "required": false, is left out with a notice.'
      ),
      tools(
        "The list of tools is taken once, all its pages. Left out with a notice are tools whose full name has more than 64 bytes"
      )
    ],
    function* (t) {
      const fits = "n".repeat(64 - "mcp__kit__".length)
      const provider = yield* t.provider([])
      const kit = at(t.mcp({ names: [fits, `${fits}n`], lists: t.file("lists") }), "servers", "kit") ?? null
      const dead = at(t.mcp({ die: true }, { required: false }), "servers", "kit") ?? null
      const b = yield* t.ready([tool("a")], { settings: { ...provider.settings, mcp: { servers: { kit, dead } } } })
      for (let turn = 0; turn < 2; turn++) {
        yield* b.turn("hello")
        yield* b.finished()
      }
      const offered = provider.tools().filter((name) => name.startsWith("mcp__"))
      yield* t.expect(offered.includes(`mcp__kit__${fits}`), `a name of 64 bytes is offered: ${shown(offered)}`)
      yield* t.equal(
        offered.filter((name) => name.length > 64 || name.startsWith("mcp__dead")),
        [],
        "tools with longer names, or of the server that died"
      )
      yield* t.equal(t.read("lists"), "list\n", "times that the list was taken")
    }
  ),

  c(
    "tooling.mcp-collision",
    clientTools("result_rejected | the result could not be scanned, or redaction made two keys equal"),
    function* (t) {
      const mcp = t.mcp({ structured: { "token=aaaa1111": 1, "token=bbbb2222": 2 } })
      const b = yield* t.ready([tool("a")], { settings: { mcp } })
      const [result] = yield* runSteps(b, [call("mcp__kit__echo", { words: "x" })])
      yield* failedWith(result, "result_rejected")
      yield* t.expect(!/aaaa1111|bbbb2222/.test(JSON.stringify(result)), "a rejected result shows no value")
    }
  ),

  c(
    "tooling.bash",
    [
      tools(
        "bash runs bash -c (sh where there is no bash) in the workspace, with closed stdin, for 120 s by default and 600 s at most. Of longer output the beginning and the end are kept."
      ),
      tools("All output is bounded to 30 KiB of UTF-8, notes included, and never cut inside a character."),
      clientTools("tool_timeout | it took too long")
    ],
    function* (t) {
      const b = yield* t.ready([tool("a")], { settings: allowAll })
      const [big, folder, input, slow] = yield* runSteps(b, [
        call("bash", { command: "seq 100000 120000" }),
        call("bash", { command: "pwd" }),
        call("bash", { command: "cat; echo over" }),
        call("bash", { command: "sleep 30; echo x", timeout_ms: 600 })
      ])
      const kept = JSON.stringify(big?.content).replaceAll("\\n", "\n")
      yield* t.equal(big?.success, true, "success of long output")
      yield* t.expect(kept.includes("100000\n100001"), `the beginning is kept: ${shown(kept, 80)}`)
      yield* t.expect(kept.includes("119999\n120000"), `the end is kept: ${shown(kept.slice(-80))}`)
      yield* t.expect(!kept.includes("110000"), "the middle is left out")
      // 200 bytes for the JSON that stands around it.
      yield* t.expect(Buffer.byteLength(kept) <= 30 * 1024 + 200, `output of ${Buffer.byteLength(kept)} bytes`)
      yield* t.expect(JSON.stringify(folder?.content).includes(t.workspace), `its folder: ${shown(folder?.content)}`)
      yield* t.expect(JSON.stringify(input?.content).includes("over"), `its stdin has ended: ${shown(input?.content)}`)
      yield* failedWith(slow, "tool_timeout")
    }
  ),

  c(
    "tooling.text-bytes",
    [
      protocol(
        "Bounds on single texts of events and results (titles, summaries, parts) count compact bytes without the two quotes."
      ),
      protocol("part | which part of the text this is, from 0"),
      protocol("Provider and model names have at most 128 compact bytes, a title at most 200")
    ],
    function* (t) {
      const text = '"\\'.repeat(10_000)
      yield* t.scripted([{ text }])
      const b = yield* t.ready(null)
      yield* b.turn(`${'"\\é😀'.repeat(200)} and more`)
      yield* b.finished()
      const parts = b.events("message.reconcile").map(({ data }) => data)
      yield* t.equal(b.texts().at(-1), text, "text of message.reconcile")
      yield* t.equal(
        parts.map(({ part, parts: of }) => [part, of]),
        parts.map((_, i) => [i, parts.length]),
        "part and parts of message.reconcile"
      )
      const entries = (yield* history(b)).filter(({ kind }) => kind === "assistant")
      yield* t.equal(entries.map((entry) => entry.text).join(""), text, "text in the history")
      yield* t.equal(
        entries.map(({ part, parts: of }) => [part, of]),
        entries.map((_, i) => [i, entries.length]),
        "part and parts in the history"
      )
      for (const one of [...parts, ...entries]) {
        yield* t.expect(textBytes(one.text) <= 16_384, `a part of ${textBytes(one.text)} compact bytes`)
      }
      for (const { data } of b.events("message.delta")) {
        yield* t.expect(textBytes(data.text) <= 8192, `a delta of ${textBytes(data.text)} compact bytes`)
      }
      for (const { title } of (yield* b.ok("session.list")).entries) {
        yield* t.expect(textBytes(title ?? "") <= 200, `a title of ${textBytes(title ?? "")} compact bytes`)
      }
    }
  )
]
