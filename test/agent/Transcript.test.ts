/** What the model is asked with: product section 2 (results, compaction), base-protocol section 6 (raw arguments). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { failure, toAiError } from "../../src/agent/model/ProviderFailure.ts"
import { messages } from "../../src/agent/Transcript.ts"
import type { RecordedCall, RecordedOutcome, SessionRecord } from "../../src/store/SessionRecord.ts"
import { builtin, call, makeAgent } from "./AgentHarness.ts"

let last = 0
const base = () => ({ entryId: `e${++last}`, createdAt: "2026-01-01T00:00:00.000Z", runId: "r" })
const user = (text: string): SessionRecord => ({ ...base(), kind: "user", text })
const asked = (key: string, more: Partial<RecordedCall> = {}): RecordedCall => ({
  callKey: key,
  providerCallId: `p-${key}`,
  name: "tool",
  arguments: { n: 1 },
  invalid: null,
  ...more
})
const assistant = (text: string, ...calls: ReadonlyArray<RecordedCall>): SessionRecord => ({
  ...base(),
  kind: "assistant",
  text,
  calls
})
const outcome = (key: string, more: Partial<RecordedOutcome> = {}): SessionRecord => ({
  ...base(),
  kind: "call_outcome",
  callKey: key,
  name: "tool",
  taskId: null,
  parentKey: null,
  status: "success",
  outcome: { success: true, text: `result ${key}`, error: null, ...more },
  card: null
})

/** Roles, and what each tool message says. */
const shape = (records: ReadonlyArray<SessionRecord>) =>
  messages(records).map((message) =>
    message.role === "tool"
      ? message.content.map((part) => (part.type === "tool-result" ? [part.id, part.isFailure, part.result] : []))
      : message.role
  )

describe("the transcript", () => {
  it("puts every result directly after its response, in call order, whatever was recorded when", () => {
    const records = [
      user("go"),
      assistant("", asked("a"), asked("b")),
      outcome("b", { structured: null }),
      outcome("a"),
      assistant("done")
    ]
    assert.deepStrictEqual(shape(records), [
      "user",
      "assistant",
      [
        ["p-a", false, { success: true, content: { text: "result a" } }],
        ["p-b", false, { success: true, content: null }]
      ],
      "assistant"
    ])
  })

  it("a call without an outcome has one that says so; a script's own calls have no place", () => {
    const inner = { ...outcome("inner"), parentKey: "a" }
    const shown = shape([user("go"), assistant("", asked("a")), inner, user("and?")])
    assert.strictEqual(shown.length, 4)
    assert.include(JSON.stringify(shown[2]), '"code":"unknown"')
    assert.notInclude(JSON.stringify(shown), "inner")
  })

  it("arguments that were not JSON go out as an empty object, never raw", () => {
    const [, response] = messages([user("go"), assistant("", asked("a", { arguments: null, invalid: "syntax" }))])
    const part = response?.role === "assistant" ? response.content[0] : undefined
    assert.deepStrictEqual(part?.type === "tool-call" ? part.params : undefined, {})
  })

  it("a compaction replaces what came before it, and clears the results it names", () => {
    const first = assistant("", asked("b"))
    const records: ReadonlyArray<SessionRecord> = [
      user("old"),
      assistant("", asked("a")),
      outcome("a"),
      user("new"),
      first,
      outcome("b"),
      { ...base(), kind: "compaction", keepFrom: first.entryId, summary: "they spoke", clearedResults: ["b"] },
      assistant("later")
    ]
    const [summary, ...rest] = messages(records)
    const text = summary?.role === "user" && summary.content[0]?.type === "text" ? summary.content[0].text : ""
    assert.include(text, "they spoke")
    assert.include(text, "untrusted")
    assert.deepStrictEqual(
      rest.map((message) => message.role),
      ["assistant", "tool", "assistant"]
    )
    assert.include(JSON.stringify(rest), "[cleared]")
    assert.notMatch(JSON.stringify(messages(records)), /result [ab]/)
  })
})

describe("requests that fit", () => {
  it.effect("what must be left out is recorded before the request, and the run goes on", () =>
    Effect.gen(function* () {
      const big = builtin("big", () => Effect.succeed({ text: "x".repeat(20_000) }))
      const h = yield* makeAgent({
        tools: [big],
        model: (handle) => ({ ...handle, contextTokens: 16_000, maxOutputTokens: 1000 })
      })
      const step = { calls: [call("big")] }
      const end = yield* h.run([step, step, step, step, { text: "{{results}}" }])
      assert.strictEqual(end["status"], "completed")
      const records = yield* h.records
      const at = records.findIndex((record) => record.kind === "compaction")
      assert.isAbove(at, 0)
      assert.strictEqual(records[at - 1]?.kind, "call_outcome")
      assert.strictEqual(records[at + 1]?.kind, "assistant")
      assert.strictEqual(JSON.stringify(h.results()[0]?.content).length, 20_000 + '{"text":""}'.length)
    })
  )

  it.effect("a provider that counts more than was estimated is asked once more, with less", () =>
    Effect.gen(function* () {
      let requests = 0
      const h = yield* makeAgent({
        tools: [builtin("big", () => Effect.succeed({ text: "x".repeat(20_000) }))],
        model: (handle) => ({
          ...handle,
          languageModel: Object.assign({}, handle.languageModel, {
            streamText: (options: Parameters<typeof handle.languageModel.streamText>[0]) =>
              ++requests === 4
                ? Stream.fail(toAiError("Test", failure("context_limit", "too long")))
                : handle.languageModel.streamText(options)
          })
        })
      })
      const step = { calls: [call("big")] }
      const end = yield* h.run([step, step, step, { text: "done" }])
      assert.deepInclude(end, { status: "completed" })
      assert.deepStrictEqual([requests, h.text()], [5, "done"])
      assert.strictEqual((yield* h.records).filter((record) => record.kind === "compaction").length, 1)
    })
  )

  it.effect("where nothing more can be left out, the run fails with context_limit", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ model: (handle) => ({ ...handle, contextTokens: 900, maxOutputTokens: 100 }) })
      const end = yield* h.run("a ".repeat(4000))
      assert.deepInclude(end["error"], { code: "context_limit" })
      assert.deepInclude(end, { persistence: "complete" })
    })
  )
})
