/** base-protocol section 6, Hooks; product section 2: `after_tool` observes a redacted copy. Real processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hooks } from "../../src/agent/hooks/Hooks.ts"
import { call, hook, withHooks, written } from "./support.ts"

const observe = (more: object = {}) =>
  Effect.flatMap(Hooks, (hooks) => hooks.after({ ...call, status: "success", result: { found: true }, ...more }))

describe("an after_tool hook", () => {
  it.live("reads what before_tool reads, and status and result", () =>
    withHooks(
      ({ file }) => ({ after: [hook({ log: file("log") })] }),
      ({ file }) =>
        Effect.gen(function* () {
          yield* observe({ taskId: "t", subagentId: "s" })
          assert.strictEqual(
            yield* written(file("log")),
            '{"hook":"after_tool","session_id":"session","run_id":"run","tool":"client__a","arguments":{"q":"x"},"task_id":"t","subagent_id":"s","status":"success","result":{"found":true}}\n'
          )
        })
    )
  )

  it.live("gets a redacted copy of arguments and result", () =>
    withHooks(
      ({ file }) => ({ after: [hook({ log: file("log") })] }),
      ({ file, log }) =>
        Effect.gen(function* () {
          yield* observe({
            arguments: { password: { deep: "SENTINEL" }, text: "token=SENTINEL and \u202eplain", n: 1 },
            result: ["Bearer SENTINEL123", { api_key: "SENTINEL", ok: 1 }]
          })
          assert.notMatch(yield* written(file("log")), /SENTINEL/)
          const [line] = log("log")
          assert.deepInclude(line, {
            arguments: { password: "[redacted]", text: "token=[redacted] and plain", n: 1 },
            result: ["Bearer [redacted]", { api_key: "[redacted]", ok: 1 }]
          })
        })
    )
  )

  it.live("what cannot be protected is left out, never shown", () =>
    withHooks(
      ({ file }) => ({ after: [hook({ log: file("log") })] }),
      ({ log }) =>
        Effect.gen(function* () {
          yield* observe({ arguments: { "token=SENTINEL1": 1, "token=SENTINEL2": 2 } })
          assert.deepInclude(log("log")[0], { arguments: "[redacted]", result: { found: true } })
        })
    )
  )

  it.live("observes: nothing that it does, or fails to do, is felt, and the others run", () =>
    withHooks(
      ({ file }) => ({
        after: [
          hook({ print: { decision: "deny" } }),
          hook({ exit: 3 }, { on_failure: "block" }),
          hook({}, { command: ["/nowhere/hook"], on_failure: "block" }),
          hook({ sleep: 60_000 }, { timeout_ms: 200, on_failure: "block" }),
          hook({ log: file("other") }, { tools: ["read"] }),
          hook({ log: file("last") })
        ]
      }),
      ({ file, log }) =>
        Effect.gen(function* () {
          yield* observe({ status: "failure", result: null })
          assert.include(yield* written(file("last")), '"status":"failure","result":null')
          assert.deepStrictEqual(log("other"), [])
        })
    )
  )
})
