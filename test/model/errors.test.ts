/** What refusals, faults and silence become (product section 2, Providers), against a real server. */
import type { IncomingHttpHeaders } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { make as anthropic } from "../../src/agent/model/Anthropic.ts"
import { checkConfigured } from "../../src/agent/model/Configured.ts"
import type { ModelFailure } from "../../src/agent/model/Models.ts"
import { make as openai } from "../../src/agent/model/OpenAi.ts"
import { modelFailure } from "../../src/agent/model/ProviderFailure.ts"
import {
  type Answer,
  ask,
  chunk,
  collect,
  done,
  event,
  options,
  pieces,
  type Server,
  serve,
  sse,
  withKey
} from "./support.ts"

const tools = [{ name: "read" }, { name: "client__first" }, { name: "client__second" }]

const hello = async (response: Parameters<Answer>[0]) => {
  await pieces(response, [chunk({ content: "hello" }), chunk({}, "stop"), done])
  response.end()
}

const refuse =
  (status: number, error: unknown = { message: `status ${status}` }, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof error === "string" ? error : JSON.stringify({ error }))
  }

const kinds = { openai, anthropic } as const

/** Asks once, and tells what it failed with. */
const failing = (
  answer: Answer,
  more: Parameters<typeof options>[2] & { readonly kind?: "openai" | "anthropic" } = {}
) =>
  Effect.gen(function* () {
    const server = yield* serve(answer)
    const kind = more.kind ?? "openai"
    const model = yield* kinds[kind](options(kind, server.url, more))
    const failure = yield* Effect.flip(collect(ask(model, "hello", tools)))
    return { failure, requests: server.asked.length }
  }).pipe(Effect.scoped)

/** Waits in real time, whatever the test's clock says. */
const until = (what: () => boolean) =>
  Effect.promise(async () => {
    for (let tries = 0; !what(); tries++) {
      if (tries > 1500) throw new Error("it did not happen")
      await new Promise((go) => setTimeout(go, 2))
    }
  })

const settle = Effect.promise(() => new Promise((go) => setTimeout(go, 50)))

