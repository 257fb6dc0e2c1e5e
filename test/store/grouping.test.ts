/** Writes that wait together share one commit, in the order in which they were asked for, and nobody sees it half made. */
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entryCountOf } from "../../src/store/HistoryEntries.ts"
import { rowOfRecord } from "../../src/store/RecordCodec.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import type { AnswerMessage, RequestMessage } from "../../src/store/StoreMessages.ts"
import { SessionFile } from "../../src/store/sqlite/SessionFile.ts"
import { StoreEngine } from "../../src/store/sqlite/StoreEngine.ts"
import { freshHome, outcome, started, temporary, user, WORKSPACE, withSession, withStore } from "./support.ts"

const create = {
  workspace: WORKSPACE,
  createdAt: "2026-01-01T00:00:00.000Z",
  title: null,
  delegated: false,
  permissions: null
}

const append = (id: number, records: ReadonlyArray<SessionRecord>, first = false): RequestMessage => ({
  id,
  request: {
    op: "append",
    session: "s",
    create: first ? create : null,
    rows: records.map((record) => rowOfRecord(record, entryCountOf(record)))
  }
})

/** The store of the worker, in this thread, with one session in it, and what it has posted since. */
const engine = Effect.gen(function* () {
  const home = yield* freshHome
  const posted: Array<ReadonlyArray<AnswerMessage>> = []
  const store = yield* Effect.acquireRelease(
    Effect.sync(() => new StoreEngine(home, (answers) => posted.push(answers))),
    (made) => Effect.sync(() => made.receive([{ id: -1, request: { op: "stop" } }], false))
  )
  store.receive([append(0, [user("first")], true)], false)
  posted.length = 0
  return { home, posted, store }
})

/** Every callback that is due has run. */
const turned = Effect.promise(async () => {
  for (let turn = 0; turn < 3; turn++) await setImmediate()
})

describe("commits", () => {
  it.live("wait for the rest of a turn that is sent in parts, and answer all of it at once", () =>
    Effect.gen(function* () {
      const { posted, store } = yield* engine
      store.receive([append(1, [user("a")]), append(2, [user("b")])], true)
      yield* turned
      assert.deepStrictEqual(posted, [])
      store.receive([append(3, [user("c")])], false)
      yield* turned
      assert.deepStrictEqual(
        posted.map((answers) => answers.map(({ ids }) => ids)),
        [[[1, 2, 3]]]
      )
      store.receive([append(4, [user("d")])], true)
      store.receive([], false)
      yield* turned
      assert.deepStrictEqual(
        posted.slice(1).map((answers) => answers.map(({ ids }) => ids)),
        [[[4]]]
      )
    })
  )

  it.live("are made before what is asked after them is answered", () =>
    Effect.gen(function* () {
      const { posted, store } = yield* engine
      store.receive([append(1, [user("a")]), { id: 2, request: { op: "read", session: "s", after: 0 } }], true)
      const [written, read] = posted.flat()
      assert.deepStrictEqual([written?.ids, read?.ids], [[1], [2]])
      assert.strictEqual(read?.answer.ok && read.answer.reply.op === "read" && read.answer.reply.value.bodies.length, 2)
      store.receive([], false)
    })
  )

  it.effect("are what a session's file says of itself only once they are made", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "s.db")
      const rows = [rowOfRecord(user("a"), 1)]
      const file = SessionFile.create("s", path, create, (made) => made.append(rows))
      const before = [file.state, file.revision]
      file.stage((open) => open.append([rowOfRecord(user("b"), 1)]))
      file.stage((open) => open.setTitle("b"))
      assert.deepStrictEqual([file.state, file.revision], before)
      file.settle()
      assert.deepStrictEqual([file.state.lastSeq, file.state.title], [2, "b"])
      file.close()
    })
  )

  it.live("leave out the write that breaks a rule, in whatever part of a turn it comes, and keep the others", () =>
    Effect.gen(function* () {
      const { home, posted, store } = yield* engine
      store.receive([append(1, [started("c")]), append(2, [outcome("c")])], true)
      store.receive([append(3, [user("x"), started("c")]), append(4, [user("kept")])], true)
      store.receive([append(5, [user("kept too")])], false)
      yield* turned
      const answers = new Map(posted.flat().flatMap(({ answer, ids }) => ids.map((id) => [id, answer])))
      assert.deepStrictEqual(
        [1, 2, 3, 4, 5].map((id) => answers.get(id)?.ok),
        [true, true, false, true, true]
      )
      store.receive([{ id: 6, request: { op: "close", session: "s" } }], false)
      const records = yield* withSession(home, "s", (session) => session.records)
      assert.deepStrictEqual(
        records.map((record) => ("text" in record ? record.text : record.kind)),
        ["first", "call_started", "call_outcome", "kept", "kept too"]
      )
    })
  )

  it.live("of more appends than one message takes are all there, in order", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const texts = Array.from({ length: 100 }, (_, at) => `m${at}`)
      yield* withStore(home, (store) =>
        Effect.gen(function* () {
          const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
          yield* session.append([user("first")])
          const append = (text: string) => session.append([user(text)])
          const revisions = yield* Effect.forEach(texts, append, { concurrency: "unbounded" })
          // Asked for in one turn, so one commit: every append hears of the same revision.
          assert.strictEqual(new Set(revisions).size, 1)
          assert.strictEqual(yield* session.revision, revisions[0])
        })
      )
      const records = yield* withSession(home, "s", (session) => session.records)
      assert.deepStrictEqual(
        records.map((record) => ("text" in record ? record.text : "")),
        ["first", ...texts]
      )
    })
  )
})
