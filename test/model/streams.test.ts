/** What streams in, in whatever pieces (product section 2; base-protocol section 6, raw arguments). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { make as anthropic } from "../../src/agent/model/Anthropic.ts"
import { make as openai } from "../../src/agent/model/OpenAi.ts"
import type { Json, JsonObject } from "../../src/protocol/Json.ts"
import { ask, chunk, collect, cutAt, done, event, options, pieces, serve } from "./support.ts"

const kinds = { openai, anthropic } as const

/** What a stream of events becomes; the bytes are sent in the pieces given. */
const read = (kind: "openai" | "anthropic", parts: ReadonlyArray<Uint8Array | string>) =>
  Effect.gen(function* () {
    const server = yield* serve(async (response) => {
      await pieces(response, parts)
      response.end()
    })
    const model = yield* kinds[kind](options(kind, server.url))
    return yield* collect(ask(model))
  }).pipe(Effect.scoped)

const callChunk = (
  index: number | undefined,
  call: { readonly id?: string; readonly name?: string; readonly text?: Json }
) =>
  chunk({
    tool_calls: [
      {
        ...(index === undefined ? {} : { index }),
        ...(call.id === undefined ? {} : { id: call.id, type: "function" }),
        function: {
          ...(call.name === undefined ? {} : { name: call.name }),
          ...(call.text === undefined ? {} : { arguments: call.text })
        }
      }
    ]
  })

const message = (blocks: ReadonlyArray<JsonObject | string>, reason = "tool_use"): ReadonlyArray<string> => [
  event({ type: "message_start", message: { usage: { input_tokens: 3, output_tokens: 1 } } }),
  ...blocks.map((block) => (typeof block === "string" ? block : event(block))),
  event({ type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 9 } }),
  event({ type: "message_stop" })
]

const toolBlock = (
  index: number,
  name: string,
  texts: ReadonlyArray<string>,
  id = `toolu_${index}`
): ReadonlyArray<JsonObject> => [
  { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
  ...texts.map((partial_json) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json }
  })),
  { type: "content_block_stop", index }
]

/** Arguments, and what they are taken for. */
const raw: ReadonlyArray<readonly [string, Json | undefined, string | null]> = [
  ["", {}, null],
  ["  \n", {}, null],
  ["{}", {}, null],
  ['{"a":{"b":[1,2.5,null,true,"é😀"]}}', { a: { b: [1, 2.5, null, true, "é😀"] } }, null],
  ['{"a":1,"a":2}', undefined, "duplicate_key"],
  ['{"a":1,"\\u0061":2}', undefined, "duplicate_key"],
  ['{"n":9007199254740993}', undefined, "number"],
  ['{"n":1e400}', undefined, "number"],
  ['{"q":"\\ud800"}', undefined, "lone_surrogate"],
  ['{"a":', undefined, "syntax"],
  ['{"a":1} x', undefined, "syntax"],
  ["{'a':1}", undefined, "syntax"],
  ["[1]", undefined, "not_an_object"],
  ['"x"', undefined, "not_an_object"],
  ["17", undefined, "not_an_object"],
  ["null", undefined, "not_an_object"],
  [`${'{"a":'.repeat(300)}1${"}".repeat(300)}`, undefined, "depth"]
]

describe("arguments", () => {
  it.live("that are not a JSON object by section 1 are marked, and nothing raw goes on", () =>
    Effect.gen(function* () {
      const chat = yield* read("openai", [
        ...raw.map(([text], n) => callChunk(n, { id: `c${n}`, name: "t", text })),
        chunk({}, "tool_calls"),
        done
      ])
      const messages = yield* read(
        "anthropic",
        message(raw.flatMap(([text], n) => toolBlock(n, "t", [text.slice(0, 3), text.slice(3)])))
      )
      for (const got of [chat, messages]) {
        assert.strictEqual(got.finish, "tool-calls")
        assert.deepStrictEqual(
          got.calls.map(({ params, invalid }) => [params, invalid]),
          raw.map(([, value, invalid]) => [value ?? {}, invalid])
        )
      }
    })
  )

  it.live("keys of objects are data, whatever they are called", () =>
    Effect.gen(function* () {
      const text = '{"__proto__":{"x":1},"constructor":2}'
      const got = yield* read("openai", [callChunk(0, { id: "c", name: "t", text }), chunk({}, "tool_calls"), done])
      assert.strictEqual(JSON.stringify(got.calls[0]?.params), text)
    })
  )

  it.live("missing where a limit cut the response are not taken for {}", () =>
    Effect.gen(function* () {
      const cases = [
        ["", "cut_off"],
        ['{"path":"a', "cut_off"],
        ['{"path":"a"}', null]
      ] as const
      for (const [text, invalid] of cases) {
        const first = callChunk(0, { id: "c0", name: "t", text: "" })
        const chat = yield* read("openai", [
          first,
          callChunk(1, { id: "c1", name: "t", text }),
          chunk({}, "length"),
          done
        ])
        assert.deepStrictEqual([chat.finish, chat.calls.map((call) => call.invalid)], ["length", [null, invalid]])
        const messages = yield* read(
          "anthropic",
          message([...toolBlock(0, "t", [""]), ...toolBlock(1, "t", [text])], "max_tokens")
        )
        assert.deepStrictEqual(
          [messages.finish, messages.calls.map((call) => call.invalid)],
          ["length", [null, invalid]]
        )
      }
    })
  )

  it.live("larger than a call can be are marked, not kept", () =>
    Effect.gen(function* () {
      const text = `{"a":"${"x".repeat(600_000)}`
      const got = yield* read("openai", [
        callChunk(0, { id: "c", name: "t", text }),
        callChunk(0, { text: `${"x".repeat(600_000)}"}` }),
        chunk({}, "tool_calls"),
        done
      ])
      assert.deepStrictEqual(got.calls, [{ id: "c", name: "t", params: {}, invalid: "too_large" }])
    })
  )

  it.live("given as an object instead of a text are taken", () =>
    Effect.gen(function* () {
      const got = yield* read("openai", [
        callChunk(0, { id: "c", name: "t", text: { a: 1 } }),
        chunk({}, "tool_calls"),
        done
      ])
      assert.deepStrictEqual(got.calls[0]?.params, { a: 1 })
    })
  )
})

