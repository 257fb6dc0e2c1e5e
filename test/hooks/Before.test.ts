/** base-protocol section 6, Hooks; product section 2: `before_tool`. Real processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hooks } from "../../src/agent/hooks/Hooks.ts"
import { MARK_VARIABLE } from "../../src/platform/Marks.ts"
import { call, type Hook, hook, withHooks, written } from "./support.ts"

const ask = (one: Partial<typeof call> = {}) => Effect.flatMap(Hooks, (hooks) => hooks.before({ ...call, ...one }))

/** What the hooks make of the call: its final arguments, or the failure's code and message. */
const outcome = (...hooks: ReadonlyArray<Hook>) =>
  withHooks(
    () => ({ before: hooks }),
    () =>
      ask().pipe(
        Effect.map((args): unknown => args),
        Effect.catch(({ code, message }) => Effect.succeed([code, message]))
      )
  )

describe("a before_tool hook", () => {
  it.live("reads hook, session, run, tool, arguments, task and subagent in this order; nothing printed allows", () =>
    withHooks(
      ({ file }) => ({ before: [hook({ log: file("log") })] }),
      ({ file, log }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* ask(), { q: "x" })
          const line = yield* written(file("log"))
          assert.strictEqual(
            line,
            '{"hook":"before_tool","session_id":"session","run_id":"run","tool":"client__a","arguments":{"q":"x"},"task_id":null,"subagent_id":null}\n'
          )
          assert.strictEqual(log("log").length, 1)
        })
    )
  )

  it.live("allows, denies with its reason, replaces", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* outcome(hook({ print: { decision: "allow" } })), { q: "x" })
      assert.deepStrictEqual(yield* outcome(hook({ print: " \n" })), { q: "x" })
      assert.deepStrictEqual(yield* outcome(hook({ print: { decision: "allow", arguments: { n: [1, null] } } })), {
        n: [1, null]
      })
      assert.deepStrictEqual(yield* outcome(hook({ print: '{"decision":"allow","reason":"ok","extra":1}\n' })), {
        q: "x"
      })
      assert.deepStrictEqual(yield* outcome(hook({ print: { decision: "deny", reason: "not today" } })), [
        "hook_denied",
        "denied by a hook: not today"
      ])
      assert.deepStrictEqual(yield* outcome(hook({ print: { decision: "deny" } })), ["hook_denied", "denied by a hook"])
    })
  )

  it.live("a reason is protected and bounded like a result", () =>
    Effect.gen(function* () {
      const [, masked] = [
        yield* outcome(hook({ print: { decision: "deny", reason: "token=SENTINEL \u001b[2J" } }))
      ].flat()
      assert.strictEqual(masked, "denied by a hook: token=[redacted] ")
      const [, long] = [yield* outcome(hook({ print: { decision: "deny", reason: "é".repeat(5_000) } }))].flat()
      assert.isBelow(Buffer.byteLength(String(long)), 1_100)
    })
  )

  it.live("several run in array order, each seeing the last replacement; the first denial ends it", () =>
    withHooks(
      ({ file }) => ({
        before: [
          hook({ print: { decision: "allow", arguments: { n: 1 } } }),
          hook({ log: file("two"), print: { decision: "allow" } }),
          hook({ log: file("three"), print: { decision: "allow", arguments: { n: 3 } } }),
          hook({ log: file("four"), print: { decision: "deny", reason: "four" } }),
          hook({ log: file("five") })
        ]
      }),
      ({ log }) =>
        Effect.gen(function* () {
          const failure = yield* Effect.flip(ask())
          assert.deepStrictEqual([failure.code, failure.message], ["hook_denied", "denied by a hook: four"])
          const seen = ["two", "three", "four"].map((name) => log(name)[0])
          assert.deepStrictEqual(
            seen.map((line) => JSON.stringify(line).match(/"arguments":(\{.*?\})/)?.[1]),
            ['{"n":1}', '{"n":1}', '{"n":3}']
          )
          assert.deepStrictEqual(log("five"), [])
        })
    )
  )

  it.live("runs for the tools that its patterns name, and without patterns for every tool", () =>
    withHooks(
      ({ file }) => ({
        before: [
          hook({ log: file("some") }, { tools: ["mcp__*", "read"] }),
          hook({ log: file("all") }),
          hook({ log: file("client") }, { tools: ["client__*"] })
        ]
      }),
      ({ log }) =>
        Effect.gen(function* () {
          for (const tool of ["client__read", "read", "mcp__a__b"]) yield* ask({ tool })
          assert.deepStrictEqual([log("some").length, log("all").length, log("client").length], [2, 3, 1])
        })
    )
  )

  const failures: ReadonlyArray<readonly [string, object, RegExp]> = [
    ["garbage", { print: "this is not JSON" }, /its output is not JSON/],
    ["two values", { print: '{"decision":"allow"}{"decision":"allow"}' }, /its output is not JSON/],
    ["a duplicate key", { print: '{"decision":"deny","decision":"allow"}' }, /its output is not JSON/],
    [
      "a number that does not survive",
      { print: '{"decision":"allow","arguments":{"n":9007199254740993}}' },
      /its output is not JSON/
    ],
    ["an array", { print: [1] }, /its output is not a decision/],
    ["no decision", { print: { arguments: {} } }, /its output is not a decision/],
    ["an unknown decision", { print: { decision: "maybe" } }, /its output is not a decision/],
    ["a reason that is no text", { print: { decision: "deny", reason: 5 } }, /its output is not a decision/],
    [
      "arguments that are a text",
      { print: { decision: "allow", arguments: "text" } },
      /its arguments are not an object/
    ],
    ["arguments that are an array", { print: { decision: "allow", arguments: [] } }, /its arguments are not an object/],
    ["arguments that are null", { print: { decision: "allow", arguments: null } }, /its arguments are not an object/],
    ["an exit code", { exit: 3, print: { decision: "allow" } }, /it ended with code 3/],
    ["too much output", { fill: 70_000 }, /it printed more than 65536 bytes/]
  ]

  it.live(
    "failures: warn goes on with the arguments as they were, block is hook_failed",
    () =>
      withHooks(
        () => ({
          before: [
            hook({ print: { decision: "allow", arguments: { was: "this" } } }, { tools: ["warn*"] }),
            ...failures.flatMap(([, plan], at) => [
              hook(plan, { tools: [`warn${at}`] }),
              hook(plan, { tools: [`block${at}`], on_failure: "block" })
            ])
          ]
        }),
        () =>
          Effect.gen(function* () {
            for (const [at, [name, , message]] of failures.entries()) {
              assert.deepStrictEqual(yield* ask({ tool: `warn${at}` }), { was: "this" }, name)
              const failure = yield* Effect.flip(ask({ tool: `block${at}` }))
              assert.strictEqual(failure.code, "hook_failed", name)
              assert.match(failure.message, message, name)
            }
          })
      ),
    60_000
  )

  it.live("one that cannot be started is a failure, too", () =>
    Effect.gen(function* () {
      const missing = { command: ["/nowhere/hook"] }
      assert.deepStrictEqual(yield* outcome(hook({}, missing)), { q: "x" })
      const [code, text] = [yield* outcome(hook({}, { ...missing, on_failure: "block" }))].flat()
      assert.deepStrictEqual([code, text], ["hook_failed", "a hook failed: it could not be started (ENOENT)"])
    })
  )

  it.live("one that does not read its input is none: it may decide without it", () =>
    withHooks(
      () => ({ before: [hook({ noread: true }, { on_failure: "block" })] }),
      () =>
        Effect.gen(function* () {
          const large = { q: "x".repeat(300_000) }
          assert.deepStrictEqual(yield* ask({ arguments: large }), large)
        })
    )
  )

  it.live("its environment lacks the variables of keys, keeps the others, and carries the backend's mark", () =>
    withHooks(
      ({ file }) => ({ before: [hook({ env: file("env") })] }),
      ({ file, mark }) =>
        Effect.gen(function* () {
          yield* ask()
          const text = yield* written(file("env"))
          assert.notMatch(text, /SENTINEL|HOOK_KEY/)
          const env: { readonly [name: string]: string } = JSON.parse(text)
          assert.strictEqual(env["HOOK_OTHER"], "kept")
          assert.include((env[MARK_VARIABLE] ?? "").split(","), mark)
        })
    )
  )
})
