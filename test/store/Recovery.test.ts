/** Recovery of calls in flight. base-protocol sections 4 (`unknown`) and 5: an outcome that was not appended is unknown. */
import { assert, describe, it } from "@effect/vitest"
import { recover } from "../../src/store/Recovery.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { assistant, outcome, started, turn, user } from "./support.ts"

const options = (taskId: string | null = null) => {
  let next = 0
  return { taskId, now: "2026-01-01T00:00:00.000Z", freshId: () => `id${++next}` }
}

describe("recovery", () => {
  it("a finished session needs none", () => {
    assert.deepStrictEqual(recover([...turn("c1"), user("next")], options()), [])
    assert.deepStrictEqual(recover([], options()), [])
  })

  it("a call with or without a start, but without an outcome, gets exactly one: unknown, unsuccessful", () => {
    const records = [...turn("c1"), assistant("", ["c2", "c3", "c4"], "r2"), started("c2", "r2"), outcome("c3", "r2")]
    const recovered = recover(records, options())
    assert.deepStrictEqual(
      recovered.map((record) => [record.callKey, record.runId, record.name, record.status, record.taskId]),
      [
        ["c2", "r2", "client__a", "unknown", null],
        ["c4", "r2", "client__a", "unknown", null]
      ]
    )
    for (const record of recovered) {
      assert.strictEqual(record.outcome.success, false)
      assert.strictEqual(record.outcome.error?.code, "unknown")
      assert.deepStrictEqual(
        [record.card?.["state"], record.card?.["outcome"], record.card?.["title"], record.card?.["lines"]],
        ["finished", "unknown", "client__a", []]
      )
    }
  })

  it("recovering what was recovered changes nothing", () => {
    const records: Array<SessionRecord> = [assistant("", ["c1", "c2"]), started("c1")]
    const first = recover(records, options())
    assert.strictEqual(first.length, 2)
    assert.deepStrictEqual(recover([...records, ...first], options()), [])
  })

  it("a call made inside Code Mode keeps its parent; a delegated session's calls keep its task", () => {
    const inner = { ...started("inner"), parentKey: "script", taskId: "task" }
    const recovered = recover([assistant("", ["script"]), started("script"), inner], options("task"))
    assert.deepStrictEqual(
      recovered.map((record) => [record.callKey, record.parentKey]),
      [
        ["script", null],
        ["inner", "script"]
      ]
    )
    assert.deepStrictEqual(
      recover([assistant("", ["c"])], options("task")).map((record) => record.taskId),
      ["task"]
    )
  })
})
