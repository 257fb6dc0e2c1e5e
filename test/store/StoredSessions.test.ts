/** What the commands do with stored sessions. product section 1: `sessions`, `trace`, `doctor`. */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DelegatedPermissions } from "../../src/store/DelegatedPermissions.ts"
import type { CallTimeline } from "../../src/store/SessionRecord.ts"
import {
  exportSession,
  homeProblem,
  listSessions,
  pruneSessions,
  removeSessions,
  sessionTimeline,
  showSession
} from "../../src/store/StoredSessions.ts"
import { verify, verifyFile } from "../../src/store/Verify.ts"
import {
  assistant,
  bundled,
  driver,
  freshHome,
  furnishing,
  outcome,
  started,
  turn,
  user,
  WORKSPACE,
  withSession,
  withStore
} from "./support.ts"

const permissions: DelegatedPermissions = {
  version: 1,
  mode: "inspect",
  profile: null,
  depth: 1,
  direct: [{ name: "read", fingerprint: null }],
  code_mode: []
}

const row = (callKey: string): CallTimeline => ({
  callKey,
  callId: `u-${callKey}`,
  runId: "r1",
  activityId: "a",
  parentActivityId: null,
  taskId: null,
  name: "client__a",
  registeredMs: 1,
  publishedMs: 2,
  deadlineMs: 30_001,
  settledMs: 5,
  winner: "reply",
  status: "success"
})

const place = (home: string) => ({ home, workspace: WORKSPACE })

/** `root` with two turns of run r1, `task` delegated from that run, `other` apart, `elsewhere` in another workspace. */
const furnished = furnishing((home) =>
  withStore(home, (store) =>
    Effect.gen(function* () {
      const root = yield* store.create({ sessionId: "root", workspace: WORKSPACE })
      yield* root.append(turn("c1", "r1"))
      yield* root.append([...turn("c2", "r1"), { ...outcome("c3"), parentKey: "c2", status: "failure" }])
      yield* root.setTitle("the root")
      yield* root.timeline(row("c2"))
      yield* root.timeline(row("c1"))
      const task = yield* store.create({ sessionId: "task", workspace: WORKSPACE, delegated: permissions })
      yield* task.append([user("SENTINEL-TASK", "r1")])
      const other = yield* store.create({ sessionId: "other", workspace: WORKSPACE })
      yield* other.append([{ ...user("old", "r2"), createdAt: "2020-01-01T00:00:00.000Z" }])
      const elsewhere = yield* store.create({ sessionId: "elsewhere", workspace: "/elsewhere" })
      yield* elsewhere.append([{ ...user("old", "r3"), createdAt: "2020-01-01T00:00:00.000Z" }])
    })
  )
)

const stored = (home: string): ReadonlyArray<string> => readdirSync(join(home, "sessions")).sort()

describe("stored sessions", () => {
  it.live("are listed, shown and exported", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      assert.deepStrictEqual(yield* listSessions(place(home)), [])
      assert.isFalse(existsSync(home))
      yield* furnished(home)
      const listed = yield* listSessions(place(home))
      assert.deepStrictEqual(
        listed.map((entry) => [entry.session_id, entry.title, entry.entry_count]),
        [
          ["root", "the root", 7],
          ["other", null, 1]
        ]
      )
      const shown = yield* showSession(place(home), "root")
      assert.deepStrictEqual([shown.lastSeq, shown.title, shown.delegated], [11, "the root", false])
      assert.deepStrictEqual(shown.calls, { success: 2, failure: 1, cancelled: 0, interrupted: 0, unknown: 0 })
      assert.isAbove(shown.size, 0)
      const exported = yield* exportSession(place(home), "task")
      assert.deepStrictEqual(exported.session.permissions, permissions)
      assert.deepStrictEqual(
        exported.records.map((record) => record.kind === "user" && record.text),
        ["SENTINEL-TASK"]
      )
      assert.deepStrictEqual(JSON.parse(JSON.stringify(exported)), exported)
      for (const [id, kind] of [
        ["none", "session_not_found"],
        ["elsewhere", "workspace_mismatch"]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(showSession(place(home), id))).kind, kind)
      }
      const holder = yield* driver(yield* bundled, home)
      yield* holder.ask({ op: "open", id: "root" })
      assert.strictEqual((yield* Effect.flip(exportSession(place(home), "root"))).kind, "session_busy")
    })
  )

  it.live(
    "have one private timeline row a call, in the order in which the calls ended; the last one given counts",
    () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        yield* furnished(home)
        assert.deepStrictEqual(yield* sessionTimeline(place(home), "root"), [row("c2"), row("c1")])
        yield* withSession(home, "root", (session) => session.timeline({ ...row("c1"), winner: "deadline" }))
        const rows = yield* sessionTimeline(place(home), "root")
        assert.deepStrictEqual(
          rows.map(({ callKey, winner }) => [callKey, winner]),
          [
            ["c2", "reply"],
            ["c1", "deadline"]
          ]
        )
      })
  )

  it.live("are deleted together with what was delegated from them, and overwritten", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* furnished(home)
      const sessions = join(home, "sessions")
      const holder = yield* driver(yield* bundled, home)
      yield* holder.ask({ op: "open", id: "root" })
      const busy = yield* removeSessions(place(home), ["root"])
      assert.deepStrictEqual([busy.removed, busy.kept.map((one) => one.sessionId)], [[], ["root"]])
      // Killed with much of the session still in its log.
      assert.isTrue((yield* holder.ask({ op: "append", id: "root", records: turn("c9", "r1") })).ok)
      yield* holder.kill
      // A second name for the same blocks shows what is left in them.
      for (const name of stored(home)) spawnSync("ln", [join(sessions, name), join(home, `kept-${name}`)])
      const before = readdirSync(home).filter((name) => name.startsWith("kept-"))
      assert.isTrue(before.some((name) => readFileSync(join(home, name)).includes("SENTINEL")))
      const { kept, removed } = yield* removeSessions(place(home), ["root", "elsewhere", "none"])
      assert.deepStrictEqual(removed, ["root", "task"])
      assert.deepStrictEqual(
        kept.map((one) => one.sessionId),
        ["elsewhere", "none"]
      )
      assert.deepStrictEqual(stored(home), ["elsewhere.db", "other.db"])
      for (const name of ["kept-root.db", "kept-root.db-wal", "kept-task.db"]) {
        const bytes = readFileSync(join(home, name))
        assert.isTrue(
          bytes.every((byte) => byte === 0),
          name
        )
      }
      assert.deepStrictEqual(
        (yield* listSessions(place(home))).map((entry) => entry.session_id),
        ["other"]
      )
    })
  )

  it.live("that are damaged can be deleted too", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* furnished(home)
      writeFileSync(join(home, "sessions", "root.db"), "x".repeat(5000))
      assert.deepStrictEqual((yield* removeSessions(place(home), ["root"])).removed, ["root"])
      assert.isFalse(stored(home).includes("root.db"))
    })
  )

  it.live("are pruned by the age of their last record, in this workspace only", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* furnished(home)
      const now = Date.parse("2020-01-11T00:00:00.000Z")
      assert.deepStrictEqual((yield* pruneSessions(place(home), { olderThanDays: 11, now })).removed, [])
      assert.deepStrictEqual((yield* pruneSessions(place(home), { olderThanDays: 9, now })).removed, ["other"])
      assert.deepStrictEqual(stored(home), ["elsewhere.db", "root.db", "task.db"])
    })
  )

  it.live("a home that cannot be trusted is said to be so", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      assert.isNull(yield* homeProblem(home))
      yield* furnished(home)
      assert.isNull(yield* homeProblem(home))
      spawnSync("chmod", ["o+w", home])
      assert.include((yield* homeProblem(home)) ?? "", "other users")
    })
  )
})

