/** base-protocol section 4: sessions, for the store that keeps them in memory. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { MemorySessionStore } from "../../src/store/MemorySessionStore.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { SessionStore } from "../../src/store/SessionStore.ts"

const record = (entryId: string, text: string): SessionRecord => ({
  entryId,
  createdAt: "2026-01-01T00:00:00.000Z",
  runId: "r",
  kind: "user",
  text
})
const ended = (entryId: string): SessionRecord => ({
  entryId,
  createdAt: "2026-01-01T00:00:00.000Z",
  runId: "r",
  kind: "call_outcome",
  callKey: "k",
  name: "tool",
  taskId: null,
  parentKey: null,
  status: "success",
  outcome: { success: true, text: "", error: null },
  card: null
})

const withStore = <A, E>(body: (store: typeof SessionStore.Service) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.scoped(Effect.flatMap(SessionStore, body)).pipe(Effect.provide(MemorySessionStore))

describe("MemorySessionStore", () => {
  it.effect("a session with nothing saved is not durable, not listed and cannot be opened", () =>
    withStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.create({ sessionId: "a", workspace: "/w" })
        assert.isFalse(yield* session.durable)
        const list = yield* store.list({ workspace: "/w", revision: null, cursor: null, limit: 10 })
        assert.deepStrictEqual([list.entries, list.complete, list.cursor], [[], true, null])
        assert.strictEqual(
          (yield* Effect.flip(store.open({ sessionId: "b", workspace: "/w" })))._tag,
          "SessionUnavailable"
        )
      })
    )
  )

  it.effect("an append changes the revision; a second outcome of a call is refused whole", () =>
    withStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.create({ sessionId: "a", workspace: "/w" })
        const before = yield* session.revision
        const after = yield* session.append([record("1", "x"), ended("2")])
        assert.notStrictEqual(before, after)
        assert.isTrue(yield* session.durable)
        yield* Effect.flip(session.append([record("3", "y"), ended("4")]))
        assert.deepStrictEqual([(yield* session.records).length, yield* session.revision], [2, after])
      })
    )
  )

  it.effect("is locked until its scope closes, and belongs to its workspace", () =>
    withStore((store) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const session = yield* Scope.provide(store.create({ sessionId: "a", workspace: "/w" }), scope)
        yield* session.append([record("1", "x")])
        const open = (workspace: string) => store.open({ sessionId: "a", workspace })
        const refused = (workspace: string) =>
          Effect.map(Effect.flip(open(workspace)), (error) => (error._tag === "SessionUnavailable" ? error.code : ""))
        assert.strictEqual(yield* refused("/w"), "session_busy")
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* refused("/other"), "workspace_mismatch")
        assert.strictEqual((yield* (yield* open("/w")).records).length, 1)
      })
    )
  )

  it.effect("pages name the current revision and give every entry once", () =>
    withStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.create({ sessionId: "a", workspace: "/w" })
        const revision = yield* session.append([record("1", "€".repeat(8000)), record("2", "x"), ended("3")])
        const texts: Array<string> = []
        let cursor: string | null = null
        for (let n = 0; n < 10; n++) {
          const page: { entries: ReadonlyArray<{ entry_id: string; text: string }>; cursor: string | null } =
            yield* session.page({ revision, cursor, limit: 1, cards: false })
          texts.push(...page.entries.map((entry) => `${entry.entry_id}:${entry.text.length}`))
          cursor = page.cursor
          if (cursor === null) break
        }
        assert.deepStrictEqual(texts, ["1:5461", "1:2539", "2:1", "3:0"])
        yield* Effect.flip(session.page({ revision: "old", cursor: null, limit: 1, cards: false }))
      })
    )
  )
})
