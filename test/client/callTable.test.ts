/** product section 5, Calls: whatever happens in whatever order, each call has one winner and gives its place back once. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type CallEntry, CallTable, MOST_FIBERS, MOST_RUNNING, type Winner } from "../../src/client/CallTable.ts"

const identity = (call_id: string) => ({
  instance_id: "i",
  session_id: "s",
  run_id: "r",
  call_id,
  task_id: null,
  subagent_id: null
})

type Step =
  | { readonly do: "admit" }
  | { readonly do: "settle"; readonly at: number; readonly winner: Winner }
  | { readonly do: "leave"; readonly at: number }

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step>({ do: "admit" }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("settle" as const),
        at: fc.nat(60),
        winner: fc.constantFrom<Winner>("completed", "cancelled", "deadline", "lost")
      })
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), at: fc.nat(60) }) }
  ),
  { maxLength: 200 }
)

describe("the table of calls", () => {
  it("agrees with a list of what happened", () => {
    fc.assert(
      fc.property(steps, (script) => {
        const table = new CallTable()
        const made: Array<{ readonly entry: CallEntry; winner: Winner | undefined; alive: boolean }> = []
        for (const step of script) {
          const running = made.filter((one) => one.winner === undefined).length
          const alive = made.filter((one) => one.alive).length
          if (step.do === "admit") {
            const admission = table.admit(identity(`c${made.length}`), "client__x", 0n)
            assert.strictEqual(admission._tag === "Admitted", running < MOST_RUNNING && alive < MOST_FIBERS)
            if (admission._tag === "Admitted") made.push({ entry: admission.entry, winner: undefined, alive: true })
            continue
          }
          const one = made[step.at]
          if (one === undefined) continue
          if (step.do === "settle") {
            assert.strictEqual(table.settle(one.entry, step.winner), one.winner === undefined)
            one.winner ??= step.winner
            assert.strictEqual(one.entry.winner, one.winner)
          } else if (one.winner !== undefined) {
            // A fiber ends after its call has been settled, never before.
            assert.strictEqual(table.leave(one.entry), one.alive)
            one.alive = false
          }
          assert.strictEqual(table.running, made.filter((other) => other.winner === undefined).length)
          assert.strictEqual(table.alive.length, made.filter((other) => other.alive).length)
        }
        for (const { entry, winner } of made) {
          assert.strictEqual(table.find(entry.identity), winner === undefined ? entry : undefined)
          assert.isUndefined(table.find({ ...entry.identity, task_id: "another" }))
        }
      }),
      { numRuns: 200, seed: 11 }
    )
  })
})
