/**
 * Files that are missing, foreign, newer, damaged, read-only, or do not fit on the disk: a clear error that names the
 * file, nothing lost that was acknowledged, other sessions unharmed.
 */
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import { verifyFile } from "../../src/store/Verify.ts"
import {
  bundled,
  driver,
  freshHome,
  furnishing,
  giveAway,
  nobody,
  temporary,
  turn,
  user,
  WORKSPACE,
  withSession,
  withStore
} from "./support.ts"

const file = (home: string, id = "s"): string => join(home, "sessions", `${id}.db`)

/** A home with the sessions `s` and `t` of some turns each; gives the records of `s`. */
const furnished = furnishing((home) =>
  withStore(home, (store) =>
    Effect.gen(function* () {
      const records: Array<SessionRecord> = []
      const s = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
      for (let n = 0; n < 30; n++) {
        const next = turn(`c${n}`)
        records.push(...next)
        yield* s.append(next)
      }
      const t = yield* store.create({ sessionId: "t", workspace: WORKSPACE })
      yield* t.append(turn("c"))
      return records
    })
  )
)

/** What opening `s` says, in a store in which `t` can be used before and after. */
const opening = (home: string) =>
  withStore(home, (store) =>
    Effect.gen(function* () {
      const other = yield* store.open({ sessionId: "t", workspace: WORKSPACE })
      const error = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
      yield* other.append([user("still works")])
      return error._tag === "SessionUnavailable"
        ? { code: error.code, message: error.message }
        : { code: "persistence_failed", message: error.message }
    })
  )

const pragma = (path: string, text: string): void => {
  const db = new DatabaseSync(path)
  db.exec(text)
  db.close()
}

