/**
 * "an estimate before each request, compaction of old tool results and then of old turns as a recorded history step that
 * keeps call/result pairs and the untrusted mark; context_limit when even that does not fit" (product section 2).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { tokensOf } from "../../src/agent/model/ContextEstimate.ts"
import { estimate, type PlanExtra, plan } from "../../src/agent/model/ContextPlan.ts"
import { wireHistory } from "../../src/agent/model/WireHistory.ts"
import * as Transcript from "../../src/agent/Transcript.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"

const extra: PlanExtra = { system: "system", tools: [] }
const handle = (contextTokens: number, maxOutputTokens = 0) => ({
  provider: "local",
  model: "m",
  contextTokens,
  maxOutputTokens
})

interface Step {
  readonly text: string
  readonly results: ReadonlyArray<string>
}

/** Records of a session: each turn is a prompt and its steps. */
const session = (turns: ReadonlyArray<{ readonly prompt: string; readonly steps: ReadonlyArray<Step> }>) => {
  const records: Array<SessionRecord> = []
  const base = (id: string) => ({ entryId: id, createdAt: "2026-01-01T00:00:00.000Z", runId: "run" })
  for (const [t, { prompt, steps }] of turns.entries()) {
    records.push({ ...base(`u${t}`), kind: "user", text: prompt })
    for (const [s, { text, results }] of steps.entries()) {
      const keys = results.map((_, r) => `k${t}-${s}-${r}`)
      const calls = keys.map((callKey) => ({
        callKey,
        providerCallId: callKey,
        name: "read",
        arguments: { path: "a.txt" },
        invalid: null
      }))
      records.push({ ...base(`a${t}-${s}`), kind: "assistant", text, calls })
      for (const [r, result] of results.entries()) {
        const key = `k${t}-${s}-${r}`
        const place = { callKey: key, name: "read", taskId: null, parentKey: null } as const
        records.push({ ...base(`s${key}`), kind: "call_started", ...place })
        const outcome = { success: true, text: result, error: null }
        records.push({ ...base(`o${key}`), kind: "call_outcome", ...place, status: "success", outcome, card: null })
      }
    }
  }
  return records
}

const append = (records: ReadonlyArray<SessionRecord>, made: ReturnType<typeof plan>): ReadonlyArray<SessionRecord> =>
  made._tag === "Compact"
    ? [
        ...records,
        {
          entryId: `c${records.length}`,
          createdAt: "2026-01-01T00:00:00.000Z",
          runId: "run",
          kind: "compaction",
          ...made.compaction
        }
      ]
    : records

const wire = (records: ReadonlyArray<SessionRecord>) => wireHistory(Transcript.prompt("system", records), /./)

const words = (n: number) => "word ".repeat(n).trim()
const RESULT = "the content of a result "

