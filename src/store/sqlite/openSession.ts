/**
 * Taking over a stored session: the lock, the checks, and the recovery of calls whose process died.
 * base-protocol section 4 (`session.open`) and 5.
 */
import { randomUUID } from "node:crypto"
import { entryCountOf } from "../HistoryEntries.ts"
import { rowOfRecord } from "../RecordCodec.ts"
import { recover } from "../Recovery.ts"
import { StoreFault } from "../StoreFault.ts"
import { recordsOf } from "./readSession.ts"
import { SessionFile } from "./SessionFile.ts"

const recoverCalls = (file: SessionFile): void => {
  const outcomes = recover(recordsOf(file), {
    taskId: file.state.delegated ? file.id : null,
    now: new Date().toISOString(),
    freshId: randomUUID
  })
  if (outcomes.length === 0) return
  const rows = outcomes.map((outcome) => rowOfRecord(outcome, entryCountOf(outcome)))
  for (const fault of file.commit([(open) => open.append(rows)])) if (fault !== null) throw fault
}

/** Refuses to go on with a session of another workspace. */
export const checkWorkspace = (file: SessionFile, workspace: string): void => {
  if (file.state.workspace !== workspace) {
    throw new StoreFault("workspace_mismatch", "this session belongs to another workspace: open it from there")
  }
}

/**
 * Opens a session's file for this process. `acknowledged` is the last sequence number that the index saw on disk: a file
 * with fewer records has lost some, most likely with its `-wal` file, and is left as it is.
 */
export const openSession = (id: string, path: string, workspace: string, acknowledged: number): SessionFile => {
  const file = SessionFile.open(id, path)
  try {
    checkWorkspace(file, workspace)
    if (file.state.lastSeq < acknowledged) {
      throw new StoreFault(
        "session_invalid",
        `${path} lacks records that were saved: restore it with its -wal file, or remove sessions-index-1.db to accept it`
      )
    }
    recoverCalls(file)
    return file
  } catch (error) {
    file.close()
    throw error
  }
}
