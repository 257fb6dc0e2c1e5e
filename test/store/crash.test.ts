/** Nothing that was acknowledged is ever lost. base-protocol section 5, required appends. */
import { existsSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { verify } from "../../src/store/Verify.ts"
import { assistant, bundled, driver, freshHome, outcome, started, user, WORKSPACE, withStore } from "./support.ts"

/** A turn as the runner appends it, calls in parallel and one inside the other. */
const script = (): ReadonlyArray<ReadonlyArray<SessionRecord>> => [
  [user("question")],
  [assistant("let me see", ["c1", "c2"])],
  [started("c1")],
  [started("c2"), { ...started("c2.1"), parentKey: "c2" }],
  [outcome("c2"), { ...outcome("c2.1"), parentKey: "c2" }],
  [outcome("c1")],
  [assistant("x".repeat(100_000))],
  [user("again")],
  [assistant("", ["c3"])],
  [started("c3")],
  [outcome("c3")],
  [assistant("done")]
]

/** A session of a process that was killed: what was asked of it, and how much of that it had acknowledged. */
interface Left {
  readonly id: string
  readonly acknowledged: ReadonlyArray<SessionRecord>
  readonly sent: ReadonlyArray<SessionRecord>
}

/** What must hold after any death: `acknowledged` is there and first, one outcome a call, and reopening changes nothing. */
const checkAfterDeath = (home: string, left: ReadonlyArray<Left>) =>
  Effect.gen(function* () {
    const opened = withStore(home, (store) =>
      Effect.forEach(left, ({ id }) =>
        store.open({ sessionId: id, workspace: WORKSPACE }).pipe(
          Effect.flatMap((session) => Effect.all([session.revision, session.records])),
          Effect.scoped,
          Effect.option
        )
      )
    )
    const found = yield* opened
    for (const [at, { acknowledged, id, sent }] of left.entries()) {
      const one = found[at]
      // The file may not exist where nothing was acknowledged.
      if (one === undefined || one._tag === "None") {
        assert.strictEqual(acknowledged.length, 0, id)
        continue
      }
      const [, records] = one.value
      const recovered = records.findIndex((record) => record.kind === "call_outcome" && record.status === "unknown")
      const own = recovered === -1 ? records : records.slice(0, recovered)
      assert.isAtLeast(own.length, acknowledged.length, id)
      assert.deepStrictEqual(own, sent.slice(0, own.length), id)
      const calls = records.flatMap((record) =>
        record.kind === "assistant" ? record.calls.map((call) => call.callKey) : []
      )
      const starts = records.flatMap((record) => (record.kind === "call_started" ? [record.callKey] : []))
      const ends = records.flatMap((record) => (record.kind === "call_outcome" ? [record.callKey] : []))
      assert.strictEqual(new Set(ends).size, ends.length, id)
      assert.deepStrictEqual(new Set(ends), new Set([...calls, ...starts]), id)
    }
    assert.deepStrictEqual(yield* opened, found)
    // Nor its home, where the process died before it was asked for anything.
    const reports = existsSync(home) ? yield* verify(home) : []
    assert.deepStrictEqual(
      reports.flatMap((report) => report.problems),
      []
    )
  })

describe("kill -9", () => {
  it.live(
    "after each append of a turn: what was acknowledged is there, recovered once",
    () =>
      Effect.gen(function* () {
        const steps = script()
        const home = yield* freshHome
        const child = yield* driver(yield* bundled, home)
        // One death ends a session after each of the steps.
        const left = steps.map((_, at) => {
          const acknowledged = steps.slice(0, at + 1).flat()
          return { id: `s${at}`, acknowledged, sent: acknowledged }
        })
        for (const [at, { id }] of left.entries()) {
          yield* child.ask({ op: "create", id })
          for (const records of steps.slice(0, at + 1)) {
            assert.isTrue((yield* child.ask({ op: "append", id, records })).ok)
          }
        }
        yield* child.kill
        yield* checkAfterDeath(home, left)
      }),
    60_000
  )

  it.live(
    "in the middle of an append: all of it is there, or nothing of it",
    () =>
      Effect.gen(function* () {
        const folder = yield* bundled
        const steps = script()
        const last = steps.length - 1
        // Before the first answer, after the last but one, and between.
        const deaths = [0, 1, 3, 5, 8, last]
        const die = Effect.fnUntraced(function* (after: number) {
          const home = yield* freshHome
          const child = yield* driver(folder, home)
          yield* child.ask({ op: "create", id: "s" })
          // Everything is sent at once, and the end comes at some moment of it.
          const answers: Array<boolean> = []
          const asked = yield* Effect.forkChild(
            Effect.forEach(steps, (records) =>
              Effect.map(child.ask({ op: "append", id: "s", records }), ({ ok }) => answers.push(ok))
            ),
            { startImmediately: true }
          )
          yield* Effect.repeat(
            Effect.sync(() => answers.length >= after),
            { until: (enough) => enough, schedule: Schedule.spaced("1 millis") }
          )
          yield* child.kill
          asked.interruptUnsafe()
          assert.isTrue(answers.every((ok) => ok))
          yield* checkAfterDeath(home, [
            { id: "s", acknowledged: steps.slice(0, answers.length).flat(), sent: steps.flat() }
          ])
        })
        yield* Effect.forEach(deaths, (after) => Effect.scoped(die(after)), { concurrency: 2, discard: true })
      }),
    60_000
  )

  it.live(
    "while the recovery of an earlier death is made",
    () =>
      Effect.gen(function* () {
        const folder = yield* bundled
        const home = yield* freshHome
        const first = yield* driver(folder, home)
        const keys = Array.from({ length: 200 }, (_, n) => `c${n}`)
        const records = [user("q"), assistant("", keys), ...keys.map((key) => started(key))]
        yield* first.ask({ op: "create", id: "s" })
        assert.isTrue((yield* first.ask({ op: "append", id: "s", records })).ok)
        yield* first.kill
        for (let round = 0; round < 6; round++) {
          const child = yield* driver(folder, home)
          yield* child.ask({ op: "list" })
          child.tell({ op: "open", id: "s" })
          yield* Effect.sleep(round * 2)
          yield* child.kill
        }
        yield* checkAfterDeath(home, [{ id: "s", acknowledged: records, sent: records }])
      }),
    60_000
  )
})
