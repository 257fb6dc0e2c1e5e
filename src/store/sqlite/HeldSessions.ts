/**
 * The session files this process holds, each with the number of its holders, and what the index still has to be told of
 * them. The index is told a little later, many changes at once; that a session is held is told before anyone relies on it.
 */
import { IdleFolding } from "./IdleFolding.ts"
import { type IndexFile, type IndexRow, rowOf } from "./IndexFile.ts"
import type { SessionFile } from "./SessionFile.ts"

/** How long a change may wait before other processes see it in their lists. */
const INDEX_DELAY_MS = 25
/** How long to wait before the next try when another process holds the index. */
const INDEX_RETRY_MS = 250

interface Held {
  readonly file: SessionFile
  holders: number
}

export class HeldSessions {
  readonly #index: IndexFile
  readonly #held = new Map<string, Held>()
  readonly #folding = new IdleFolding()
  readonly #dirty = new Map<string, IndexRow>()
  #timer: NodeJS.Timeout | undefined

  constructor(index: IndexFile) {
    this.#index = index
  }

  get(id: string): SessionFile | undefined {
    return this.#held.get(id)?.file
  }

  /** Begins to hold a file just opened or made. */
  add(file: SessionFile): void {
    this.#held.set(file.id, { file, holders: 1 })
    const row = rowOf(file.id, file.state, true)
    if (!this.#index.update([row], [], true)) this.#mark(row, INDEX_RETRY_MS)
  }

  /** One holder more of a file that is held already. */
  share(id: string): SessionFile | undefined {
    const held = this.#held.get(id)
    if (held !== undefined) held.holders += 1
    return held?.file
  }

  /** A commit was made. `listed`: it changed what lists show. */
  committed(file: SessionFile, listed: boolean): void {
    this.#folding.committed(file)
    if (listed) this.#mark(rowOf(file.id, file.state, true), INDEX_DELAY_MS)
  }

  /** One holder less; the last one closes the file and so releases its lock. */
  release(id: string): void {
    const held = this.#held.get(id)
    if (held === undefined) return
    held.holders -= 1
    if (held.holders > 0) return
    this.#held.delete(id)
    // Told before the lock goes: afterwards another process may hold the session.
    this.#dirty.set(id, rowOf(id, held.file.state, false))
    this.flush()
    this.#folding.forget(held.file)
    held.file.close()
  }

  /** Brings the index up to date now. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#dirty.size === 0) return
    if (this.#index.update([...this.#dirty.values()])) this.#dirty.clear()
    else this.#schedule(INDEX_RETRY_MS)
  }

  /** Closes everything. */
  close(): void {
    for (const [id, { file }] of this.#held) this.#dirty.set(id, rowOf(id, file.state, false))
    this.flush()
    clearTimeout(this.#timer)
    this.#folding.close()
    for (const { file } of this.#held.values()) file.close()
    this.#held.clear()
    this.#index.close()
  }

  #mark(row: IndexRow, delay: number): void {
    this.#dirty.set(row.sessionId, row)
    this.#schedule(delay)
  }

  #schedule(delay: number): void {
    this.#timer ??= setTimeout(() => this.flush(), delay)
  }
}
