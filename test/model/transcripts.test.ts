/**
 * Recorded streams of real providers, replayed over HTTP whole, cut at random places, and with CR LF. Each becomes the
 * sequence of parts that an independent reading of it gives, or the right error.
 */
import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { make as anthropic } from "../../src/agent/model/Anthropic.ts"
import { make as openai } from "../../src/agent/model/OpenAi.ts"
import { ask, collect, cutAt, type Heard, options, pieces, serve } from "./support.ts"

interface Case {
  readonly name: string
  readonly api: "openai-chat" | "openai-responses" | "anthropic-messages"
  readonly sse: string
  readonly expected: {
    readonly text: string
    readonly tool_calls: ReadonlyArray<{
      readonly id: string
      readonly name: string
      readonly arguments: string
      readonly arguments_json?: unknown
    }>
    readonly finish: string | null
    readonly usage: { readonly input: number; readonly output: number } | null
    readonly error: unknown
    readonly irregular?: ReadonlyArray<string>
  }
}

const { cases }: { cases: ReadonlyArray<Case> } = JSON.parse(
  gunzipSync(readFileSync(new URL("../corpora/transcripts.json.gz", import.meta.url))).toString()
)

const reasons: Record<string, string> = {
  stop: "stop",
  end_turn: "stop",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  length: "length",
  max_tokens: "length",
  refusal: "content-filter"
}

/** Several messages in one stream, several choices, parts instead of text: the oracle's reading is a hint only. */
const irregular = new Set(cases.filter((one) => one.expected.irregular).map((one) => one.name))

/** The input count that counts: a later one is cumulative and replaces an earlier one (the oracle gives the first). */
const lastInput = (one: Case, first: number): number =>
  one.api === "anthropic-messages"
    ? Number(
        [...one.sse.matchAll(/"type":\s*"message_delta".*?"usage":\s*\{"input_tokens":\s*(\d+)/g)].at(-1)?.[1] ?? first
      )
    : first

const check = (one: Case, got: Heard) => {
  const { name, expected } = one
  assert.strictEqual(got.types.at(-1), "finish", "finish is last")
  assert.strictEqual(got.types.filter((type) => type === "finish").length, 1, "one finish")
  if (irregular.has(name)) return
  assert.strictEqual(got.text, expected.text, "text")
  assert.deepStrictEqual(
    got.calls.map(({ id, name, params, invalid }) => ({ id, name, params, invalid })),
    expected.tool_calls.map((call) => ({ id: call.id, name: call.name, params: call.arguments_json, invalid: null })),
    "calls"
  )
  if (got.refusal !== "") assert.strictEqual(got.finish, "content-filter", "a refusal")
  else if (expected.finish !== null) assert.strictEqual(got.finish, reasons[expected.finish], "finish reason")
  if (expected.usage) {
    const input = one.api === "anthropic-messages" ? got.uncached : got.input
    assert.deepStrictEqual([input, got.output], [lastInput(one, expected.usage.input), expected.usage.output], "usage")
  }
}

const replay = (one: Case, parts: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    const server = yield* serve(async (response) => {
      await pieces(response, parts)
      response.end()
    })
    const make = one.api === "anthropic-messages" ? anthropic : openai
    const model = yield* make(options(one.api === "anthropic-messages" ? "anthropic" : "openai", server.url))
    const exit = yield* Effect.exit(collect(ask(model)))
    return { exit, requests: server.asked.length }
  }).pipe(Effect.scoped)

const variants = (one: Case): ReadonlyArray<readonly [string, ReadonlyArray<Uint8Array>]> => {
  const bytes = Buffer.from(one.sse)
  const crlf = Buffer.from(one.sse.replaceAll("\n", "\r\n"))
  return [
    ["whole", [bytes]],
    ["cut", cutAt(bytes, one.name.length, Math.max(16, bytes.length >> 6))],
    ["CR LF, cut", cutAt(crlf, one.name.length + 1, Math.max(16, crlf.length >> 6))]
  ]
}

// Side by side: one of them waits for the pauses before its retries.
describe("recorded streams", { concurrent: true }, () => {
  it("has every kind", () => {
    for (const api of ["openai-chat", "openai-responses", "anthropic-messages"]) {
      assert.isAbove(cases.filter((one) => one.api === api).length, 20, api)
    }
  })
  for (const one of cases) {
    it.live(one.name, () =>
      Effect.gen(function* () {
        for (const [how, parts] of variants(one)) {
          const { exit, requests } = yield* replay(one, parts)
          if (one.api === "openai-responses" || one.expected.error !== null) {
            // Another API, or an error in the stream: no run of calls from it, and a failure that says so.
            assert.isTrue(Exit.isFailure(exit), `${how}: fails`)
            const failure = yield* Effect.flip(exit)
            const quota = one.name === "vercel-ai/openai.openai-error.1"
            assert.strictEqual(
              failure.code,
              quota ? "provider_unavailable" : "provider_failed",
              `${how}: ${failure.message}`
            )
            assert.strictEqual(requests, quota ? 3 : 1, `${how}: requests`)
            if (quota) break
          } else {
            check(one, yield* exit)
          }
        }
      })
    )
  }
})