/** Changes a stored session behind the program's back. */
const forge = (path: string, sql: string): void => {
  const db = new DatabaseSync(path)
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  db.exec(sql)
  for (const trigger of triggers) db.exec(String(trigger["sql"]))
  db.close()
}

describe("verify", () => {
  it.live("accepts a sound store, calls in flight included, and changes nothing", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* furnished(home)
      const holder = yield* driver(yield* bundled, home)
      yield* holder.ask({ op: "open", id: "root" })
      const open = [assistant("", ["c7", "c8"]), started("c7")]
      assert.isTrue((yield* holder.ask({ op: "append", id: "root", records: open })).ok)
      assert.isTrue(verifyFile(join(home, "sessions", "root.db")).busy)
      yield* holder.kill
      const reports = yield* verify(home)
      assert.deepStrictEqual(
        reports.map((report) => [report.problems, report.records, report.openCalls, report.version, report.busy]),
        [
          [[], 1, 0, 1, false],
          [[], 1, 0, 1, false],
          [[], 13, 2, 1, false],
          [[], 1, 0, 1, false]
        ]
      )
      assert.deepStrictEqual(yield* verify(join(home, "sessions")), reports)
      assert.deepStrictEqual(yield* verify(join(home, "sessions", "root.db")), reports.slice(2, 3))
      assert.include((yield* Effect.flip(verify(join(home, "none")))).message, "does not exist")
    })
  )

  const forgeries: ReadonlyArray<readonly [string, string, RegExp]> = [
    ["a second outcome of a call, its rule removed", "DROP INDEX one_outcome_a_call", /tables and rules/],
    [
      "a changed text",
      "UPDATE record SET body = replace(body, 'question', 'QUESTION') WHERE seq = 1",
      /record 1: .*written/
    ],
    ["columns that differ from the text", "UPDATE record SET kind = 'notice' WHERE seq = 1", /columns differ/],
    ["a gap", "DELETE FROM record WHERE seq = 1", /not in sequence/],
    ["an outcome before its call", "UPDATE record SET seq = 90 WHERE seq = 2", /nobody made/],
    ["a wrong number of entries", "UPDATE record SET entries = 5 WHERE seq = 1", /history entries/],
    [
      "two sessions",
      "INSERT INTO session SELECT 'x', workspace, created_at, title, provider, model, 0, NULL FROM session",
      /exactly one/
    ],
    ["another name", "UPDATE session SET id = 'x'", /another session/],
    ["a newer version", "PRAGMA user_version = 7", /newer magi-code/],
    ["another program's", "PRAGMA application_id = 7", /another program/]
  ]
  for (const [what, sql, says] of forgeries) {
    it.live(`finds ${what}`, () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        yield* furnished(home)
        forge(join(home, "sessions", "root.db"), sql)
        const [report] = yield* verify(join(home, "sessions", "root.db"))
        assert.match(report?.problems.join("; ") ?? "", says)
        assert.notInclude(report?.problems.join("; ") ?? "", "SENTINEL")
      })
    )
  }
})
