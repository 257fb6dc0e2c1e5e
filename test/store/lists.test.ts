/** `session.list`. base-protocol section 4: this workspace only, newest first, pages of an immutable revision. */
import { Buffer } from "node:buffer"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { SessionStore } from "../../src/store/SessionStore.ts"
import { assistant, bundled, driver, freshHome, outcome, started, turn, user, WORKSPACE, withStore } from "./support.ts"

const list = (store: SessionStore["Service"], workspace = WORKSPACE) =>
  store.list({ workspace, revision: null, cursor: null, limit: 100 })

const ids = (store: SessionStore["Service"]) =>
  Effect.map(list(store), ({ entries }) => entries.map((entry) => entry.session_id))

/** A session whose last record is made at this second. */
const at = (second: number) => ({ ...user("x"), createdAt: new Date(second * 1000).toISOString() })

const make = (store: SessionStore["Service"], sessionId: string, second: number, workspace = WORKSPACE) =>
  Effect.scoped(
    Effect.flatMap(store.create({ sessionId, workspace }), (session) =>
      Effect.andThen(session.setTitle(`title of ${sessionId}`), session.append([at(second)]))
    )
  )

describe("session.list", () => {
  it.live("lists this workspace only, newest first, with title, time and number of history entries", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          yield* make(store, "b", 2)
          yield* make(store, "a", 3)
          yield* make(store, "c", 1)
          yield* make(store, "other", 9, "/elsewhere")
          const page = yield* list(store)
          assert.deepStrictEqual(Object.keys(page).sort(), ["complete", "cursor", "entries", "revision"])
          assert.deepStrictEqual(page.entries[0], {
            session_id: "a",
            title: "title of a",
            updated_at: "1970-01-01T00:00:03.000Z",
            entry_count: 1
          })
          assert.deepStrictEqual(
            page.entries.map((entry) => entry.session_id),
            ["a", "b", "c"]
          )
          assert.isTrue(page.complete)
          assert.isNull(page.cursor)
        })
      )
    })
  )

  it.live("entry_count is the number of entries that history.page gives, parts of long texts each", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          const long = user("€".repeat(20_000))
          yield* session.append([...turn("c1"), long, assistant("", ["c2"]), started("c2"), outcome("c2")])
          const revision = yield* session.revision
          let count = 0
          for (let cursor: string | null = null; ; ) {
            const page: { entries: ReadonlyArray<unknown>; cursor: string | null } = yield* session.page({
              revision,
              cursor,
              limit: 3,
              cards: true
            })
            count += page.entries.length
            cursor = page.cursor
            if (cursor === null) break
          }
          assert.strictEqual(count, 3 + 4 + 1)
          assert.strictEqual((yield* list(store)).entries[0]?.entry_count, count)
        })
      )
    })
  )

  it.live("pages by limit and bytes; after a change, or with a foreign cursor, the revision is stale", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const long = "x".repeat(124)
          for (let n = 0; n < 12; n++) yield* make(store, `${long}${n}`, n)
          const seen: Array<string> = []
          let page = yield* store.list({ workspace: WORKSPACE, revision: null, cursor: null, limit: 5 })
          const { revision } = page
          for (;;) {
            assert.isAtMost(page.entries.length, 5)
            assert.strictEqual(page.revision, revision)
            seen.push(...page.entries.map((entry) => entry.session_id.slice(124)))
            if (page.cursor === null) break
            page = yield* store.list({ workspace: WORKSPACE, revision, cursor: page.cursor, limit: 5 })
          }
          assert.deepStrictEqual(seen, ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0"])
          const again = (cursor: string | null) => store.list({ workspace: WORKSPACE, revision, cursor, limit: 5 })
          for (const cursor of ["x", "o", "o13", "5.0"]) {
            assert.strictEqual((yield* Effect.flip(again(cursor)))._tag, "StaleRevision", cursor)
          }
          yield* again("o5")
          yield* make(store, "new", 99)
          assert.strictEqual((yield* Effect.flip(again("o5")))._tag, "StaleRevision")
        })
      )
    })
  )

  it.live("a hundred sessions with the longest ids and titles are pages of at most 32768 bytes", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          yield* Effect.forEach(
            Array.from({ length: 90 }, (_, n) => `${"x".repeat(126)}${10 + n}`),
            (sessionId) =>
              Effect.scoped(
                Effect.flatMap(store.create({ sessionId, workspace: WORKSPACE }), (session) =>
                  Effect.andThen(session.setTitle('"'.repeat(500)), session.append([user("x")]))
                )
              ),
            { discard: true }
          )
          const first = yield* list(store)
          assert.isAtMost(Buffer.byteLength(JSON.stringify(first.entries)), 32_768)
          assert.isFalse(first.complete)
          const { revision, cursor } = first
          const second = yield* store.list({ workspace: WORKSPACE, revision, cursor, limit: 100 })
          assert.strictEqual(first.entries.length + second.entries.length, 90)
          assert.isTrue(second.complete)
        })
      )
    })
  )

  it.live("the index is rebuilt when it is missing, damaged or of another make; stale rows are put right", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const index = join(home, "sessions-index-1.db")
      yield* withStore(home, (store) => Effect.andThen(make(store, "a", 1), make(store, "b", 2)))
      const remove = () => {
        for (const name of readdirSync(home)) if (name.startsWith("sessions-index")) rmSync(join(home, name))
      }
      const spoils: ReadonlyArray<() => void> = [
        remove,
        () => {
          remove()
          writeFileSync(index, "this is no database, however long it may be".repeat(50))
        },
        () => {
          remove()
          writeFileSync(index, "")
        },
        () => {
          remove()
          const db = new DatabaseSync(index)
          db.exec("CREATE TABLE session (other)")
          db.close()
        }
      ]
      for (const spoil of spoils) {
        spoil()
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* ids(store), ["b", "a"])
            assert.strictEqual((yield* list(store)).entries[0]?.title, "title of b")
            const db = new DatabaseSync(index, { readOnly: true })
            assert.strictEqual(db.prepare("SELECT count(*) AS n FROM session").get()?.["n"], 2)
            db.close()
          })
        )
      }
      rmSync(join(home, "sessions", "b.db"))
      yield* withStore(home, (store) => Effect.map(ids(store), (found) => assert.deepStrictEqual(found, ["a"])))
    })
  )

  it.live("an index that was removed while the store uses it is made again", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          yield* make(store, "a", 1)
          for (const name of readdirSync(home)) if (name.startsWith("sessions-index")) rmSync(join(home, name))
          yield* make(store, "b", 2)
          assert.deepStrictEqual(yield* ids(store), ["b", "a"])
          const db = new DatabaseSync(join(home, "sessions-index-1.db"), { readOnly: true })
          assert.strictEqual(db.prepare("SELECT count(*) AS n FROM session").get()?.["n"], 2)
          db.close()
        })
      )
    })
  )

  it.live("shows what another process holds; after its death, what it had saved", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const holder = yield* driver(yield* bundled, home)
      yield* holder.ask({ op: "create", id: "held" })
      yield* holder.ask({ op: "append", id: "held", records: [user("one")] })
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* ids(store), ["held"])
          // Acknowledged, and killed before the index heard of it.
          yield* holder.ask({ op: "append", id: "held", records: [user("two"), user("three")] })
          yield* holder.kill
          assert.strictEqual((yield* list(store)).entries[0]?.entry_count, 3)
          const session = yield* store.open({ sessionId: "held", workspace: WORKSPACE })
          assert.strictEqual((yield* session.records).length, 3)
        })
      )
    })
  )

  it.live("a damaged session stays in the list, and does not keep the others out of it", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) => Effect.andThen(make(store, "a", 1), make(store, "b", 2)))
      writeFileSync(join(home, "sessions", "b.db"), "x".repeat(9000))
      writeFileSync(join(home, "sessions", "stranger.db"), "x".repeat(9000))
      yield* withStore(home, (store) => Effect.map(ids(store), (found) => assert.deepStrictEqual(found, ["b", "a"])))
    })
  )

  it.live("lists while sessions open and close", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          for (let n = 0; n < 45; n++) yield* make(store, `s${n}`, n)
          // Without an index every file is read, in several turns of the worker; meanwhile one of them is held.
          for (const name of readdirSync(home)) if (name.startsWith("sessions-index")) rmSync(join(home, name))
          const scope = yield* Scope.make()
          const [found] = yield* Effect.all(
            [ids(store), Scope.provide(store.open({ sessionId: "s44", workspace: WORKSPACE }), scope)],
            { concurrency: "unbounded" }
          )
          assert.strictEqual(found.length, 45)
          yield* Scope.close(scope, Exit.void)
          assert.strictEqual((yield* ids(store)).length, 45)
        })
      )
    })
  )
})
