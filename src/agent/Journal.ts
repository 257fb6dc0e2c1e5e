/**
 * The records of one session while an agent works on it: what is on disk, and what the model is asked with.
 *
 * Required appends (base-protocol section 5): the user's input, an assistant response with its calls, the start of a call,
 * its outcome. One that cannot be made fails the whole run. Everything else is best effort and makes it `degraded`.
 */
import { Clock, Effect, Exit } from "effect"
import { uuid } from "../platform/Ids.ts"
import type { CallOutcomeRecord, CallTimeline, SessionRecord } from "../store/SessionRecord.ts"
import type { PersistenceFailed, SessionHandle } from "../store/SessionStore.ts"
import type { RunState } from "./RunState.ts"

/** What every record begins with. */
export type Stamp = Pick<SessionRecord, "entryId" | "createdAt" | "runId">

export interface JournalShape {
  /** Every record of the session, in order, those of this run included. */
  readonly records: ReadonlyArray<SessionRecord>
  /** The revision after the last append of this journal. */
  readonly revision: string
  readonly stamp: Effect.Effect<Stamp>
  /** A required append. False: it was not made; the run has failed and is being stopped. */
  readonly require: (records: ReadonlyArray<SessionRecord>) => Effect.Effect<boolean>
  /**
   * How a call ended: its outcome, required, and its row of the timeline, best effort; one commit takes both. `later`:
   * nothing waits for it to be on disk, as for a call that a script made: it goes with the next append, at the latest
   * with that of the script's own outcome, which precedes the next request to the model.
   */
  readonly ended: (outcome: CallOutcomeRecord, row: CallTimeline, when: "now" | "later") => Effect.Effect<void>
  /** Anything best effort. */
  readonly attempt: (write: Effect.Effect<unknown, PersistenceFailed>) => Effect.Effect<void>
  /** A best-effort append. */
  readonly tryAppend: (records: ReadonlyArray<SessionRecord>) => Effect.Effect<void>
}

/** Reads the session. What is read once stays in memory for the run, so that a request to the model needs no disk. */
export const make = (state: RunState, session: SessionHandle): Effect.Effect<JournalShape, PersistenceFailed> =>
  Effect.gen(function* () {
    const records = [...(yield* session.records)]
    let revision = yield* session.revision

    /** What goes with the next append. */
    const held: { outcomes: Array<SessionRecord>; rows: Array<CallTimeline> } = { outcomes: [], rows: [] }

    /** Committed and known in one step that no interruption divides. */
    const append = (added: ReadonlyArray<SessionRecord>) =>
      Effect.uninterruptible(
        Effect.suspend(() => {
          // What outlived its run writes nothing into the next one.
          if (state.ended) return Effect.interrupt
          const all = [...held.outcomes.splice(0), ...added]
          const rows = held.rows.splice(0)
          const commit = Effect.map(session.append(all), (committed) => {
            revision = committed
            records.push(...all)
          })
          if (rows.length === 0) return commit
          const timeline = Effect.forEach(rows, (row) => attempt(session.timeline(row)), { concurrency: rows.length })
          // Asked for together, they are one commit of the store.
          return Effect.asVoid(Effect.all([commit, timeline], { concurrency: 2 }))
        })
      )

    const require: JournalShape["require"] = (added) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(append(added))
        if (Exit.isSuccess(exit)) return true
        if (state.ended) return false
        yield* state.persistenceFailed("the session could not be written; see the log of the agent")
        yield* Effect.logError("a required append was not made", exit.cause)
        return false
      })

    const attempt: JournalShape["attempt"] = (write) =>
      Effect.catchCause(Effect.asVoid(write), (cause) =>
        Effect.gen(function* () {
          if (state.ended) return
          state.degrade()
          yield* Effect.logWarning("a best-effort write was not made", cause)
        })
      )

    const ended: JournalShape["ended"] = (outcome, row, when) =>
      Effect.suspend(() => {
        held.rows.push(row)
        if (when === "now") return Effect.asVoid(require([outcome]))
        held.outcomes.push(outcome)
        return Effect.void
      })

    return {
      records,
      ended,
      get revision() {
        return revision
      },
      stamp: Effect.gen(function* () {
        const millis = yield* Clock.currentTimeMillis
        return { entryId: yield* uuid, createdAt: new Date(millis).toISOString(), runId: state.runId }
      }),
      require,
      attempt,
      tryAppend: (added) => attempt(append(added))
    }
  })
