import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layer, makeHost, onlySpareLeft, run } from "./support.ts"

/** How the corpus names its outcomes; its `meta` says what they demand. */
const Corpus = Schema.Struct({
  cases: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      attack: Schema.String,
      code: Schema.String,
      expect: Schema.Literals(["no_escape", "limit", "rejected", "bounded"])
    })
  )
})
const file = new URL("../corpora/sandbox.json.gz", import.meta.url)
const { cases } = Schema.decodeSync(Schema.fromJsonString(Corpus))(gunzipSync(readFileSync(file)).toString())

/** The corpus' host function: `tools.call`, where an unsuccessful call is an exception. */
const caller = (name: string) =>
  `(async (args) => { const r = await tools.call("${name}", args); if (!r.success) throw new Error(r.error.code); return r.content })`
const fill = (code: string) =>
  code.replaceAll("__ECHO__", caller("client__echo")).replaceAll("__FAIL__", caller("client__fail"))

/** The pipeline refuses what is not an object. */
const host = () => {
  const { calls, host } = makeHost()
  const message = "not an object"
  return {
    calls,
    host: {
      ...host,
      call: (name: string, args: Parameters<typeof host.call>[1]) =>
        typeof args === "object" && args !== null && !Array.isArray(args)
          ? host.call(name, args)
          : Effect.succeed({
              success: false,
              text: message,
              error: { code: "client_tool_invalid_arguments" as const, message }
            })
    }
  }
}

const prototypes = [Object.prototype, Array.prototype, Promise.prototype, Function.prototype]
const keys = () => prototypes.map((prototype) => Reflect.ownKeys(prototype))

const isFailure = (value: unknown) => typeof value === "string" && /^(tool_|result_)[a-z_]+: /.test(value)

const within = (expect: string, value: unknown, name: string) => {
  assert.isFalse(String(JSON.stringify(value)).includes("ESCAPED"), JSON.stringify(value))
  // The product returns up to 256 KiB, so what the corpus calls huge comes back whole.
  if (name === "sandbox/result-huge") assert.strictEqual(value, "x".repeat(40_000))
  else if (expect === "limit" || expect === "rejected") assert.isTrue(isFailure(value), JSON.stringify(value))
}

// Enough time that nothing but what is endless meets its limit, however busy the machine.
const TIME_MS = 1500

it.layer(layer({ time_ms: TIME_MS }), { excludeTestServices: true })("Code Mode: the sandbox corpus", (it) => {
  assert.isAtLeast(cases.length, 36)
  for (const { attack, code, expect, name } of cases) {
    it.effect(`${name} (${attack}): ${expect}`, () =>
      Effect.gen(function* () {
        const before = keys()
        const rejections: Array<unknown> = []
        const note = (reason: unknown) => rejections.push(reason)
        yield* Effect.acquireRelease(
          Effect.sync(() => process.on("unhandledRejection", note)),
          () => Effect.sync(() => process.off("unhandledRejection", note))
        )
        const { calls, host: tools } = host()
        const began = performance.now()
        const value = yield* run(fill(code), tools)
        assert.isBelow(performance.now() - began, TIME_MS + 1000)
        within(expect, value, name)
        assert.isAtMost(calls.length, 200)
        assert.strictEqual(yield* run("return 1", tools), 1)
        yield* onlySpareLeft
        assert.deepStrictEqual(keys(), before)
        assert.deepStrictEqual(rejections, [])
      })
    )
  }
})
