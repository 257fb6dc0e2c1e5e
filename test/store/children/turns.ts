/**
 * A process that runs turns over many sessions of a store, as fast as it can, until it is killed. It writes a line for
 * each record that the store has acknowledged, `session entryId`, and a line `turn` at the end of each turn.
 */
import { Effect } from "effect"
import type { SessionRecord } from "../../../src/store/SessionRecord.ts"
import { SessionStore } from "../../../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../../../src/store/SqliteSessionStore.ts"
import { assistant, outcome, started, user } from "../records.ts"

const home = process.argv[2] ?? ""
const sessions = Number(process.argv[3] ?? "1")

const tell = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** A turn with two calls whose outcomes are appended concurrently, and a start that may stay without an outcome. */
const appends = (run: string): ReadonlyArray<ReadonlyArray<ReadonlyArray<SessionRecord>>> => {
  const [a, b] = [`${run}-a`, `${run}-b`]
  return [
    [[user(`question ${run}`, run)]],
    [[assistant("", [a, b], run)]],
    [[started(a, run)], [started(b, run)]],
    [[outcome(a, run)], [outcome(b, run)]],
    [[assistant(`answer ${run}`, [], run)]]
  ]
}

const oneTurn = Effect.gen(function* () {
  const store = yield* SessionStore
  const sessionId = `s${Math.floor(Math.random() * sessions)}`
  const opened = yield* Effect.result(store.open({ sessionId, workspace: "/w" }))
  if (opened._tag === "Failure") {
    const { failure } = opened
    // The other process has it: another session then.
    if (failure._tag === "SessionUnavailable" && failure.code === "session_busy") return
    if (failure._tag === "PersistenceFailed" || failure.code !== "session_not_found") return yield* failure
  }
  const session = opened._tag === "Success" ? opened.success : yield* store.create({ sessionId, workspace: "/w" })
  const run = `r${process.pid}-${performance.now()}`
  for (const together of appends(run)) {
    const done = yield* Effect.exit(
      Effect.forEach(
        together,
        (records) =>
          Effect.tap(session.append(records), () =>
            Effect.sync(() => {
              for (const record of records) tell(`${sessionId} ${record.entryId}`)
            })
          ),
        { concurrency: "unbounded", discard: true }
      )
    )
    // Two processes may make the same session at once: one of them is told so, and has lost nothing.
    if (done._tag === "Failure" && opened._tag === "Failure") return
    yield* done
  }
  tell("turn")
})

await Effect.runPromise(Effect.forever(Effect.scoped(oneTurn)).pipe(Effect.provide(SqliteSessionStore.layer({ home }))))