// They wait for pauses, most of the time: side by side.
describe("retries", { concurrent: true }, () => {
  it.live("429, 5xx: three requests, then provider_unavailable", () =>
    Effect.gen(function* () {
      for (const status of [429, 500, 502, 503, 529]) {
        const { failure, requests } = yield* failing(refuse(status, undefined, { "retry-after": "0" }))
        assert.deepStrictEqual([failure.code, requests], ["provider_unavailable", 3], `${status}: ${failure.message}`)
        assert.include(failure.message, String(status))
      }
      const { failure, requests } = yield* failing(refuse(529, { type: "overloaded_error" }, { "retry-after": "0" }), {
        kind: "anthropic"
      })
      assert.deepStrictEqual([failure.code, requests], ["provider_unavailable", 3])
    })
  )

  it.live("no connection: provider_unavailable, and it says why", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(serve(hello))
      const model = yield* openai(options("openai", server.url))
      const failure = yield* Effect.flip(collect(ask(model)))
      assert.strictEqual(failure.code, "provider_unavailable")
      assert.include(failure.message, "ECONNREFUSED")
      assert.include(failure.message, "3 times")
    })
  )

  /** The attempt runs on the test's clock; the server is real. */
  const timed = (
    answer: Answer,
    body: (server: Server, fiber: Fiber.Fiber<unknown, ModelFailure>) => Effect.Effect<void, unknown>
  ) =>
    Effect.gen(function* () {
      const server = yield* serve(answer)
      const model = yield* openai(options("openai", server.url))
      const fiber = yield* Effect.forkChild(collect(ask(model)))
      yield* until(() => server.asked.length === 1)
      yield* settle
      yield* body(server, fiber)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.scoped)

  it.effect("pauses grow: about 0.5 s, then about 2 s", () =>
    timed(refuse(503), (server) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(374)
        yield* settle
        assert.strictEqual(server.asked.length, 1)
        yield* TestClock.adjust(252)
        yield* until(() => server.asked.length === 2)
        yield* settle
        yield* TestClock.adjust(1499)
        yield* settle
        assert.strictEqual(server.asked.length, 2)
        yield* TestClock.adjust(1002)
        yield* until(() => server.asked.length === 3)
      })
    )
  )

  it.effect("Retry-After is honoured", () =>
    timed(refuse(429, undefined, { "retry-after": "7" }), (server) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(6999)
        yield* settle
        assert.strictEqual(server.asked.length, 1)
        yield* TestClock.adjust(1)
        yield* until(() => server.asked.length === 2)
      })
    )
  )

  it.live("a Retry-After beyond 30 s ends it at once", () =>
    Effect.gen(function* () {
      const { failure, requests } = yield* failing(refuse(429, undefined, { "retry-after": "31" }))
      assert.deepStrictEqual([failure.code, requests], ["provider_unavailable", 1])
    })
  )

  it.effect("the second retry is not made when it would end after 30 s", () =>
    timed(refuse(429, undefined, { "retry-after": "16" }), (server, fiber) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(16_000)
        yield* until(() => server.asked.length === 2)
        const failure = yield* Effect.flip(Fiber.join(fiber))
        assert.strictEqual(failure.code, "provider_unavailable")
        assert.strictEqual(server.asked.length, 2)
      })
    )
  )

  it.effect("interruption ends a pause: no further request", () =>
    timed(refuse(503), (server, fiber) =>
      Effect.gen(function* () {
        yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust(60_000)
        yield* settle
        assert.strictEqual(server.asked.length, 1)
      })
    )
  )

  it.live("the second attempt's answer is the answer", () =>
    Effect.gen(function* () {
      const server = yield* serve((response, asked, n) =>
        n < 2 ? refuse(503, undefined, { "retry-after-ms": "1" })(response, asked, n) : hello(response)
      )
      const model = yield* openai(options("openai", server.url))
      assert.strictEqual((yield* collect(ask(model))).text, "hello")
      assert.strictEqual(server.asked.length, 3)
      assert.strictEqual(new Set(server.asked.map(({ raw }) => raw)).size, 1, "the same request each time")
    }).pipe(Effect.scoped)
  )

  it.live("a connection lost before any output is asked again; after output never", () =>
    Effect.gen(function* () {
      const early = yield* failing(async (response) => {
        await pieces(response, [chunk({ role: "assistant", content: "" })])
        response.destroy()
      })
      assert.deepStrictEqual([early.failure.code, early.requests], ["provider_unavailable", 3])
      for (const kind of ["openai", "anthropic"] as const) {
        const late = yield* failing(
          async (response) => {
            await pieces(
              response,
              kind === "openai"
                ? [chunk({ content: "shown" })]
                : [
                    event({ type: "message_start", message: { usage: {} } }),
                    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
                    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "shown" } })
                  ]
            )
            await new Promise((go) => setTimeout(go, 20))
            response.destroy()
          },
          { kind }
        )
        assert.deepStrictEqual([late.failure.code, late.requests], ["provider_unavailable", 1], kind)
      }
    })
  )

  it.live("a stream that ends too early, without any error of the connection, is lost too", () =>
    Effect.gen(function* () {
      const { failure, requests } = yield* failing(async (response) => {
        await pieces(response, [chunk({ content: "shown" })])
        response.end()
      })
      assert.deepStrictEqual([failure.code, requests], ["provider_unavailable", 1])
      assert.include(failure.message, "lost in the middle")
    })
  )

  it.live("an error inside of the stream: overloaded is asked again, anything else is not", () =>
    Effect.gen(function* () {
      const inside = (type: string) =>
        failing(
          async (response) => {
            await pieces(response, [
              event({ type: "message_start", message: { usage: {} } }),
              event({ type: "error", error: { type, message: "Sorry" } })
            ])
            response.end()
          },
          { kind: "anthropic" }
        )
      const overloaded = yield* inside("overloaded_error")
      assert.deepStrictEqual([overloaded.failure.code, overloaded.requests], ["provider_unavailable", 3])
      const invalid = yield* inside("invalid_request_error")
      assert.deepStrictEqual([invalid.failure.code, invalid.requests], ["provider_failed", 1])
      assert.include(invalid.failure.message, "Sorry")
    })
  )
})

