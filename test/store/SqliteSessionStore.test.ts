/** The durable store in one process. base-protocol section 4; product section 2. */
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import type { DelegatedPermissions } from "../../src/store/DelegatedPermissions.ts"
import type { SessionStore } from "../../src/store/SessionStore.ts"
import {
  assistant,
  freshHome,
  notice,
  outcome,
  started,
  turn,
  user,
  WORKSPACE,
  withSession,
  withStore
} from "./support.ts"

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const firstPage = { workspace: WORKSPACE, revision: null, cursor: null, limit: 100 }

describe("SqliteSessionStore", () => {
  it.live("nothing is made on disk before the first append: not by create, open or list", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          assert.isFalse(yield* session.durable)
          assert.deepStrictEqual((yield* store.list(firstPage)).entries, [])
          const error = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
          assert.strictEqual(error._tag === "SessionUnavailable" && error.code, "session_not_found")
          const revision = yield* session.revision
          assert.deepStrictEqual(yield* session.page({ revision, cursor: null, limit: 10, cards: false }), {
            entries: [],
            revision,
            cursor: null,
            complete: true
          })
          assert.deepStrictEqual(yield* session.records, [])
          assert.isFalse(existsSync(home))
          yield* session.append([user("hi")])
          assert.isTrue(yield* session.durable)
          assert.notStrictEqual(yield* session.revision, revision)
        })
      )
    })
  )

  it.live("folders have mode 0700 and files 0600, also what SQLite puts beside them", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          yield* session.append([user("hi")])
          const sessions = join(home, "sessions")
          assert.deepStrictEqual([mode(home), mode(sessions)], ["700", "700"])
          const files = [
            ...readdirSync(sessions).map((name) => join(sessions, name)),
            join(home, "sessions-index-1.db")
          ]
          assert.isAtLeast(files.length, 3)
          for (const file of files) assert.strictEqual(mode(file), "600", file)
        })
      )
    })
  )

  it.live("what was appended is there in order after a restart, with every key of every argument", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const odd = JSON.parse('{"__proto__":{"constructor":1},"toString":null,"":"\\u0000"}')
      const first = [user("lone \ud800, smile 😀"), { ...assistant("", ["c1"]), calls: [] }, notice("n")]
      const second = turn("c2")
      const result = { ...outcome("c2"), outcome: { success: true, text: "", structured: odd, error: null } }
      const records = [...first, ...second.slice(0, 3), result]
      const revision = yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          yield* session.append(first)
          return yield* session.append(records.slice(first.length))
        })
      )
      yield* withSession(home, "s", (session) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* session.records, records)
          const last = (yield* session.records).at(-1)
          assert.strictEqual(
            JSON.stringify(last?.kind === "call_outcome" && last.outcome.structured),
            JSON.stringify(odd)
          )
          assert.strictEqual(yield* session.revision, revision)
          assert.isTrue(yield* session.durable)
        })
      )
    })
  )

  it.live("an append is all or none, and at most one outcome a call is the schema's rule", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          const revision = yield* session.append(turn("c1"))
          const error = yield* Effect.flip(session.append([user("lost with it"), outcome("c1")]))
          assert.include(error.message, "at most one start and one outcome")
          assert.notInclude(error.message, "SENTINEL")
          assert.strictEqual(yield* session.revision, revision)
          assert.strictEqual((yield* session.records).length, 5)
          yield* Effect.flip(session.append([started("c2"), started("c2")]))
          yield* session.append([started("c2")])
          assert.strictEqual((yield* session.records).length, 6)
        })
      )
    })
  )

  it.live("concurrent appends are committed together; one that is refused leaves the others", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          const keys = Array.from({ length: 40 }, (_, at) => `c${at % 20}`)
          // Every second one repeats a call that has its outcome already. The first of them makes the file.
          const exits = yield* Effect.forEach(keys, (key) => Effect.exit(session.append([user(key), outcome(key)])), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            exits.map(Exit.isSuccess),
            keys.map((_, at) => at < 20)
          )
          const records = yield* session.records
          assert.deepStrictEqual(
            records.map((record) => (record.kind === "user" ? record.text : record.kind)),
            keys.slice(0, 20).flatMap((key) => [key, "call_outcome"])
          )
        })
      )
    })
  )

  it.live("revisions change with every append, and with nothing else", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          const seen = [yield* session.revision, yield* session.append([user("a")]), yield* session.append([user("b")])]
          assert.strictEqual(new Set(seen).size, 3)
          for (const revision of seen) assert.match(revision, /^[A-Za-z0-9._:-]{1,128}$/)
          yield* session.setTitle("title")
          yield* session.setSelection({ provider: "p", model: "m" })
          assert.strictEqual(yield* session.append([]), seen[2])
          assert.strictEqual(yield* session.revision, seen[2])
          const other = yield* store.create({ sessionId: "t", workspace: WORKSPACE })
          assert.notStrictEqual(yield* other.append([user("a")]), seen[1])
          for (const revision of ["r-old", seen[1] ?? ""]) {
            const error = yield* Effect.flip(session.page({ revision, cursor: null, limit: 10, cards: false }))
            assert.strictEqual(error._tag, "StaleRevision")
          }
        })
      )
    })
  )

  it.live("title (at most 200 compact bytes) and selection are kept; a title given before the first append too", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const early = yield* store.create({ sessionId: "early", workspace: WORKSPACE })
          yield* early.setTitle("before")
          yield* early.append([user("a")])
          const late = yield* store.create({ sessionId: "late", workspace: WORKSPACE })
          yield* late.append([user("a")])
          yield* late.setTitle("€".repeat(100))
          yield* late.setSelection({ provider: "local", model: "m2" })
          const chosen = yield* store.create({ sessionId: "chosen", workspace: WORKSPACE })
          yield* chosen.setSelection({ provider: "local", model: "m3" })
          assert.isTrue(yield* chosen.durable)
        })
      )
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const open = (sessionId: string) => store.open({ sessionId, workspace: WORKSPACE })
          assert.strictEqual(yield* (yield* open("early")).title, "before")
          const late = yield* open("late")
          assert.strictEqual(yield* late.title, "€".repeat(66))
          assert.deepStrictEqual(yield* late.selection, { provider: "local", model: "m2" })
          const chosen = yield* open("chosen")
          assert.deepStrictEqual(yield* chosen.selection, { provider: "local", model: "m3" })
          assert.deepStrictEqual(yield* chosen.records, [])
        })
      )
    })
  )

  it.live("closing a handle's scope releases the session; a second handle of the same process shares it", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const first = yield* Scope.provide(store.create({ sessionId: "s", workspace: WORKSPACE }), scope)
          yield* first.append([user("a"), assistant("", ["c1"]), started("c1")])
          const second = yield* store.open({ sessionId: "s", workspace: WORKSPACE })
          assert.strictEqual((yield* second.records).length, 3, "a call in flight here is not recovered")
          assert.strictEqual(yield* first.append([user("b")]), yield* second.revision)
          yield* Scope.close(scope, Exit.void)
          yield* second.append([user("c")])
          assert.strictEqual((yield* second.records).length, 5)
          yield* withStore(home, (other) =>
            Effect.gen(function* () {
              const error = yield* Effect.flip(other.open({ sessionId: "s", workspace: WORKSPACE }))
              assert.strictEqual(error._tag === "SessionUnavailable" && error.code, "session_busy")
            })
          )
        })
      )
      yield* withSession(home, "s", (session) =>
        Effect.map(session.records, (all) => assert.strictEqual(all.length, 6))
      )
    })
  )

  it.live("an interrupted open leaves nothing locked", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "s", workspace: WORKSPACE }), (session) => session.append([user("a")]))
      )
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          for (let turns = 0; turns < 30; turns++) {
            const fiber = yield* Effect.forkChild(Effect.scoped(store.open({ sessionId: "s", workspace: WORKSPACE })), {
              startImmediately: true
            })
            // Ends before, while and after the answer arrives.
            yield* Effect.sleep(turns % 6)
            yield* Fiber.interrupt(fiber)
          }
          yield* store.list(firstPage)
          yield* withSession(home, "s", (session) => session.append([user("b")]))
        })
      )
    })
  )

  it.live("nor does one that is interrupted in the turn in which its answer arrives", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const make = (store: SessionStore["Service"], sessionId: string) =>
        Effect.scoped(
          Effect.flatMap(store.create({ sessionId, workspace: WORKSPACE }), (session) => session.append([user("a")]))
        )
      yield* withStore(home, (store) => Effect.andThen(make(store, "s"), make(store, "t")))
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          yield* store.list(firstPage)
          const opened = yield* Deferred.make<void>()
          const open = (sessionId: string) => store.open({ sessionId, workspace: WORKSPACE })
          const first = yield* Effect.forkChild(Effect.andThen(open("t"), Deferred.succeed(opened, undefined)), {
            startImmediately: true
          })
          const second = yield* Effect.forkChild(
            Effect.scoped(Effect.andThen(open("s"), Effect.die(new Error("it must not get this far")))),
            { startImmediately: true }
          )
          const killer = yield* Effect.forkChild(Effect.andThen(Deferred.await(opened), Fiber.interrupt(second)), {
            startImmediately: true
          })
          // Both requests are sent at the end of this turn; both answers are there before the next one.
          queueMicrotask(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)))
          yield* Fiber.join(first)
          yield* Fiber.join(killer)
          yield* store.list(firstPage)
          yield* withSession(home, "s", (session) => session.append([user("b")]))
        })
      )
    })
  )

  it.live("a session of another workspace is a mismatch, and stays free", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "s", workspace: "/elsewhere" }), (session) =>
          session.append([user("a"), assistant("", ["c"])])
        )
      )
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          for (const sessionId of ["none", "..", "a/b", "", "x".repeat(129)]) {
            const missing = yield* Effect.flip(store.open({ sessionId, workspace: WORKSPACE }))
            assert.strictEqual(missing._tag === "SessionUnavailable" && missing.code, "session_not_found", sessionId)
          }
          const error = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
          assert.strictEqual(error._tag === "SessionUnavailable" && error.code, "workspace_mismatch")
          const session = yield* store.open({ sessionId: "s", workspace: "/elsewhere" })
          assert.strictEqual((yield* session.records).length, 3, "recovered only where it was opened")
        })
      )
    })
  )

  it.live(
    "a delegated session saves its permissions with its first append, is opened by its task id, and is not listed",
    () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        const delegated: DelegatedPermissions = {
          version: 1,
          mode: "standard",
          profile: "reviewer",
          depth: 1,
          direct: [{ name: "client__a", fingerprint: "f".repeat(64) }],
          code_mode: [{ name: "read", fingerprint: null }]
        }
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            const session = yield* store.create({ sessionId: "task", workspace: WORKSPACE, delegated })
            assert.deepStrictEqual(session.delegated, { _tag: "Delegated", permissions: delegated })
            yield* session.append([user("do it"), assistant("", ["c1"])])
            const root = yield* store.create({ sessionId: "root", workspace: WORKSPACE })
            yield* root.append([user("hi")])
            assert.deepStrictEqual(
              (yield* store.list(firstPage)).entries.map((entry) => entry.session_id),
              ["root"]
            )
          })
        )
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            const session = yield* store.open({ sessionId: "task", workspace: WORKSPACE })
            assert.deepStrictEqual(session.delegated, { _tag: "Delegated", permissions: delegated })
            const page = yield* session.page({
              revision: yield* session.revision,
              cursor: null,
              limit: 10,
              cards: false
            })
            assert.deepStrictEqual(
              page.entries.map((entry) => [entry.kind, entry.task_id, entry.tool?.status]),
              [
                ["user", "task", undefined],
                ["tool", "task", "unknown"]
              ]
            )
            const root = yield* store.open({ sessionId: "root", workspace: WORKSPACE })
            assert.deepStrictEqual(root.delegated, { _tag: "TopLevel" })
            assert.deepStrictEqual(
              (yield* store.list(firstPage)).entries.map((entry) => entry.session_id),
              ["root"]
            )
          })
        )
      })
  )

  it.live("a delegated session whose permissions are damaged or were never saved is recognised as such", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const delegated = { version: 1, mode: "inspect", profile: null, depth: 1, direct: [], code_mode: [] } as const
      yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "task", workspace: WORKSPACE, delegated }), (session) =>
          session.append([user("do it")])
        )
      )
      for (const [stored, permissions] of [
        ["'{'", "damaged"],
        ['\'{"version":1,"mode":"root"}\'', "damaged"],
        ["NULL", "absent"]
      ] as const) {
        const db = new DatabaseSync(join(home, "sessions", "task.db"))
        db.exec(`UPDATE session SET permissions = ${stored}`)
        db.close()
        yield* withSession(home, "task", (session) =>
          Effect.sync(() => assert.deepStrictEqual(session.delegated, { _tag: "Delegated", permissions }))
        )
      }
    })
  )
})