describe("a session's file", () => {
  const cases: ReadonlyArray<readonly [string, (path: string) => void, string, string]> = [
    ["missing", (path) => rmSync(path), "session_not_found", "no session"],
    ["empty, as after a death while it was made", (path) => writeFileSync(path, ""), "session_not_found", "no session"],
    ["text", (path) => writeFileSync(path, "hello\n".repeat(2000)), "session_invalid", "not a session file"],
    ["cut short", (path) => writeFileSync(path, readFileSync(path).subarray(0, 9000)), "session_invalid", "damaged"],
    [
      "cut within its header",
      (path) => writeFileSync(path, readFileSync(path).subarray(0, 60)),
      "session_invalid",
      "session"
    ],
    [
      "another program's database",
      (path) => {
        rmSync(path)
        pragma(path, "CREATE TABLE x (a); PRAGMA application_id = 7")
      },
      "session_invalid",
      "another program"
    ],
    ["of a newer version", (path) => pragma(path, "PRAGMA user_version = 99"), "session_invalid", "newer magi-code"],
    [
      "without its rules",
      (path) => pragma(path, "DROP INDEX one_outcome_a_call"),
      "session_invalid",
      "lacks the rules"
    ],
    ["without its session", (path) => pragma(path, "DELETE FROM session"), "session_invalid", "damaged"],
    [
      "with a record missing",
      (path) =>
        pragma(
          path,
          `DROP TRIGGER record_is_never_removed; DELETE FROM record WHERE seq = 7;
           CREATE TRIGGER record_is_never_removed BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'records are append-only'); END`
        ),
      "session_invalid",
      "damaged"
    ],
    [
      "another session's",
      (path) => copyFileSync(path.replace("s.db", "t.db"), path),
      "session_invalid",
      "another session"
    ],
    [
      "a folder",
      (path) => {
        rmSync(path)
        mkdirSync(path)
      },
      "session_invalid",
      "not a plain file"
    ],
    [
      "a link",
      (path) => {
        renameSync(path, `${path}.away`)
        symlinkSync(`${path}.away`, path)
      },
      "session_invalid",
      "not a plain file"
    ],
    [
      "a FIFO",
      (path) => {
        rmSync(path)
        execFileSync("mkfifo", [path])
      },
      "session_invalid",
      "not a plain file"
    ],
    ["writable by others", (path) => chmodSync(path, 0o666), "persistence_failed", "chmod go-w"]
  ]
  for (const [what, spoil, code, says] of cases) {
    it.live(`${what}: ${code}`, () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        yield* furnished(home)
        spoil(file(home))
        const before = code === "session_invalid" && statSync(file(home)).isFile() ? readFileSync(file(home)) : null
        const error = yield* opening(home)
        assert.strictEqual(error.code, code, error.message)
        assert.include(error.message, says)
        if (code !== "session_not_found") assert.include(error.message, "s.db")
        assert.notInclude(error.message, "SENTINEL")
        // What was refused is left as it was, for whoever wants to rescue it.
        if (before !== null) assert.isTrue(before.equals(readFileSync(file(home))))
      })
    )
  }

  it.live("restored from a plain copy it is opened, whatever its journal mode", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const records = yield* furnished(home)
      pragma(file(home), `VACUUM INTO '${file(home)}.copy'`)
      renameSync(`${file(home)}.copy`, file(home))
      yield* withSession(home, "s", (session) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* session.records, records)
          yield* session.append([user("and it is written in WAL mode")])
          assert.isTrue(statSync(`${file(home)}-wal`).isFile())
          assert.strictEqual(statSync(file(home)).mode & 0o777, 0o600)
        })
      )
    })
  )

  it.live(
    "with any byte changed it gives what was written, or says that it is damaged: never something else",
    () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        const records = yield* furnished(home)
        const path = file(home)
        const sound = readFileSync(path)
        let refused = 0
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            for (let trial = 0; trial < 150; trial++) {
              const bytes = Buffer.from(sound)
              const place = Math.floor((trial / 150) * bytes.length) + (trial % 37)
              bytes[place] = (bytes[place] ?? 0) ^ (1 << (trial % 8))
              for (const rest of ["-wal", "-journal"]) rmSync(path + rest, { force: true })
              writeFileSync(path, bytes)
              const open = store.open({ sessionId: "s", workspace: WORKSPACE })
              const exit = yield* Effect.exit(Effect.scoped(Effect.flatMap(open, (session) => session.records)))
              if (exit._tag === "Success") assert.deepStrictEqual(exit.value, records, `byte ${place}`)
              else refused += 1
            }
          })
        )
        // A byte where the file is empty shows nowhere; where the others lie depends on the ids a little.
        assert.isAbove(refused, 30)
      }),
    60_000
  )

  it.live(
    "whose log is gone or cut has lost records, and says so as long as the index remembers",
    () =>
      Effect.gen(function* () {
        const folder = yield* bundled
        const spoilings = [
          (path: string) => rmSync(path),
          (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 20_000)),
          (path: string) => {
            const bytes = readFileSync(path)
            bytes[bytes.length - 5000] = (bytes[bytes.length - 5000] ?? 0) ^ 1
            writeFileSync(path, bytes)
          }
        ]
        const lost = Effect.fnUntraced(function* (spoil: (path: string) => void) {
          const home = yield* freshHome
          yield* furnished(home)
          const holder = yield* driver(folder, home)
          yield* holder.ask({ op: "open", id: "s" })
          for (let n = 0; n < 10; n++) yield* holder.ask({ op: "append", id: "s", records: [user("x".repeat(5000))] })
          yield* holder.ask({ op: "list" })
          yield* holder.kill
          spoil(`${file(home)}-wal`)
          for (const _ of ["at once", "and again after a list"]) {
            const error = yield* opening(home)
            assert.strictEqual(error.code, "session_invalid", error.message)
            assert.include(error.message, "lacks records that were saved")
            yield* withStore(home, (store) =>
              store.list({ workspace: WORKSPACE, revision: null, cursor: null, limit: 100 })
            )
          }
          for (const rest of ["", "-wal", "-shm"]) rmSync(join(home, `sessions-index-1.db${rest}`), { force: true })
          yield* withSession(home, "s", (session) => session.append([user("accepted as it is")]))
        })
        yield* Effect.forEach(spoilings, lost, { concurrency: "unbounded", discard: true })
      }),
    60_000
  )

  it.live("that this user may not write, in a folder that may not be written: read-only, nothing changed", () =>
    Effect.gen(function* () {
      const outer = yield* temporary
      const folder = join(outer, "programs")
      execFileSync("cp", ["-r", yield* bundled, folder])
      execFileSync("chmod", ["-R", "a+rX", outer])
      const home = join(outer, "home")
      mkdirSync(home, { mode: 0o700 })
      giveAway(home)
      const options = nobody === undefined ? {} : { uid: nobody }
      const first = yield* driver(folder, home, options)
      yield* first.ask({ op: "create", id: "s" })
      assert.isTrue((yield* first.ask({ op: "append", id: "s", records: turn("c") })).ok)
      yield* first.end
      chmodSync(file(home), 0o400)
      const second = yield* driver(folder, home, options)
      const refused = yield* second.ask({ op: "open", id: "s" })
      assert.strictEqual(refused.error?._tag, "PersistenceFailed")
      assert.include(refused.error?.message ?? "", "may not be written")
      chmodSync(file(home), 0o600)
      chmodSync(join(home, "sessions"), 0o500)
      yield* second.ask({ op: "create", id: "new" })
      const failed = yield* second.ask({ op: "append", id: "new", records: [user("x")] })
      assert.strictEqual(failed.error?._tag, "PersistenceFailed")
      assert.include(failed.error?.message ?? "", "new.db may not be written")
      chmodSync(join(home, "sessions"), 0o700)
      assert.isTrue((yield* second.ask({ op: "append", id: "new", records: [user("x")] })).ok, "it may try again")
      assert.isTrue((yield* second.ask({ op: "open", id: "s" })).ok)
      assert.isTrue(Array.isArray((yield* second.ask({ op: "records", id: "s" })).value))
    })
  )
})

