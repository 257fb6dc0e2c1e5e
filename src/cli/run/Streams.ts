/** The two streams of the process, taken before anything else can write to them. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { escapeText } from "./escapeText.ts"
import { Region } from "./Region.ts"

export interface OutStream {
  readonly isTerminal: boolean
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
  /** Where stderr is a terminal: what both streams write there comes out above its lines. */
  readonly region: Region | undefined
}

/** Unwritten bytes above which a writer waits. */
const BACKLOG_BYTES = 1_048_576

const writerOf = (stream: NodeJS.WriteStream) => {
  const write = stream.write.bind(stream)
  const gone = Deferred.makeUnsafe<void>()
  const state = { broken: false }
  stream.on("error", () => {
    state.broken = true
    Deferred.doneUnsafe(gone, Exit.void)
  })
  const put = (text: string) => {
    if (!state.broken && text !== "") write(text)
  }
  const written = Effect.callback<void>((resume) => {
    if (state.broken) return resume(Effect.void)
    write("", () => resume(Effect.void))
  })
  return { stream, put, written, gone: Deferred.await(gone) }
}

const take = ({ gone, put, stream, written }: ReturnType<typeof writerOf>, region: Region | undefined): OutStream => {
  const isTerminal = stream.isTTY === true
  const raw = isTerminal && region !== undefined ? (text: string) => region.print(text, put) : put
  return {
    isTerminal,
    raw,
    foreign: isTerminal ? (text) => raw(escapeText(text)) : raw,
    ready: Effect.suspend(() => (stream.writableLength > BACKLOG_BYTES ? written : Effect.void)),
    flushed: Effect.suspend(() => (stream.writableLength > 0 ? Effect.raceFirst(written, gone) : Effect.void)),
    gone
  }
}

/** To be called once, before a tools file is loaded. */
export const takeStreams = (): Streams => {
  const { stderr, stdout } = process
  const [out, err] = [writerOf(stdout), writerOf(stderr)]
  // Some terminals say that they have no columns.
  const size = () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 })
  const region = stderr.isTTY === true ? new Region(err.put, size) : undefined
  return { out: take(out, region), err: take(err, region), region }
}
