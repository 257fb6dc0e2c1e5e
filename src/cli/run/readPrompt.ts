/** The prompt of `run -`, from stdin; it loses one final newline. product section 5, `run`. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Limits } from "../../protocol/Limits.ts"

/** The prompt cannot be used: wrong usage. */
export class PromptRefused extends Data.TaggedError("PromptRefused")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Bytes after which reading stops: the prompt is refused whatever follows. */
const MOST_BYTES = 16 * Limits.prompt_bytes

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Reads stdin to its end. Interruptible. */
export const fromStdin: Effect.Effect<string, PromptRefused> = Effect.callback<Uint8Array, PromptRefused>((resume) => {
  const { stdin } = process
  const chunks: Array<Buffer> = []
  let size = 0
  const stop = () => {
    stdin.off("data", onData)
    stdin.off("end", onEnd)
    stdin.off("error", onError)
    stdin.pause()
  }
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > MOST_BYTES) onEnd()
  }
  const onEnd = () => {
    stop()
    resume(Effect.succeed(Buffer.concat(chunks)))
  }
  const onError = () => {
    stop()
    resume(Effect.fail(new PromptRefused({ reason: "stdin cannot be read" })))
  }
  stdin.on("data", onData)
  stdin.on("end", onEnd)
  stdin.on("error", onError)
  return Effect.sync(stop)
}).pipe(
  Effect.flatMap((bytes) =>
    Effect.try({
      try: () => decoder.decode(bytes).replace(/\r?\n$/, ""),
      catch: () => new PromptRefused({ reason: "the prompt from stdin is not UTF-8" })
    })
  )
)

/** Every bound of a prompt that is known before an agent is. */
export const check = (prompt: string): Effect.Effect<string, PromptRefused> => {
  if (prompt.trim() === "") return Effect.fail(new PromptRefused({ reason: "the PROMPT is blank" }))
  const bytes = Buffer.byteLength(prompt)
  return bytes > Limits.prompt_bytes
    ? Effect.fail(
        new PromptRefused({ reason: `the PROMPT has ${bytes} bytes; at most ${Limits.prompt_bytes} are taken` })
      )
    : Effect.succeed(prompt)
}
