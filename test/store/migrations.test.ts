/** Files of older versions become the present one, all steps or none. */
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { hasPresentSchema, isBlank, migrate, SCHEMA_VERSION, versionOf } from "../../src/store/sqlite/Schema.ts"

const steps = [
  "CREATE TABLE a (x INTEGER NOT NULL) STRICT; INSERT INTO a VALUES (1)",
  "ALTER TABLE a ADD COLUMN y TEXT; UPDATE a SET y = 'added'",
  "CREATE UNIQUE INDEX one_x ON a (x)"
]

describe("migrations", () => {
  it("a new file has the present version and rules at once", () => {
    const db = new DatabaseSync(":memory:")
    assert.isTrue(isBlank(db))
    migrate(db)
    assert.isFalse(isBlank(db))
    assert.strictEqual(versionOf(db), SCHEMA_VERSION)
    assert.isTrue(hasPresentSchema(db))
    db.exec("DROP TRIGGER record_is_never_changed")
    assert.isFalse(hasPresentSchema(db))
  })

  it("each version is taken through the steps that it lacks, and keeps what it holds", () => {
    for (let from = 1; from <= steps.length; from++) {
      const db = new DatabaseSync(":memory:")
      migrate(db, steps.slice(0, from))
      assert.strictEqual(versionOf(db), from)
      migrate(db, steps)
      migrate(db, steps)
      assert.strictEqual(versionOf(db), steps.length)

      assert.deepStrictEqual({ ...db.prepare("SELECT * FROM a").get() }, { x: 1, y: "added" })
    }
  })

  it("a step that fails undoes the ones before it", () => {
    const db = new DatabaseSync(":memory:")
    migrate(db, steps.slice(0, 1))
    db.exec("BEGIN")
    assert.throws(() => migrate(db, [...steps.slice(0, 2), "CREATE TABLE a (x)"]))
    db.exec("ROLLBACK")
    assert.strictEqual(versionOf(db), 1)
    assert.deepStrictEqual({ ...db.prepare("SELECT * FROM a").get() }, { x: 1 })
  })

  it("the schema's rules hold for whoever writes: one outcome, one start, records only added", () => {
    const db = new DatabaseSync(":memory:")
    migrate(db)
    const insert = (seq: number, kind: string, callKey: string | null) =>
      db.prepare("INSERT INTO record VALUES (?, ?, ?, 'r', 't', ?, 0, 0, '{}')").run(seq, `e${seq}`, kind, callKey)
    insert(1, "call_started", "c")
    insert(2, "call_outcome", "c")
    insert(3, "call_outcome", "d")
    for (const wrong of [
      () => insert(4, "call_outcome", "c"),
      () => insert(4, "call_started", "c"),
      () => insert(4, "call_started", null),
      () => insert(4, "user", "c"),
      () => insert(3, "user", null),
      () => db.exec("UPDATE record SET body = 'x'"),
      () => db.exec("DELETE FROM record")
    ]) {
      assert.throws(wrong)
    }
    assert.strictEqual(db.prepare("SELECT count(*) AS n FROM record").get()?.["n"], 3)
  })
})
