/**
 * A thousand turns over fifty sessions in two processes that are killed at random: everything acknowledged is there, in
 * order, and `verify` accepts the store. `MC_STORE_TURNS` sets the number of turns (default 1000).
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { verify } from "../../src/store/Verify.ts"
import { bundled, freshHome, WORKSPACE, withStore } from "./support.ts"

const SESSIONS = 50
const turns = Number(process.env["MC_STORE_TURNS"] ?? "1000")

/** Runs one process until it is killed, after a random time; gives what it said was acknowledged. */
const life = (folder: string, home: string, seen: Map<string, Array<string>>) =>
  Effect.callback<number>((resume) => {
    let finished = 0
    const child = spawn(process.execPath, [join(folder, "turns.mjs"), home, String(SESSIONS)], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let timer: NodeJS.Timeout | undefined
    const lines = createInterface({ input: child.stdout })
    lines.on("line", (line) => {
      timer ??= setTimeout(() => child.kill("SIGKILL"), 50 + Math.random() * 900)
      if (line === "turn") {
        finished += 1
        return
      }
      const [session, entry] = line.split(" ")
      if (session === undefined || entry === undefined) return
      const entries = seen.get(session)
      if (entries === undefined) seen.set(session, [entry])
      else entries.push(entry)
    })
    const ended = Promise.all([
      new Promise((done) => child.once("exit", done)),
      new Promise((done) => lines.once("close", done))
    ])
    void ended.then(() => {
      clearTimeout(timer)
      resume(Effect.succeed(child.signalCode === "SIGKILL" ? finished : Number.NaN))
    })
  })

describe("two processes that are killed at random", () => {
  it.live(
    `lose nothing in ${turns} turns over ${SESSIONS} sessions`,
    () =>
      Effect.gen(function* () {
        const home = yield* freshHome
        const folder = yield* bundled
        const seen = new Map<string, Array<string>>()
        let finished = 0
        const lives = Effect.gen(function* () {
          while (finished < turns) {
            const more = yield* life(folder, home, seen)
            assert.isFalse(Number.isNaN(more), "a process ended by itself")
            finished += more
          }
        })
        yield* Effect.all([lives, lives], { concurrency: 2, discard: true })
        for (const report of yield* verify(home)) assert.deepStrictEqual(report.problems, [], report.path)
        yield* withStore(home, (store) =>
          Effect.gen(function* () {
            const list = yield* store.list({ workspace: WORKSPACE, revision: null, cursor: null, limit: 100 })
            // One whose first append was made but not heard of any more may be there beside them.
            const listed = new Set(list.entries.map((entry) => entry.session_id))
            for (const sessionId of seen.keys()) assert.isTrue(listed.has(sessionId), sessionId)
            for (const [sessionId, entries] of seen) {
              const open = store.open({ sessionId, workspace: WORKSPACE })
              const read = Effect.scoped(Effect.flatMap(open, (session) => session.records))
              const records = yield* read
              const ids = records.map((record) => record.entryId)
              const places = new Map(ids.map((id, place) => [id, place]))
              const lost = entries.filter((entry) => !places.has(entry))
              assert.deepStrictEqual(lost, [], sessionId)
              assert.deepStrictEqual(yield* read, records, "recovered once")
            }
          })
        )
        for (const report of yield* verify(home)) {
          assert.deepStrictEqual([report.problems, report.openCalls], [[], 0], report.path)
        }
      }),
    120_000
  )
})