describe("calls of servers that differ", () => {
  const chat = (parts: ReadonlyArray<string>) =>
    Effect.map(read("openai", [...parts, chunk({}, "tool_calls"), done]), (got) =>
      got.calls.map(({ id, name, params }) => [id, name, params])
    )

  it.live("interleaved, by index", () =>
    Effect.gen(function* () {
      const got = yield* chat([
        callChunk(0, { id: "a", name: "one", text: "" }),
        callChunk(1, { id: "b", name: "two", text: "" }),
        callChunk(1, { text: '{"y"' }),
        callChunk(0, { text: '{"x":' }),
        callChunk(1, { text: ":2}" }),
        callChunk(0, { text: "1}" })
      ])
      assert.deepStrictEqual(got, [
        ["a", "one", { x: 1 }],
        ["b", "two", { y: 2 }]
      ])
    })
  )

  it.live("several with one index, told apart by id", () =>
    Effect.gen(function* () {
      const got = yield* chat([
        callChunk(0, { id: "a", name: "one", text: "{}" }),
        callChunk(0, { id: "b", name: "two", text: '{"y"' }),
        callChunk(0, { text: ":2}" })
      ])
      assert.deepStrictEqual(got, [
        ["a", "one", {}],
        ["b", "two", { y: 2 }]
      ])
    })
  )

  it.live("without an index, by id or in order", () =>
    Effect.gen(function* () {
      const got = yield* chat([
        callChunk(undefined, { id: "a", name: "one", text: '{"x":' }),
        callChunk(undefined, { text: "1}" }),
        callChunk(undefined, { id: "b", name: "two", text: "{}" })
      ])
      assert.deepStrictEqual(got, [
        ["a", "one", { x: 1 }],
        ["b", "two", {}]
      ])
    })
  )

  it.live("id and name repeated with every piece, or a name in pieces", () =>
    Effect.gen(function* () {
      const repeated = yield* chat(['{"x"', ":1}"].map((text) => callChunk(0, { id: "a", name: "one", text })))
      assert.deepStrictEqual(repeated, [["a", "one", { x: 1 }]])
      const split = yield* chat([
        callChunk(0, { id: "a", name: "read_" }),
        callChunk(0, { name: "file" }),
        callChunk(0, { text: "{}" })
      ])
      assert.deepStrictEqual(split, [["a", "read_file", {}]])
    })
  )

  it.live("ids that are missing or used twice become distinct ones", () =>
    Effect.gen(function* () {
      const got = yield* chat([
        callChunk(0, { id: "same", name: "t", text: "{}" }),
        callChunk(1, { id: "same", name: "t", text: "{}" }),
        callChunk(2, { name: "t", text: "{}" })
      ])
      assert.deepStrictEqual(
        got.map(([id]) => id),
        ["same", "same_1", "call_2"]
      )
    })
  )

  it.live("a name that no tool has passes unchanged: the runner refuses it", () =>
    Effect.gen(function* () {
      const got = yield* chat([callChunk(0, { id: "a", name: "Client__X ", text: "{}" })])
      assert.deepStrictEqual(got, [["a", "Client__X ", {}]])
    })
  )

  it.live("more than 128 in one response are refused", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 129 }, (_, n) => callChunk(n, { id: `c${n}`, name: "t", text: "{}" }))
      const failure = yield* Effect.flip(chat(many))
      assert.strictEqual(failure.code, "provider_failed")
    })
  )
})