describe("refusals", { concurrent: true }, () => {
  it.live("a 400 that names a tool or its index is provider_rejected_tool, naming the tool and its place", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [unknown, string, ("openai" | "anthropic")?]> = [
        [
          { message: "Invalid schema for function 'client__second': bad", param: "tools[2].function.parameters" },
          "client__second"
        ],
        [{ message: "Invalid schema for function 'client__first'" }, "client__first"],
        [{ message: "Invalid value", param: "tools[1].function.parameters.properties" }, "client__first"],
        [
          { message: "tools.2.custom.input_schema: JSON schema is invalid", type: "invalid_request_error" },
          "client__second",
          "anthropic"
        ],
        [{ message: "Invalid schema for function 'read'" }, "read"],
        [{ message: "tools.0: no" }, "read"]
      ]
      for (const [error, tool, kind] of cases) {
        const { failure, requests } = yield* failing(refuse(400, error), kind ? { kind } : {})
        assert.strictEqual(failure.code, "provider_rejected_tool", JSON.stringify(error))
        const place = tools.findIndex(({ name }) => name === tool) + 1
        assert.include(failure.message, `tool "${tool}" (${place} of 3)`)
        assert.strictEqual(requests, 1)
      }
    })
  )

  it.live("another 400, a 401, 403, 404, 413, 422: provider_failed at the first refusal", () =>
    Effect.gen(function* () {
      for (const error of [
        { message: "could not read the body" },
        { message: "messages[1].tool_calls[0] is wrong" },
        { message: "client__seconds is unknown" },
        { message: "tools[9] is too many" }
      ]) {
        const { failure } = yield* failing(refuse(400, error))
        assert.strictEqual(failure.code, "provider_failed", error.message)
        assert.include(failure.message, error.message)
      }
      for (const status of [401, 402, 403, 404, 405, 408, 409, 413, 422]) {
        const { failure, requests } = yield* failing(
          refuse(status, { message: "Invalid schema for function 'client__second'" })
        )
        assert.deepStrictEqual([failure.code, requests], ["provider_failed", 1], String(status))
        assert.include(failure.message, String(status))
      }
    })
  )

  it.live("bodies of other shapes are read too, and HTML is not shown", () =>
    Effect.gen(function* () {
      const said = (body: string) => Effect.map(failing(refuse(400, body)), ({ failure }) => failure.message)
      assert.include(yield* said(JSON.stringify({ message: "plain member" })), "plain member")
      assert.include(
        yield* said(JSON.stringify({ detail: [{ loc: ["body"], msg: "field required" }] })),
        "field required"
      )
      assert.include(yield* said(JSON.stringify({ error: "just a text" })), "just a text")
      assert.include(yield* said("no JSON at all"), "no JSON at all")
      assert.strictEqual(
        yield* said("<html><body>Bad</body></html>"),
        'provider "local" refuses the request (HTTP 400)'
      )
    })
  )

  it.live("a conversation that is too long for the provider is context_limit", () =>
    Effect.gen(function* () {
      for (const error of [
        { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" },
        { message: "prompt is too long: 210000 tokens > 200000 maximum", type: "invalid_request_error" },
        { message: "the request exceeds the available context size", type: "exceed_context_size_error" }
      ]) {
        assert.strictEqual((yield* failing(refuse(400, error))).failure.code, "context_limit", error.message)
      }
    })
  )

  it.live("a redirect is not followed: credentials stay where they were sent", () =>
    Effect.gen(function* () {
      const elsewhere = yield* serve(hello)
      for (const status of [301, 302, 307, 308]) {
        const { failure, requests } = yield* failing(
          (response) => response.writeHead(status, { location: `${elsewhere.url}/v1/chat/completions` }).end(),
          { provider: withKey("sk-test-0123456789") }
        )
        assert.deepStrictEqual([failure.code, requests], ["provider_failed", 1])
        assert.include(failure.message, "redirect")
      }
      assert.strictEqual(elsewhere.asked.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a 200 that is no stream of events, or one of another kind, is provider_failed at once", () =>
    Effect.gen(function* () {
      const whole = yield* failing((response) =>
        response.writeHead(200, { "content-type": "application/json" }).end('{"choices":[]}')
      )
      assert.deepStrictEqual([whole.failure.code, whole.requests], ["provider_failed", 1])
      const other = yield* failing((response) => response.writeHead(200, sse).end('data: {"hello":1}\n\n'), {
        kind: "anthropic"
      })
      assert.strictEqual(other.failure.code, "provider_unavailable", "the package passes over events without a name")
      const broken = yield* failing((response) => response.writeHead(200, sse).end("data: {oh no\n\n"))
      assert.deepStrictEqual([broken.failure.code, broken.requests], ["provider_failed", 1])
    })
  )

  it.live("every message has at most 256 bytes and no control character", () =>
    Effect.gen(function* () {
      const { failure } = yield* failing(refuse(400, { message: `\u001b[31m\u202e${"é\n".repeat(2000)}` }))
      assert.isAtMost(Buffer.byteLength(failure.message), 256)
      assert.notMatch(failure.message, /[\p{Cc}\u202e]/u)
    })
  )
})

describe("keys", () => {
  const KEY = "sk-proj-abcdefghijklmnop0123456789"

  it.live("is in no error and no log, whatever the provider repeats", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const written: Array<string> = []
      const spied = (["log", "info", "debug", "warn", "error"] as const).map((name) => {
        const before = console[name]
        console[name] = (...args: ReadonlyArray<unknown>) => void written.push(args.map(String).join(" "))
        return () => {
          console[name] = before
        }
      })
      const answers: ReadonlyArray<Answer> = [
        refuse(401, { message: `Incorrect API key provided: ${KEY}` }),
        refuse(400, { message: `Authorization: Bearer ${KEY}` }),
        refuse(403, { message: `key ${KEY.slice(3, 20)}… may not` }),
        refuse(503, { message: KEY }, { "retry-after": "0" }),
        async (response) => {
          await pieces(response, [`data: ${JSON.stringify({ error: { message: KEY } })}\n\n`])
          response.end()
        },
        (response) => response.writeHead(200, sse).end(`event: thread.x\ndata: {${KEY}\n\ndata: {${KEY}\n\n`)
      ]
      for (const kind of ["openai", "anthropic"] as const) {
        for (const answer of answers) {
          const { failure } = yield* failing(answer, { kind, provider: withKey(KEY) }).pipe(
            Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
          )
          assert.notInclude(failure.message, KEY.slice(8, 20))
          assert.notInclude(JSON.stringify(failure), KEY.slice(8, 20))
        }
      }
      for (const restore of spied) restore()
      assert.notInclude(logged.join("\n"), KEY.slice(8, 20))
      // What a provider sends inside a stream is its own text; the header that was sent is nowhere.
      assert.notInclude(written.join("\n"), "Bearer")
    })
  )

  it.live("is sent as the API wants it; without one, no Authorization leaves", () =>
    Effect.gen(function* () {
      const server = yield* serve(refuse(400))
      for (const kind of ["openai", "anthropic"] as const) {
        yield* Effect.flatMap(kinds[kind](options(kind, server.url, { provider: withKey(KEY) })), (model) =>
          Effect.exit(collect(ask(model)))
        )
        assert.include(JSON.stringify(server.asked.at(-1)?.headers), KEY, kind)
        yield* Effect.flatMap(kinds[kind](options(kind, server.url)), (model) => Effect.exit(collect(ask(model))))
        const { headers } = server.asked.at(-1) ?? { headers: {} as IncomingHttpHeaders }
        assert.isUndefined(headers["authorization"], kind)
        assert.isUndefined(headers["x-api-key"], kind)
      }
    }).pipe(Effect.scoped)
  )

  it.live("nothing of the environment gets into a request", () =>
    Effect.gen(function* () {
      const names = [
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_BASE_URL",
        "OPENAI_ADMIN_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL"
      ]
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          for (const name of names) process.env[name] = "FROM-ENV"
          for (const name of ["OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"])
            process.env[name] = "x-leak: FROM-ENV"
        }),
        () =>
          Effect.sync(() => {
            for (const name of [...names, "OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"]) delete process.env[name]
          })
      )
      const server = yield* serve(refuse(400))
      for (const kind of ["openai", "anthropic"] as const) {
        yield* Effect.flatMap(kinds[kind](options(kind, server.url)), (model) => Effect.exit(collect(ask(model))))
      }
      assert.isAtLeast(server.asked.length, 2)
      for (const one of server.asked) assert.notInclude(JSON.stringify([one.headers, one.raw]), "FROM-ENV")
    }).pipe(Effect.scoped)
  )

  it("checkConfigured says what is missing, and no value", () => {
    const of = (provider: Parameters<typeof options>[2]) =>
      checkConfigured(options("openai", "http://x", provider).provider)
    assert.isUndefined(of({}), "a local server may want no key")
    assert.isUndefined(of({ provider: withKey(KEY) }))
    assert.include(of({ provider: { base_url: null } }) ?? "", "api_key_env")
    assert.include(of({ provider: { api_key_env: "SOME_KEY" } }) ?? "", "SOME_KEY")
    assert.include(of({ provider: withKey("") }) ?? "", "TEST_KEY")
    for (const bad of ["two words", "new\nline", "ключ"]) {
      const said = of({ provider: withKey(bad) }) ?? ""
      assert.include(said, "TEST_KEY")
      assert.notInclude(said, bad)
    }
    assert.isUndefined(checkConfigured({ ...options("openai", "x").provider, kind: "offline", base_url: null }))
  })

  it.effect("a provider without its key cannot be made", () =>
    Effect.gen(function* () {
      for (const kind of ["openai", "anthropic"] as const) {
        const failure = yield* Effect.flip(kinds[kind](options(kind, "http://x", { provider: withKey("a b") })))
        assert.strictEqual(failure.code, "provider_failed")
        assert.notInclude(failure.message, "a b")
      }
    })
  )
})

