/** base-protocol section 3 (Closing: child processes) and 6 (Hooks): nothing of a hook outlives it. Real processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { Hooks } from "../../src/agent/hooks/Hooks.ts"
import { call, hook, runs, withHooks, written } from "./support.ts"

const ask = Effect.flatMap(Hooks, (hooks) => hooks.before(call))

describe("the end of a hook", () => {
  for (const [name, plan] of [
    ["", {}],
    [", also one that ignores SIGTERM", { trap: true }],
    [", and a grandchild that left the group", { detached: true }]
  ] as const) {
    it.live(`at its time limit it is killed whole${name}`, () =>
      withHooks(
        ({ file }) => ({
          before: [
            hook(
              { ...plan, pid: file("pid"), grandchild: file("grandchild"), sleep: 60_000 },
              { timeout_ms: 1_500, on_failure: "block" }
            )
          ]
        }),
        ({ file }) =>
          Effect.gen(function* () {
            const begun = performance.now()
            const failure = yield* Effect.flip(ask)
            const took = performance.now() - begun
            assert.deepStrictEqual(
              [failure.code, failure.message],
              ["hook_failed", "a hook failed: it did not end within 1500 ms"]
            )
            assert.isAtLeast(took, 1_490)
            assert.isBelow(took, 4_000)
            for (const who of ["pid", "grandchild"]) assert.isFalse(runs(yield* written(file(who))), who)
          })
      )
    )
  }

  it.live("interruption kills it and its group, and ends within its bound", () =>
    withHooks(
      ({ file }) => ({
        before: [hook({ trap: true, grandchild: file("grandchild"), pid: file("pid"), sleep: 60_000 })]
      }),
      ({ file }) =>
        Effect.gen(function* () {
          const running = yield* Effect.forkChild(ask)
          const pid = yield* written(file("pid"))
          const grandchild = yield* written(file("grandchild"))
          assert.isTrue(runs(pid) && runs(grandchild))
          const begun = performance.now()
          yield* Fiber.interrupt(running)
          assert.isBelow(performance.now() - begun, 1_400)
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
          assert.isFalse(runs(pid) || runs(grandchild))
        })
    )
  )

  it.live("one that has decided is not waited for because of what it started, and that is gone, too", () =>
    withHooks(
      ({ file }) => ({
        before: [
          hook({ grandchild: file("grandchild"), hold: true, print: { decision: "allow", arguments: { n: 1 } } })
        ]
      }),
      ({ file }) =>
        Effect.gen(function* () {
          const begun = performance.now()
          assert.deepStrictEqual(yield* ask, { n: 1 })
          assert.isBelow(performance.now() - begun, 5_000)
          assert.isFalse(runs(yield* written(file("grandchild"))))
        })
    )
  )

  it.live("too much output ends it at once", () =>
    withHooks(
      ({ file }) => ({ before: [hook({ pid: file("pid"), fill: 200_000, sleep: 1 }, { on_failure: "block" })] }),
      ({ file }) =>
        Effect.gen(function* () {
          const failure = yield* Effect.flip(ask)
          assert.match(failure.message, /more than 65536 bytes/)
          assert.isFalse(runs(yield* written(file("pid"))))
        })
    )
  )
})
