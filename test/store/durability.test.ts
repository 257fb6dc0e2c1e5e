/** How a session's file is held. A killed process loses nothing the kernel has; that the disk has it too is set here. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entryCountOf } from "../../src/store/HistoryEntries.ts"
import { rowOfRecord } from "../../src/store/RecordCodec.ts"
import { createDatabase, openDatabase } from "../../src/store/sqlite/openDatabase.ts"
import { SessionFile } from "../../src/store/sqlite/SessionFile.ts"
import { temporary, turn, user } from "./support.ts"

const create = {
  workspace: "/w",
  createdAt: "2026-01-01T00:00:00.000Z",
  title: null,
  delegated: false,
  permissions: null
}

const rows = (records: ReturnType<typeof turn>) => records.map((record) => rowOfRecord(record, entryCountOf(record)))

describe("durability", () => {
  it.effect("a file is held exclusively, in WAL mode, and every commit waits for the disk", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "s.db")
      SessionFile.create("s", path, create, (file) => file.append(rows(turn("c")))).close()
      const held = openDatabase(path, "thorough", (db) => {
        const settings = ["locking_mode", "journal_mode", "synchronous", "secure_delete"].map(
          (name) => db.prepare(`PRAGMA ${name}`).get()?.[name]
        )
        db.close()
        return settings
      })
      assert.deepStrictEqual(held, ["exclusive", "wal", 2, 1])
    })
  )

  it.effect("a creation that fails leaves no file, so that it can be tried again", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "s.db")
      const twice = rows([...turn("c"), ...turn("c")])
      assert.throws(() => SessionFile.create("s", path, create, (file) => file.append(twice)), /at most one start/)
      assert.throws(
        () =>
          createDatabase(path, () => {
            throw new Error("anything")
          }),
        /cannot be written/
      )
      const file = SessionFile.create("s", path, create, (made) => made.append(rows(turn("c"))))
      assert.strictEqual(file.state.lastSeq, 5)
      file.close()
    })
  )

  it.effect("what a refused work had done to the state is undone with it", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "s.db")
      const file = SessionFile.create("s", path, create, (made) => made.append(rows(turn("c"))))
      const before = file.state
      const faults = file.commit([
        (open) => open.append(rows([user("x"), ...turn("c")])),
        (open) => open.setTitle("kept"),
        (open) => open.append(rows(turn("d")))
      ])
      assert.deepStrictEqual(
        faults.map((fault) => fault === null),
        [false, true, true]
      )
      assert.deepStrictEqual([file.state.lastSeq, file.state.title], [before.lastSeq + 5, "kept"])
      assert.deepStrictEqual(
        [...file.rows(1)].map(({ seq }) => seq),
        Array.from({ length: 10 }, (_, at) => at + 1)
      )
      const state = file.state
      file.close()
      assert.deepStrictEqual(SessionFile.open("s", path).state, state)
    })
  )
})
