/** Where a backend can be made to die, and what it tells of itself until then. Shared by the backend and its parent. */
import { writeSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"

/**
 * `saying`: a frame is about to be written. `heard`: its parent has read it, and kills from outside.
 * `written`: the store's thread has everything of a commit but the commit itself. `committed`: it is on the disk, and
 * nobody was told.
 */
export const places = ["saying", "heard", "written", "committed"] as const

export type Place = (typeof places)[number]

/** A frame as far as it matters here. */
interface SaidFrame {
  readonly event?: string
  readonly result?: { readonly [name: string]: unknown }
}

/** What a frame is as a point of a run: publishing, acceptance, the end; `undefined` for all others. */
export const pointOf = (frame: SaidFrame): string | undefined => {
  const { event, result } = frame
  // The other request that is answered with `accepted` names its run.
  if (result?.["accepted"] === true && result["run_id"] === undefined) return "accepted"
  return event === "client.tool.call" || event === "run.finished" ? event : undefined
}

export interface AcknowledgedRecord {
  readonly entryId: string
  readonly kind: string
  /** Of an outcome. */
  readonly tool: string | null
}

/** Sessions only: the index of lists is best effort, and written on a timer. */
export const isSession = (db: DatabaseSync): boolean => db.location()?.includes("/sessions/") === true

/** What a dying backend says on stderr, a line each. */
export type Note =
  | { readonly acknowledged: ReadonlyArray<AcknowledgedRecord> }
  /** It is at its point; the next thing it does is to die. */
  | { readonly dies: string }
  /** Its store waits for the disk. */
  | { readonly hangs: true }

const MARK = "note: "

/** Synchronous, so that what was told before a death is there after it. */
export const tell = (note: Note): void => {
  writeSync(2, `${MARK}${JSON.stringify(note)}\n`)
}

export const notesIn = (stderr: string): ReadonlyArray<Note> =>
  stderr
    .split("\n")
    .filter((line) => line.startsWith(MARK))
    .map((line) => JSON.parse(line.slice(MARK.length)))

/** Dies at the `nth` time that `place` is reached, exactly as by `kill -9`: not one instruction more of this thread. */
export const deathAt = (place: string, nth: number) => {
  let times = 0
  return (here: Place, what: string): void => {
    if (here !== place || ++times !== nth) return
    tell({ dies: what })
    process.kill(process.pid, "SIGKILL")
  }
}
