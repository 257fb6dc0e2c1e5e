/** Nothing that was acknowledged is ever lost. base-protocol section 5, required appends. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { verify } from "../../src/store/Verify.ts"
import { assistant, bundled, driver, freshHome, outcome, started, user, withSession } from "./support.ts"

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

/** What must hold after any death: `acknowledged` is there and first, one outcome a call, and reopening changes nothing. */
const checkAfterDeath = (
  home: string,
  acknowledged: ReadonlyArray<SessionRecord>,
  sent: ReadonlyArray<SessionRecord>
) =>
  Effect.gen(function* () {
    const read = withSession(home, "s", (session) => Effect.all([session.revision, session.records]))
    // The file may not exist where nothing was acknowledged.
    const found = yield* Effect.option(read)
    if (found._tag === "None") {
      assert.strictEqual(acknowledged.length, 0)
      return
    }
    const [revision, records] = found.value
    const recovered = records.findIndex((record) => record.kind === "call_outcome" && record.status === "unknown")
    const own = recovered === -1 ? records : records.slice(0, recovered)
    assert.isAtLeast(own.length, acknowledged.length)
    assert.deepStrictEqual(own, sent.slice(0, own.length))
    const calls = records.flatMap((record) =>
      record.kind === "assistant" ? record.calls.map((call) => call.callKey) : []
    )
    const starts = records.flatMap((record) => (record.kind === "call_started" ? [record.callKey] : []))
    const ends = records.flatMap((record) => (record.kind === "call_outcome" ? [record.callKey] : []))
    assert.strictEqual(new Set(ends).size, ends.length)
    assert.deepStrictEqual(new Set(ends), new Set([...calls, ...starts]))
    assert.deepStrictEqual(yield* read, [revision, records])
    const reports = yield* verify(home)
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
        const folder = yield* bundled
        const steps = script()
        yield* Effect.forEach(
          steps.map((_, at) => at),
          (at) =>
            Effect.scoped(
              Effect.gen(function* () {
                const home = yield* freshHome
                const child = yield* driver(folder, home)
                yield* child.ask({ op: "create", id: "s" })
                for (const records of steps.slice(0, at + 1)) {
                  assert.isTrue((yield* child.ask({ op: "append", id: "s", records })).ok)
                }
                yield* child.kill
                const acknowledged = steps.slice(0, at + 1).flat()
                yield* checkAfterDeath(home, acknowledged, acknowledged)
              })
            ),
          { concurrency: 2, discard: true }
        )
      }),
    60_000
  )

  it.live(
    "in the middle of an append: all of it is there, or nothing of it",
    () =>
      Effect.gen(function* () {
        const folder = yield* bundled
        const steps = script()
        const flat = steps.flat()
        for (let round = 0; round < 10; round++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
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
              const deaths = Math.floor(Math.random() * steps.length)
              yield* Effect.repeat(
                Effect.sync(() => answers.length >= deaths),
                {
                  until: (enough) => enough,
                  schedule: Schedule.spaced("1 millis")
                }
              )
              yield* child.kill
              asked.interruptUnsafe()
              assert.isTrue(answers.every((ok) => ok))
              const acknowledged = steps.slice(0, answers.length).flat()
              yield* checkAfterDeath(home, acknowledged, flat)
            })
          )
        }
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
        yield* checkAfterDeath(home, records, records)
      }),
    60_000
  )
})
