/** The transport of `serve --stdio`: the inherited stdin and stdout, protocol bytes only. base-protocol section 1. */
import { Data, Effect, Layer } from "effect"
import { guardErrors, readChunk, writeChunk } from "./NodeStreams.ts"
import { Transport } from "./Transport.ts"

/** stdin or stdout cannot carry the protocol (exit code 1). */
export class UnusableStdio extends Data.TaggedError("UnusableStdio")<{ readonly message: string }> {}

/** Refuses terminals: frames are for programs. */
export const layer: Layer.Layer<Transport, UnusableStdio> = Layer.effect(
  Transport,
  Effect.gen(function* () {
    for (const name of ["stdin", "stdout"] as const) {
      if (process[name].isTTY) {
        return yield* new UnusableStdio({
          message: `serve --stdio: ${name} is a terminal; start it from a program with pipes (or use \`magi-code run\`)`
        })
      }
    }
    const { stdin, stdout } = process
    yield* guardErrors(stdin)
    yield* guardErrors(stdout)
    return { read: readChunk(stdin), write: (bytes) => writeChunk(stdout, bytes) }
  })
)
