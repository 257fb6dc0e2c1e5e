/**
 * product section 2: "the package ships the JSON Schema of its settings". It is generated from the decoder's own schema;
 * `UPDATE_SCHEMA=1` writes it anew, to be formatted afterwards.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Result } from "effect"
import * as fc from "fast-check"
import type { Json } from "../../src/protocol/Json.ts"
import { decodeSettings } from "../../src/settings/decodeSettings.ts"
import { settingsJsonSchema } from "../../src/settings/SettingsSchema.ts"

const file = new URL("../../schema/settings.schema.json", import.meta.url)
const text = `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`
if (process.env["UPDATE_SCHEMA"] !== undefined) writeFileSync(file, text)

const accepts = (value: Json): boolean => Result.isSuccess(decodeSettings(value, "$MC_HOME/settings.json"))

describe("schema/settings.schema.json", () => {
  it("is what the decoder is made of", () => {
    assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(text))
  })

  const validate = new Ajv2020({ strict: false }).compile(settingsJsonSchema())

  it("is itself valid JSON Schema, 2020-12", () => {
    assert.isTrue(new Ajv2020().validateSchema(settingsJsonSchema()))
  })

  it("agrees with the decoder on settings and on their mutants", () => {
    const whole = {
      $schema: "x",
      schema_version: 2,
      model: { provider: "p", model: "m" },
      providers: {
        p: {
          kind: "openai",
          base_url: "https://example.org",
          api_key_env: "K",
          insecure: true,
          models: ["m", { id: "n", context_tokens: 5, max_output_tokens: 5, temperature: 0, reasoning_effort: "low" }]
        },
        o: { kind: "offline", script: "x.json" }
      },
      capabilities: {
        tools: { disabled: ["a"], code_mode: { enabled: true, compact_direct_tools: false, disabled: [] } }
      },
      approvals: { bash: "ask", write: "deny" },
      hooks: {
        before_tool: [{ command: ["x", "y"], tools: ["*"], timeout_ms: 5, on_failure: "block" }],
        after_tool: []
      },
      mcp: { servers: { s: { command: "x", args: ["y", ""], env: { A: "" }, required: false } } },
      agents: { a: { instructions: "", tools: ["read"] } },
      limits: { turn_steps: 1 }
    }
    assert.isTrue(accepts(whole) && validate(whole))
    /** Every value of the settings replaced, one at a time. */
    const mutants = function* (value: Json): Generator<Json> {
      for (const other of [null, true, 0, -1, 1.5, 1e9, "", "x", "a\0", [], {}, ["x"], { x: 1 }]) yield other
      if (Array.isArray(value)) {
        for (const [at, item] of value.entries()) for (const mutant of mutants(item)) yield value.with(at, mutant)
      } else if (typeof value === "object" && value !== null) {
        yield { ...value, unknown_key: 1 }
        for (const [key, member] of Object.entries(value))
          for (const mutant of mutants(member)) yield { ...value, [key]: mutant }
      }
    }
    let count = 0
    for (const mutant of mutants(JSON.parse(JSON.stringify(whole)))) {
      count += 1
      assert.strictEqual(validate(mutant), accepts(mutant), JSON.stringify(mutant))
    }
    assert.isAbove(count, 500)
  })

  it("agrees with the decoder on anything", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json: Json = JSON.parse(JSON.stringify(value))
        assert.strictEqual(validate(json), accepts(json))
      })
    )
  })
})