describe("silence and interruption", () => {
  const model = (answer: Answer, idleMs?: number) =>
    Effect.gen(function* () {
      const server = yield* serve(answer)
      return { server, model: yield* openai(options("openai", server.url, idleMs === undefined ? {} : { idleMs })) }
    })

  it.live("a provider that says nothing, or no more, is given up", () =>
    Effect.gen(function* () {
      const never = yield* model(() => {}, 100)
      const one = yield* Effect.flip(collect(ask(never.model)))
      assert.strictEqual(one.code, "provider_unavailable")
      assert.include(one.message, "silent")
      const stalled = yield* model((response) => pieces(response, [chunk({ content: "shown" })]), 100)
      const two = yield* Effect.flip(collect(ask(stalled.model)))
      assert.deepStrictEqual([two.code, stalled.server.asked.length], ["provider_unavailable", 1])
      assert.include(two.message, "silent")
      yield* Effect.promise(() => stalled.server.asked[0]?.gone ?? Promise.resolve(0))
    }).pipe(Effect.scoped)
  )

  it.effect("four minutes of silence are the bound", () =>
    Effect.gen(function* () {
      const { model: made, server } = yield* model((response) => pieces(response, [chunk({ content: "shown" })]))
      const fiber = yield* Effect.forkChild(collect(ask(made)))
      yield* until(() => server.asked.length === 1)
      yield* settle
      yield* TestClock.adjust(239_999)
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(2)
      const failure = yield* Effect.flip(Fiber.join(fiber))
      assert.include(failure.message, "silent for 240 s")
    }).pipe(Effect.scoped)
  )

  it.live("comments keep a slow stream alive", () =>
    Effect.gen(function* () {
      const { model: made } = yield* model(async (response) => {
        await pieces(response, [chunk({ content: "a" })])
        for (let n = 0; n < 8; n++) {
          await new Promise((go) => setTimeout(go, 100))
          response.write(": still here\n\n")
        }
        await pieces(response, [chunk({ content: "b" }), chunk({}, "stop"), done])
        response.end()
      }, 400)
      assert.strictEqual((yield* collect(ask(made))).text, "ab")
    }).pipe(Effect.scoped)
  )

  const interrupting = (
    answer: Answer,
    kind: "openai" | "anthropic",
    ready: (server: Server, parts: number) => boolean
  ) =>
    Effect.gen(function* () {
      const server = yield* serve(answer)
      const made = yield* kinds[kind](options(kind, server.url))
      let parts = 0
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(ask(made), () =>
          Effect.sync(() => {
            parts += 1
          })
        )
      )
      yield* until(() => ready(server, parts))
      const at = performance.now()
      yield* Fiber.interrupt(fiber)
      const returned = performance.now() - at
      const gone = (yield* Effect.promise(() => server.asked[0]?.gone ?? Promise.resolve(Number.NaN))) - at
      assert.isBelow(returned, 100, "interruption returns")
      assert.isBelow(gone, 100, "the server sees the end")
    }).pipe(Effect.scoped)

  it.live("interrupting a run aborts its request within 100 ms, before the response and in it", () =>
    Effect.gen(function* () {
      for (const kind of ["openai", "anthropic"] as const) {
        yield* interrupting(
          () => {},
          kind,
          (server) => server.asked.length === 1
        )
      }
      yield* interrupting(
        (response) => pieces(response, [chunk({ content: "shown" })]),
        "openai",
        (_, parts) => parts >= 2
      )
      yield* interrupting(
        (response) =>
          pieces(response, [
            event({ type: "message_start", message: { usage: {} } }),
            event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "shown" } })
          ]),
        "anthropic",
        (_, parts) => parts >= 2
      )
    })
  )

  it.live("a response, an event or a refusal that never ends is ended", () =>
    Effect.gen(function* () {
      const endless =
        (piece: string, head: string): Answer =>
        async (response, asked) => {
          let open = true
          void asked.gone.then(() => {
            open = false
          })
          if (!response.headersSent) response.writeHead(head === "400" ? 400 : 200, sse)
          while (open) {
            if (!response.write(piece))
              await Promise.race([new Promise((go) => response.once("drain", go)), asked.gone])
          }
        }
      const line = yield* failing(endless("x".repeat(65_536), "200"))
      assert.deepStrictEqual([line.failure.code, line.requests], ["provider_failed", 1])
      assert.include(line.failure.message, "event that is too large")
      const response = yield* failing(endless(`: ${"x".repeat(60_000)}\n\n`, "200"))
      assert.include(response.failure.message, "response that is too large")
      const refusal = yield* failing(endless("x".repeat(65_536), "400"))
      assert.deepStrictEqual([refusal.failure.code, refusal.requests], ["provider_failed", 1])
    })
  )
})

it("modelFailure makes a failure of anything", () => {
  assert.strictEqual(modelFailure(new Error("x")).code, "provider_failed")
  assert.strictEqual(modelFailure(undefined).code, "provider_failed")
})
