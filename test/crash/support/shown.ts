/** A stored session as a backend shows it to its parent. */
import { Result } from "effect"
import { decodeResult } from "../../../src/protocol/DecodeResult.ts"
import type { HistoryEntry } from "../../../src/protocol/MethodResult.ts"
import { Built } from "../../process/support/Built.ts"
import { initialize, type Stage } from "./life.ts"

export interface Shown {
  readonly revision: string
  readonly entries: ReadonlyArray<HistoryEntry>
}

/** Small, so that a history has several. */
const PAGE_ENTRIES = 5

/** The whole history at a revision. */
const historyOf = async (backend: Built, session_id: string, revision: string): Promise<Shown> => {
  const entries: Array<HistoryEntry> = []
  let cursor: string | null = null
  do {
    const params = { session_id, revision, limit: PAGE_ENTRIES, ...(cursor === null ? {} : { cursor }) }
    const answer: unknown = await backend.ask("history.page", params)
    const page = Result.getOrThrow(decodeResult("history.page", JSON.parse(JSON.stringify(answer))))
    entries.push(...page.entries)
    cursor = page.cursor
  } while (cursor !== null)
  return { revision, entries }
}

/** Opens a session and reads all of it; `undefined` where no such session is stored. */
export const openShown = async (backend: Built, session_id: string): Promise<Shown | undefined> => {
  const id = backend.send("session.open", { session_id })
  const { error, result } = await backend.frame("an answer to session.open", (frame) => frame.id === id)
  if (error?.code === "session_not_found") return undefined
  if (result === undefined) throw new Error(`session.open failed: ${JSON.stringify(error)}`)
  return await historyOf(backend, session_id, String(result["history_revision"]))
}

/** A normal backend of the same MC_HOME for the body, which then closes in order. */
export const withBackend = async <A>(
  { model, root }: Pick<Stage, "model" | "root">,
  body: (backend: Built) => Promise<A>
): Promise<A> => {
  const backend = new Built({ root, settings: model.settings })
  try {
    await initialize(backend)
    const done = await body(backend)
    backend.child.stdin.end()
    const { code } = await backend.ended
    if (code !== 0) throw new Error(`the backend ended with ${code}: ${backend.stderr}`)
    return done
  } finally {
    backend.child.kill("SIGKILL")
    await backend.ended
  }
}
