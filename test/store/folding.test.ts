/** The log of a session's file is folded in a pause, not while somebody waits, and its size is bounded all the same. */
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { rowOfRecord } from "../../src/store/RecordCodec.ts"
import { IdleFolding } from "../../src/store/sqlite/IdleFolding.ts"
import { SessionFile } from "../../src/store/sqlite/SessionFile.ts"
import { StoreEngine } from "../../src/store/sqlite/StoreEngine.ts"
import { sessionPath } from "../../src/store/sqlite/StoreFolder.ts"
import { temporary, user } from "./support.ts"

const create = {
  workspace: "/w",
  createdAt: "2026-01-01T00:00:00.000Z",
  title: null,
  delegated: false,
  permissions: null
}

const KIB = "k".repeat(1024)

/** An open session file. */
const opened = Effect.gen(function* () {
  const path = join(yield* temporary, "sessions", "s.db")
  mkdirSync(dirname(path))
  return yield* Effect.acquireRelease(
    Effect.sync(() => SessionFile.create("s", path, create, (file) => file.append([rowOfRecord(user("first"), 1)]))),
    (file) => Effect.sync(() => file.close())
  )
})

/** Commits so many records of a kilobyte at once. */
const write = (file: SessionFile, kilobytes: number): void => {
  const rows = Array.from({ length: kilobytes }, () => rowOfRecord(user(KIB), 1))
  assert.deepStrictEqual(file.commit([(open) => open.append(rows)]), [null])
}

/** True if a text is in the file itself, not in its log alone. */
const folded = (file: SessionFile, text: string): boolean => readFileSync(file.path).includes(text)

const writeOne = (file: SessionFile, text: string): void => {
  file.commit([(open) => open.append([rowOfRecord(user(text), 1)])])
}

describe("folding", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.effect("happens once nothing was committed for a tenth of a second, and the log begins anew", () =>
    Effect.gen(function* () {
      const file = yield* opened
      const folding = new IdleFolding()
      write(file, 1500)
      writeOne(file, "the last of all")
      folding.committed(file)
      vi.advanceTimersByTime(60)
      folding.committed(file)
      vi.advanceTimersByTime(99)
      assert.isFalse(folded(file, "the last of all"))
      const log = statSync(`${file.path}-wal`).size
      vi.advanceTimersByTime(1)
      assert.isTrue(folded(file, "the last of all"))
      assert.strictEqual(file.unfolded, 0)
      assert.strictEqual(vi.getTimerCount(), 0)
      write(file, 1000)
      assert.strictEqual(statSync(`${file.path}-wal`).size, log)
      assert.strictEqual(file.state.lastSeq, 2502)
    })
  )

  it.effect("is left out for a small log, and after the file or everything was closed", () =>
    Effect.gen(function* () {
      const file = yield* opened
      const folding = new IdleFolding()
      write(file, 500)
      folding.committed(file)
      assert.strictEqual(vi.getTimerCount(), 0)
      write(file, 1000)
      folding.committed(file)
      folding.forget(file)
      vi.advanceTimersByTime(1000)
      assert.isAbove(file.unfolded, 0)
      folding.committed(file)
      folding.close()
      assert.strictEqual(vi.getTimerCount(), 0)
    })
  )

  it.effect("of one file a pause, so that what is asked meanwhile waits for one", () =>
    Effect.gen(function* () {
      const files = [yield* opened, yield* opened]
      const folding = new IdleFolding()
      for (const file of files) {
        write(file, 1200)
        folding.committed(file)
      }
      const waiting = () => files.filter(({ unfolded }) => unfolded > 0).length
      vi.advanceTimersByTime(100)
      assert.strictEqual(waiting(), 1)
      vi.advanceTimersByTime(100)
      assert.strictEqual(waiting(), 0)
    })
  )

  it.effect("waits for a commit that is under way, and the commit is made", () =>
    Effect.gen(function* () {
      const file = yield* opened
      write(file, 1200)
      file.stage((open) => open.append([rowOfRecord(user("half"), 1)]))
      file.fold()
      assert.isAbove(file.unfolded, 0)
      assert.deepStrictEqual(file.settle(), [null])
      file.fold()
      assert.strictEqual(file.unfolded, 0)
      assert.isTrue(folded(file, "half"))
    })
  )

  it.effect("is what the store does after its commits, and no more once it is stopped", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const store = new StoreEngine(home, () => {})
      const append = (id: number, text: string, count: number): void => {
        const rows = Array.from({ length: count }, () => rowOfRecord(user(text), 1))
        store.receive([{ id, request: { op: "append", session: "s", create: id === 0 ? create : null, rows } }], false)
        vi.advanceTimersByTime(1)
      }
      const holds = (text: string): boolean => readFileSync(sessionPath(home, "s") ?? "").includes(text)
      append(0, "first", 1)
      append(1, KIB, 1200)
      append(2, "the last of all", 1)
      assert.isFalse(holds("the last of all"))
      vi.advanceTimersByTime(100)
      assert.isTrue(holds("the last of all"))
      append(3, KIB, 1200)
      store.receive([{ id: 4, request: { op: "stop" } }], false)
      assert.strictEqual(vi.getTimerCount(), 0)
    })
  )

  it.effect("without a pause the log stays within its bound", () =>
    Effect.gen(function* () {
      const file = yield* opened
      for (let n = 0; n < 300; n++) write(file, 64)
      assert.isBelow(statSync(`${file.path}-wal`).size, 9_000_000)
      assert.isAbove(statSync(file.path).size, 9_000_000)
    })
  )
})