describe("a disk that does not take a write", () => {
  const mounted = (folder: string): boolean =>
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=600k,mode=0755", "tmpfs", folder]).status === 0

  it.live(
    "full: the append fails as a whole, what was acknowledged stays, and it goes on when there is space",
    (context) =>
      Effect.gen(function* () {
        const disk = yield* temporary
        // Needs a file system of its own, which only root can mount.
        if (!mounted(disk)) return context.skip()
        yield* Effect.addFinalizer(() => Effect.sync(() => spawnSync("umount", ["-l", disk])))
        const home = join(disk, "home")
        const ballast = join(disk, "ballast")
        writeFileSync(ballast, Buffer.alloc(100_000))
        const acknowledged: Array<SessionRecord> = []
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
            for (;;) {
              const records = [user("x".repeat(3000)), user("y".repeat(3000))]
              const exit = yield* Effect.result(session.append(records))
              if (exit._tag === "Failure") {
                assert.include(exit.failure.message, "no space left")
                break
              }
              acknowledged.push(...records)
            }
            assert.isAbove(acknowledged.length, 4)
            const other = yield* store.create({ sessionId: "t", workspace: WORKSPACE })
            assert.include((yield* Effect.flip(other.append([user("x".repeat(90_000))]))).message, "no space left")
            assert.deepStrictEqual(yield* session.records, acknowledged)
            rmSync(ballast)
            const last = user("after space was made")
            yield* session.append([last])
            yield* other.append([user("x")])
            acknowledged.push(last)
          })
        )
        yield* withSession(home, "s", (session) =>
          Effect.map(session.records, (records) => assert.deepStrictEqual(records, acknowledged))
        )
        assert.deepStrictEqual(verifyFile(file(home)).problems, [])
      })
  )

  it.live("a limit on the size of files: the same", () =>
    Effect.gen(function* () {
      const folder = yield* bundled
      const home = yield* freshHome
      const limited = join(yield* temporary, "limited.sh")
      // 512-byte blocks: a session's log may not grow beyond 300 KiB.
      writeFileSync(limited, `ulimit -f 600; exec "${process.execPath}" "${join(folder, "driver.mjs")}" "$1" 0\n`)
      const child = yield* driver(folder, home, { command: "sh", script: limited })
      yield* child.ask({ op: "create", id: "s" })
      let acknowledged = 0
      for (;;) {
        const { error, ok } = yield* child.ask({ op: "append", id: "s", records: [user("x".repeat(9000))] })
        if (!ok) {
          assert.strictEqual(error?._tag, "PersistenceFailed")
          assert.include(error?.message ?? "", "did not take")
          break
        }
        acknowledged += 1
      }
      assert.isAbove(acknowledged, 4)
      yield* child.kill
      yield* withSession(home, "s", (session) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* session.records).length, acknowledged)
          yield* session.append([user("goes on")])
        })
      )
    })
  )
})

describe("MC_HOME", () => {
  const refusal = (home: string) =>
    withStore(home, (store) =>
      Effect.gen(function* () {
        const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
        const append = yield* Effect.flip(session.append([user("x")]))
        const open = yield* Effect.flip(store.open({ sessionId: "s", workspace: WORKSPACE }))
        const list = yield* Effect.flip(store.list({ workspace: WORKSPACE, revision: null, cursor: null, limit: 1 }))
        assert.strictEqual(open._tag, "PersistenceFailed")
        assert.deepStrictEqual([open.message, list.message], [append.message, append.message])
        return append.message
      })
    )

  it.live("writable by others is refused, whatever is asked; so is its sessions folder", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      mkdirSync(join(home, "sessions"), { recursive: true, mode: 0o700 })
      for (const folder of [home, join(home, "sessions")]) {
        for (const mode of [0o770, 0o702]) {
          chmodSync(folder, mode)
          assert.include(yield* refusal(home), `${folder} can be written by other users`)
        }
        chmodSync(folder, 0o700)
      }
    })
  )

  it.live("of another owner is refused", (context) =>
    Effect.gen(function* () {
      if (nobody === undefined) return context.skip()
      const home = yield* freshHome
      mkdirSync(home, { mode: 0o700 })
      chownSync(home, nobody, nobody)
      assert.include(yield* refusal(home), "belongs to another user")
    })
  )

  it.live("that is a file is refused; one that others may read is taken, its sessions made private", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      writeFileSync(home, "")
      const append = yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "s", workspace: WORKSPACE }), (session) =>
          Effect.flip(session.append([user("x")]))
        )
      )
      assert.include(append.message, "not a folder")
      rmSync(home)
      mkdirSync(join(home, "sessions"), { recursive: true, mode: 0o755 })
      yield* withStore(home, (store) =>
        Effect.flatMap(store.create({ sessionId: "s", workspace: WORKSPACE }), (session) => session.append([user("x")]))
      )
      assert.strictEqual(statSync(join(home, "sessions")).mode & 0o777, 0o700)
    })
  )
})
