/** The two streams of the process, taken before anything else can write to them. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { escapeText } from "./escapeText.ts"

export interface OutStream {
  readonly isTerminal: boolean
  /** Columns of the terminal. */
  readonly columns: () => number
  /** Writes text as it is. */
  readonly raw: (text: string) => void
  /** Writes text of an agent, a model or a tool: escaped on a terminal. */
  readonly foreign: (text: string) => void
  /** Waits while much is unwritten. */
  readonly ready: Effect.Effect<void>
  /** Waits until everything is written, or nobody reads any more. */
  readonly flushed: Effect.Effect<void>
  /** Ends when nobody reads the stream any more. */
  readonly gone: Effect.Effect<void>
}

export interface Streams {
  readonly out: OutStream
  readonly err: OutStream
}

/** Unwritten bytes above which a writer waits. */
const BACKLOG_BYTES = 1_048_576

const take = (stream: NodeJS.WriteStream): OutStream => {
  const write = stream.write.bind(stream)
  const isTerminal = stream.isTTY === true
  const gone = Deferred.makeUnsafe<void>()
  let broken = false
  stream.on("error", () => {
    broken = true
    Deferred.doneUnsafe(gone, Exit.void)
  })
  const raw = (text: string) => {
    if (!broken && text !== "") write(text)
  }
  const written = Effect.callback<void>((resume) => {
    if (broken) return resume(Effect.void)
    write("", () => resume(Effect.void))
  })
  return {
    isTerminal,
    // Some terminals say that they have none.
    columns: () => stream.columns || 80,
    raw,
    foreign: isTerminal ? (text) => raw(escapeText(text)) : raw,
    ready: Effect.suspend(() => (stream.writableLength > BACKLOG_BYTES ? written : Effect.void)),
    flushed: Effect.suspend(() =>
      stream.writableLength > 0 ? Effect.raceFirst(written, Deferred.await(gone)) : Effect.void
    ),
    gone: Deferred.await(gone)
  }
}

/** To be called once, before a tools file is loaded. */
export const takeStreams = (): Streams => ({ out: take(process.stdout), err: take(process.stderr) })
