/** product section 3: the offline model in its three ways. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { callFor, quotedParts } from "../../src/agent/model/OfflineRule.ts"
import { decodeScript } from "../../src/agent/model/OfflineScript.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"
import type { ProviderSettings } from "../../src/settings/Settings.ts"
import { builtin, call, client, makeAgent, until } from "./AgentHarness.ts"

const offline = (script: string): ReadonlyMap<string, ProviderSettings> =>
  new Map([
    [
      "offline",
      { kind: "offline", base_url: null, api_key_env: null, api_key: null, insecure: false, models: [], script }
    ]
  ])

describe("a script of the prompt", () => {
  it.effect("{{results}} shows one compact line each, in call order: name, success, content, error", () =>
    Effect.gen(function* () {
      const one = builtin("one", () => Effect.succeed({ text: "text", structured: { deep: [1] } }))
      const two = builtin("two", () => Effect.succeed({ text: "$& only text" }))
      const h = yield* makeAgent({ tools: [one, two] })
      yield* h.run([{ calls: [call("two"), call("one"), call("nope")] }, { text: "<{{results}}>" }])
      assert.strictEqual(
        h.text(),
        '<{"name":"two","success":true,"content":{"text":"$& only text"}}\n' +
          '{"name":"one","success":true,"content":{"deep":[1]}}\n' +
          '{"name":"nope","success":false,"content":{"text":"no tool of this name may be called here"},' +
          '"error":{"code":"tool_unknown","message":"no tool of this name may be called here"}}>'
      )
    })
  )

  it.effect("a response without calls ends the run; past the last step the model says done", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      yield* h.run([{ text: "one" }, { text: "never" }])
      assert.strictEqual(h.text(), "one")
      yield* h.run([{ calls: [call("nope")] }])
      assert.strictEqual(h.text(), "done")
      yield* h.run("script:[]")
      assert.strictEqual(h.text(), "done")
    })
  )

  it.effect("delay_ms delays a response, and a cancel does not wait for it", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      yield* h.start([{ delay_ms: 500, text: "late" }])
      yield* until("input.saved", () => h.names().includes("input.saved"))
      yield* TestClock.adjust(499)
      assert.strictEqual(h.finished().length, 0)
      yield* TestClock.adjust(1)
      yield* h.ended
      assert.strictEqual(h.text(), "late")
      const run = yield* h.start([{ delay_ms: 500, text: "never" }])
      yield* until("the second input", () => h.events("input.saved").length === 2)
      yield* run.cancel
      yield* Fiber.join(run.fiber)
      assert.strictEqual(h.finished()[1]?.["status"], "cancelled")
    })
  )

  it.effect("one that is no array of steps fails the run and says where", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent()
      const end = yield* h.run('script:[{"text":"x"},{"calls":[{"name":5}]}]')
      assert.deepInclude(end["error"], {
        code: "provider_failed",
        message: "the script in the prompt: /1/calls/0/name must be a string"
      })
    })
  )

  it("refuses what no step has", () => {
    for (const text of [
      "{}",
      "[1]",
      '[{"txt":""}]',
      '[{"delay_ms":-1}]',
      '[{"error":"no"}]',
      '[{"calls":{}}]',
      "[",
      '[{"calls":[{"name":"a","arguments":{},"raw":true}]}]'
    ]) {
      assert.strictEqual(decodeScript(text)._tag, "Failure", text)
    }
  })
})

describe("a script of the settings", () => {
  it.effect("comes before a script of the prompt", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "offline-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const path = join(folder, "steps.json")
      writeFileSync(path, JSON.stringify([{ text: "from the settings" }]))
      const h = yield* makeAgent({ settings: { providers: offline(path) } })
      yield* h.run([{ text: "from the prompt" }])
      assert.strictEqual(h.text(), "from the settings")
    })
  )

  it.effect("one that cannot be read is provider_failed", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ settings: { providers: offline("/nowhere/steps.json") } })
      assert.deepInclude((yield* h.run("hello"))["error"], { code: "provider_failed" })
    })
  )
})

describe("the plain rule", () => {
  const record = client("lookup_record", {
    description: "Look up a record by identifier.",
    input_schema: { type: "object", properties: { record_id: { type: "string" } }, required: ["record_id"] }
  })
  const weather = client("weather", { description: "Tomorrow in a city." })

  it.effect("calls the tool whose words match best and answers with what it said", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [weather, record] })
      yield* h.start('Please look up the record "R-17" by its identifier')
      yield* h.pending(1)
      assert.deepInclude(h.calls()[0], { name: "client__lookup_record", arguments: { record_id: "R-17" } })
      yield* h.reply(0, { text: "Record found: blue." })
      yield* h.ended
      assert.strictEqual(h.text(), "Record found: blue.")
    })
  )

  it.effect("says so when the tool failed", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [record] })
      yield* h.start('the record "R-17"')
      yield* h.pending(1)
      yield* h.reply(0, { status: "error", text: "no such record" })
      yield* h.ended
      assert.strictEqual(h.text(), "client__lookup_record failed: no such record")
    })
  )

  it.effect("lists the tools without a match", () =>
    Effect.gen(function* () {
      const h = yield* makeAgent({ client: [weather] })
      yield* h.run("xyzzy")
      assert.include(h.text(), "- client__weather: Tomorrow in a city.")
    })
  )

  it("of tools that share equally many words it takes the one with fewest words, then the first", () => {
    const named = (name: string, description: string) => ({ name, description, schema: {} })
    const chosen = (...tools: ReadonlyArray<ReturnType<typeof named>>) =>
      callFor('Count the words of "to be or not to be"', tools)?.name
    const script = named("code_mode", "Runs a script that counts calls and puts many words and results together.")
    const counter = named("client__word_count", "The count of words.")
    assert.strictEqual(chosen(script, named("client__count", "Count.")), "client__count")
    assert.strictEqual(chosen(script, counter), "client__word_count")
    assert.strictEqual(chosen(counter, script), "client__word_count")
    assert.strictEqual(chosen(named("count_a", "Words."), named("count_b", "Words.")), "count_a")
  })

  it("quoted parts are in double, curly, single and back quotes; an apostrophe is none", () => {
    assert.deepStrictEqual(quotedParts("don't \"a b\" and “c”, 'd' or `e`; it's \"\""), ["a b", "c", "d", "e", ""])
  })

  it("fills strings in order, other required properties with values their schemas take", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        from: { type: "string" },
        count: { type: "integer", minimum: 3 },
        ratio: { type: "number", exclusiveMinimum: 0, maximum: 1 },
        unit: { type: "string", enum: ["km", "mi"] },
        to: { type: ["string", "null"] },
        tags: { type: "array", items: { type: "boolean" }, minItems: 2 },
        place: { type: "object", properties: { x: { const: 7 } }, required: ["x"] },
        either: { anyOf: [{ type: "null" }, { type: "string" }] },
        code: { type: "string", minLength: 2 },
        optional: { type: "integer" }
      },
      required: ["from", "count", "ratio", "unit", "tags", "place", "either", "code"]
    }
    const made = callFor('travel "Rome" to "Oslo"', [{ name: "travel", description: "", schema }])
    assert.deepStrictEqual(made?.arguments, {
      from: "Rome",
      to: "Oslo",
      count: 3,
      ratio: 1,
      unit: "km",
      tags: [false, false],
      place: { x: 7 },
      either: null,
      code: "xx"
    })
  })
})
