/** One writer a session. base-protocol section 4: `session_busy` while another process writes it. */

import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { assistant, bundled, driver, freshHome, started, user, WORKSPACE, withSession, withStore } from "./support.ts"

describe("the lease of a session", () => {
  it.live("a live holder makes it busy, also before its first close; when it lets go, the next takes it", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const folder = yield* bundled
      const [a, b] = [yield* driver(folder, home), yield* driver(folder, home)]
      yield* a.ask({ op: "create", id: "s" })
      assert.strictEqual((yield* b.ask({ op: "open", id: "s" })).error?.code, "session_not_found")
      yield* a.ask({ op: "append", id: "s", records: [user("one")] })
      const refused = yield* b.ask({ op: "open", id: "s" })
      assert.strictEqual(refused.error?.code, "session_busy")
      assert.include(refused.error?.message ?? "", "another magi-code")
      yield* a.ask({ op: "append", id: "s", records: [user("two")] })
      yield* a.ask({ op: "close", id: "s" })
      assert.isTrue((yield* b.ask({ op: "open", id: "s" })).ok)
      assert.strictEqual((yield* a.ask({ op: "open", id: "s" })).error?.code, "session_busy")
      assert.isTrue((yield* b.ask({ op: "append", id: "s", records: [user("three")] })).ok)
      assert.strictEqual(yield* b.end, 0)
      assert.isTrue((yield* a.ask({ op: "open", id: "s" })).ok)
    })
  )

  it.live(
    "a holder that was killed blocks nobody, and its call in flight is unknown once, however often it is opened",
    () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        const holder = yield* driver(yield* bundled, home)
        yield* holder.ask({ op: "create", id: "s" })
        yield* holder.ask({ op: "append", id: "s", records: [user("q"), assistant("", ["c1", "c2"])] })
        yield* holder.ask({ op: "append", id: "s", records: [started("c1")] })
        yield* holder.kill
        const open = withSession(home, "s", (session) => Effect.all([session.revision, session.records]))
        const [revision, records] = yield* open
        assert.deepStrictEqual(
          records.slice(3).map((record) => record.kind === "call_outcome" && [record.callKey, record.status]),
          [
            ["c1", "unknown"],
            ["c2", "unknown"]
          ]
        )
        assert.deepStrictEqual(yield* open, [revision, records])
      })
  )

  it.live("one that looks at a file for a moment does not make it busy", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "s", workspace: WORKSPACE }), (session) => session.append([user("a")]))
      )
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          yield* store.list({ workspace: WORKSPACE, revision: null, cursor: null, limit: 1 })
          const look = new DatabaseSync(join(home, "sessions", "s.db"))
          look.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
          const opened = yield* Effect.forkChild(store.open({ sessionId: "s", workspace: WORKSPACE }), {
            startImmediately: true
          })
          yield* Effect.sleep(100)
          assert.isUndefined(opened.pollUnsafe())
          look.close()
          yield* Fiber.join(opened)
        })
      )
    })
  )

  it.live("a suspended holder is a live one", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const holder = yield* driver(yield* bundled, home)
      yield* holder.ask({ op: "create", id: "s" })
      yield* holder.ask({ op: "append", id: "s", records: [user("one")] })
      yield* Effect.addFinalizer(() => Effect.sync(() => holder.process.kill("SIGCONT")))
      holder.process.kill("SIGSTOP")
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
          assert.strictEqual(error._tag === "SessionUnavailable" && error.code, "session_busy")
          const other = yield* store.create({ sessionId: "t", workspace: WORKSPACE })
          yield* other.append([user("not its business")])
          holder.process.kill("SIGCONT")
          assert.isTrue((yield* holder.ask({ op: "append", id: "s", records: [user("two")] })).ok)
        })
      )
    })
  )

  it.live("the same holds for processes that run from source", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const script = fileURLToPath(new URL("./children/driver.ts", import.meta.url))
      const holder = yield* driver("", home, { script })
      yield* holder.ask({ op: "create", id: "s" })
      assert.isTrue((yield* holder.ask({ op: "append", id: "s", records: [user("one")] })).ok)
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
          assert.strictEqual(error._tag === "SessionUnavailable" && error.code, "session_busy")
          yield* holder.kill
          yield* store.open({ sessionId: "s", workspace: WORKSPACE })
        })
      )
    })
  )
})