describe("texts", () => {
  it.live("halves of a character in two deltas are joined; a half that stays alone becomes U+FFFD", () =>
    Effect.gen(function* () {
      const raw = (text: string) =>
        `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`
      const got = yield* read("openai", [
        raw("a\\ud83d"),
        raw("\\ude00b"),
        raw("\\ud83d"),
        raw("c"),
        raw("\\ude00"),
        raw("\\ud83d"),
        chunk({}, "stop"),
        done
      ])
      assert.strictEqual(got.text, "a😀b\ufffdc\ufffd\ufffd")
    })
  )

  it.live("empty deltas, comments, unknown events and empty lines say nothing", () =>
    Effect.gen(function* () {
      const chat = yield* read("openai", [
        ": hello\n\n",
        "\n\n\n",
        chunk({ role: "assistant", content: "" }),
        chunk({ content: null, tool_calls: null, refusal: "" }),
        chunk({}),
        'data: {"choices":[]}\n\n',
        'data: {"choices":null}\n\n',
        "data: 17\n\n",
        chunk({ content: "x" }),
        chunk({}, "stop"),
        done
      ])
      assert.deepStrictEqual(chat.types, ["text-start", "text-delta", "text-end", "finish"])
      const messages = yield* read(
        "anthropic",
        message(
          [
            "event: ping\ndata: {}\n\n",
            event({ type: "something_new" }),
            { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
            { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "" } },
            { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: {} } },
            { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
            { type: "content_block_stop", index: 0 },
            { type: "content_block_delta", index: 7, delta: { type: "text_delta", text: "nowhere" } }
          ],
          "end_turn"
        )
      )
      assert.deepStrictEqual(messages.types, ["text-start", "text-delta", "text-end", "finish"])
      assert.deepStrictEqual([messages.finish, messages.input, messages.output], ["stop", 3, 9])
    })
  )

  it.live("a refusal is told as text and as content-filter", () =>
    Effect.gen(function* () {
      const chat = yield* read("openai", [
        chunk({ refusal: "I can" }),
        chunk({ refusal: "not." }),
        chunk({}, "stop"),
        done
      ])
      assert.deepStrictEqual([chat.refusal, chat.finish], ["I cannot.", "content-filter"])
      const messages = yield* read("anthropic", message([], "refusal"))
      assert.deepStrictEqual([messages.text, messages.finish], ["", "content-filter"])
    })
  )

  it.live("usage that is no count is no usage", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: -1, completion_tokens: 2.5 }
      const got = yield* read("openai", [
        chunk({ content: "x" }, "stop"),
        `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
        done
      ])
      assert.deepStrictEqual([got.input, got.output], [undefined, undefined])
    })
  )
})

describe("cut anywhere", () => {
  const text = "Let me look: é, 猫 and 😀.\r\n"
  const args = { path: "日本/😀.txt", n: 1.5, deep: { list: [1, "two", null] } }
  const calls = ["read", "client__second"].map((name, n) => ({ id: `c${n}`, name, params: args, invalid: null }))
  const json = JSON.stringify(args)
  const chat = [
    ...[...text].map((content) => chunk({ content })),
    ...calls.map(({ id, name }, n) => callChunk(n, { id, name, text: "" })),
    ...[...json].flatMap((piece) => calls.map((_, n) => callChunk(n, { text: piece }))),
    chunk({}, "tool_calls"),
    `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } })}\n\n`,
    done
  ].join("")
  const messages = message([
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...[...text].map((piece) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: piece }
    })),
    { type: "content_block_stop", index: 0 },
    ...calls.flatMap(({ id, name }, n) => toolBlock(n + 1, name, [...json], id))
  ]).join("")

  const ends: ReadonlyArray<readonly [string, (text: string) => string]> = [
    ["LF", (one) => one],
    ["CR LF", (one) => one.replaceAll("\n", "\r\n")]
  ]
  for (const kind of ["openai", "anthropic"] as const) {
    for (const [name, end] of ends) {
      it.live(`${kind}, ${name}: the same parts whatever the pieces`, () =>
        Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.integer({ min: 1 }), fc.constantFrom(3, 40, 700), async (seed, most) => {
              const bytes = Buffer.from(end(kind === "openai" ? chat : messages))
              const got = await Effect.runPromise(read(kind, cutAt(bytes, seed, most)))
              assert.strictEqual(got.text, text)
              assert.deepStrictEqual(got.calls, calls)
              assert.strictEqual(got.finish, "tool-calls")
              assert.deepStrictEqual([got.input, got.output], kind === "openai" ? [5, 7] : [3, 9])
            }),
            { numRuns: 6 }
          )
        )
      )
    }
  }

  it.live("slow pieces, far apart, are the same", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(chunk({ content: "é😀" }) + chunk({}, "stop") + done)
      const server = yield* serve(async (response) => {
        for (const piece of cutAt(bytes, 7, 60)) {
          await pieces(response, [piece])
          await new Promise((go) => setTimeout(go, 15))
        }
        response.end()
      })
      const model = yield* openai(options("openai", server.url))
      assert.strictEqual((yield* collect(ask(model))).text, "é😀")
    }).pipe(Effect.scoped)
  )
})
