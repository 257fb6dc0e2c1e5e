/**
 * Folds the logs of session files into their files while nobody waits. SQLite does it by itself inside the commit that
 * takes a log past 1000 pages, and whoever made that commit waits for the whole of it; a log that is folded in a pause
 * begins anew, and seldom comes so far.
 */
import type { SessionFile } from "./SessionFile.ts"

/** How long nothing must have been committed. */
const IDLE_MS = 100
/**
 * A log is left alone below so many bytes: folding waits for the disk twice and writes each page once, however often it is in
 * the log, so that few large foldings cost less than many small ones. It leaves seven eighths of the 1000 pages to a burst.
 */
const WORTH_FOLDING = 1_048_576

export class IdleFolding {
  readonly #files = new Set<SessionFile>()
  #timer: NodeJS.Timeout | undefined

  /** A commit was made: the pause begins anew. */
  committed(file: SessionFile): void {
    if (file.unfolded >= WORTH_FOLDING) this.#files.add(file)
    if (this.#timer !== undefined) this.#timer.refresh()
    else if (this.#files.size > 0) this.#schedule()
  }

  /** The file is about to be closed, which folds its log. */
  forget(file: SessionFile): void {
    this.#files.delete(file)
  }

  /** Nothing is folded any more. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#files.clear()
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#fold(), IDLE_MS)
  }

  /** One file a pause, so that what is asked meanwhile waits for one at most. */
  #fold(): void {
    this.#timer = undefined
    const [file] = this.#files
    if (file === undefined) return
    this.#files.delete(file)
    file.fold()
    if (this.#files.size > 0) this.#schedule()
  }
}
