/** `magi-code trace SESSION|FILE [--html OUT]`: the timeline of a run. product section 1. */
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { isId } from "../../protocol/Ids.ts"
import { exportSession } from "../../store/StoredSessions.ts"
import { CommandFailed, UsageError } from "../help/errors.ts"
import { placeOf } from "../help/place.ts"
import type { Args } from "../help/readArgs.ts"
import { runEffect } from "../help/runEffect.ts"
import { err, out, plain } from "../help/Terminal.ts"
import { fromRunFile } from "./fromRunFile.ts"
import { fromStore } from "./fromStore.ts"
import { htmlPage } from "./htmlPage.ts"
import type { Trace } from "./Trace.ts"
import { textTable } from "./textTable.ts"

const MAX_FILE_BYTES = 256 * 1024 * 1024

const because = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const known: { readonly [code: string]: string } = {
    EACCES: "you may not",
    EPERM: "you may not",
    EISDIR: "it is a folder",
    ENOENT: "there is no such folder",
    ENOTDIR: "there is no such folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only"
  }
  return known[code] ?? (code || "unknown reason")
}

const read = async (subject: string): Promise<Trace> => {
  const file = statSync(subject, { throwIfNoEntry: false })
  if (file !== undefined) {
    if (!file.isFile()) throw new CommandFailed(`${plain(subject)} is not a file`)
    if (file.size > MAX_FILE_BYTES) throw new CommandFailed(`${plain(subject)} is larger than 256 MiB`)
    try {
      return fromRunFile(subject, readFileSync(subject, "utf8"))
    } catch (error) {
      if (error instanceof CommandFailed) throw error
      throw new CommandFailed(`${plain(subject)} cannot be read: ${because(error)}`, { cause: error })
    }
  }
  if (!isId(subject)) throw new CommandFailed(`${plain(subject)} is neither a file nor the id of a session`)
  try {
    return fromStore(await runEffect(exportSession(placeOf(process.env), subject)))
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    throw new CommandFailed(`there is no file ${plain(subject)}, and ${error.message}`, { cause: error.cause })
  }
}

export const trace = async (args: Args): Promise<number> => {
  const [subject, ...more] = args.words
  if (subject === undefined) throw new UsageError("name a SESSION or a FILE")
  if (more.length > 0) throw new UsageError("one SESSION or FILE at a time")
  const timeline = await read(subject)
  const target = args.values.get("html")
  if (target === undefined) {
    out(textTable(timeline))
    return 0
  }
  const page = htmlPage(timeline)
  if (target === "-") {
    out(page)
    return 0
  }
  try {
    // What tools are called may be nobody else's business.
    writeFileSync(target, page, { mode: 0o600 })
  } catch (error) {
    throw new CommandFailed(`${plain(target)} cannot be written: ${because(error)}`, { cause: error })
  }
  err(`wrote ${plain(target)}\n`)
  return 0
}