describe("plan", () => {
  it("keeps what fits", () => {
    const records = session([{ prompt: "hello", steps: [{ text: "hi", results: [] }] }])
    assert.deepStrictEqual(plan(records, handle(1000), extra), { _tag: "Keep" })
  })

  it("clears old results first, the oldest first, and keeps the newest ones", () => {
    const big = RESULT.repeat(100)
    const steps = Array.from({ length: 4 }, () => ({ text: "", results: [big] }))
    const records = session([{ prompt: "go", steps }])
    const made = plan(records, handle(2800), extra)
    assert.strictEqual(made._tag, "Compact")
    if (made._tag !== "Compact") return
    assert.strictEqual(made.compaction.keepFrom, "u0")
    assert.strictEqual(made.compaction.summary, "")
    assert.deepStrictEqual(made.compaction.clearedResults, ["k0-0-0", "k0-1-0"])
    const { messages } = wire(append(records, made))
    const results = messages.flatMap((one) => (one.role === "results" ? one.results.map(({ text }) => text) : []))
    assert.deepStrictEqual(
      results.map((text) => [text.startsWith("[untrusted tool result"), text.includes("[cleared]")]),
      [
        [true, true],
        [true, true],
        [true, false],
        [true, false]
      ]
    )
  })

  it("then leaves out old turns, whole, and says so in a summary without any result", () => {
    const turns = Array.from({ length: 6 }, (_, n) => ({
      prompt: `question ${n} ${words(120)}`,
      steps: [
        { text: "", results: ["SECRET CONTENT OF A RESULT"] },
        { text: `answer ${n} ${words(120)}`, results: [] }
      ]
    }))
    const records = session([...turns, { prompt: "and now?", steps: [] }])
    const made = plan(records, handle(1900), extra)
    assert.strictEqual(made._tag, "Compact")
    if (made._tag !== "Compact") return
    const { keepFrom, summary } = made.compaction
    assert.match(keepFrom ?? "", /^u[1-6]$/)
    assert.include(summary, "question 0")
    assert.include(summary, "read ×1")
    assert.notInclude(summary, "SECRET")
    const after = append(records, made)
    assert.deepStrictEqual(plan(after, handle(1900), extra), { _tag: "Keep" })
    const first = wire(after).messages[0]
    assert.strictEqual(first?.role, "user")
    if (first?.role === "user") assert.include(first.text, "untrusted data")
  })

  it("leaves out the first steps of a long run when nothing else helps, with its prompt kept in full", () => {
    const prompt = `do all of this ${words(50)} to the end`
    const steps = Array.from({ length: 20 }, () => ({ text: words(100), results: ["ok"] }))
    const records = session([{ prompt, steps }])
    const made = plan(records, handle(1800), extra)
    assert.strictEqual(made._tag, "Compact")
    if (made._tag !== "Compact") return
    assert.match(made.compaction.keepFrom ?? "", /^a0-/)
    assert.include(made.compaction.summary, prompt)
  })

  it("is context_limit when the last message alone is too much", () => {
    const records = session([{ prompt: words(2000), steps: [] }])
    const made = plan(records, handle(1000), extra)
    assert.strictEqual(made._tag, "ContextLimit")
    if (made._tag === "ContextLimit") assert.strictEqual(made.failure.code, "context_limit")
  })

  it("is context_limit when new results are too much, and the session goes on with the next turn", () => {
    const records = session([{ prompt: "go", steps: [{ text: "", results: [RESULT.repeat(1000)] }] }])
    assert.strictEqual(plan(records, handle(2000), extra)._tag, "ContextLimit")
    const next = [...records, ...session([{ prompt: "go", steps: [] }]).map((one) => ({ ...one, entryId: "u9" }))]
    assert.strictEqual(plan(next, handle(2000), extra)._tag, "Compact")
  })

  it("counts the system prompt, the tools and the room for the response", () => {
    const records = session([{ prompt: "hello", steps: [] }])
    const tool = { name: "t", description: words(800), inputSchema: { type: "object" } }
    assert.strictEqual(plan(records, handle(1000), { ...extra, tools: [tool] })._tag, "ContextLimit")
    assert.strictEqual(plan(records, handle(1000), { ...extra, system: words(1000) })._tag, "ContextLimit")
    assert.strictEqual(
      plan(session([{ prompt: words(400), steps: [] }]), handle(1000, 500), extra)._tag,
      "ContextLimit"
    )
    assert.strictEqual(plan(session([{ prompt: words(400), steps: [] }]), handle(1000, 0), extra)._tag, "Keep")
  })

  it("goes below what a provider refused as too long", () => {
    const records = session([
      { prompt: "go", steps: Array.from({ length: 4 }, () => ({ text: "", results: [RESULT.repeat(50)] })) }
    ])
    assert.strictEqual(plan(records, handle(100_000), extra)._tag, "Keep")
    const made = plan(records, handle(100_000), { ...extra, overrun: true })
    assert.strictEqual(made._tag, "Compact")
    assert.isBelow(estimate(append(records, made), extra), estimate(records, extra) * 0.61)
  })

  it("holds for any session: what is planned fits, pairs stay together, nothing is needed twice", () => {
    const seen = { Keep: 0, Compact: 0, ContextLimit: 0 }
    const text = fc.integer({ min: 0, max: 300 }).map(words)
    const step = fc.record({ text, results: fc.array(text, { maxLength: 4 }) })
    const turn = fc.record({ prompt: text.map((one) => `ask ${one}`), steps: fc.array(step, { maxLength: 6 }) })
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 500, max: 6000 }),
        (turns, size) => {
          let records: ReadonlyArray<SessionRecord> = []
          for (const [at, record] of session(turns).entries()) {
            records = [...records, record]
            const settled = record.kind === "user" || (record.kind === "call_outcome" && at % 3 === 0)
            if (!settled) continue
            const made = plan(records, handle(size), extra)
            seen[made._tag] += 1
            if (made._tag === "ContextLimit") continue
            records = append(records, made)
            assert.isAtMost(estimate(records, extra), Math.floor(size * 0.95))
            assert.strictEqual(plan(records, handle(size), extra)._tag, "Keep")
            const { messages } = wire(records)
            assert.strictEqual(messages[0]?.role, "user")
            for (const [place, message] of messages.entries()) {
              if (message.role !== "assistant" || message.calls.length === 0) continue
              const answers = messages[place + 1]
              assert.strictEqual(answers?.role, "results")
              if (answers?.role !== "results") continue
              assert.deepStrictEqual(
                answers.results.map(({ id }) => id),
                message.calls.map(({ id }) => id)
              )
              for (const result of answers.results) assert.match(result.text, /^\[untrusted tool result/)
            }
          }
        }
      ),
      { numRuns: 60 }
    )
    for (const [tag, times] of Object.entries(seen)) assert.isAbove(times, 10, tag)
  })
})

describe("tokensOf", () => {
  it("counts more for what is not ASCII", () => {
    assert.strictEqual(tokensOf(""), 0)
    assert.strictEqual(tokensOf("a"), 1)
    assert.strictEqual(tokensOf("x".repeat(35)), 10)
    assert.isAtLeast(tokensOf("猫".repeat(100)), 100)
    assert.isAtLeast(tokensOf("кот".repeat(100)), 200)
  })
})

it("planning changes nothing", () => {
  const records = session([{ prompt: "hello", steps: [] }])
  const before = JSON.stringify(records)
  plan(records, handle(100), extra)
  assert.strictEqual(JSON.stringify(records), before)
})
