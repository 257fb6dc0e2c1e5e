/**
 * One hook, run once: a process of its own group, JSON on its stdin, a bound on its time and its output. Whatever it
 * started is gone when this ends, however it ends.
 *
 * base-protocol section 6, Hooks; section 3, Closing (child processes).
 */
import { Data, Effect, Fiber, Stream } from "effect"
import { Children } from "../../platform/Children.ts"
import { stringify } from "../../protocol/CompactJson.ts"
import type { JsonObject } from "../../protocol/Json.ts"
import type { HookSettings } from "../../settings/Settings.ts"

/** Bytes of a hook's output. Arguments beyond 16384 are refused later anyway; this leaves room to say so. */
export const HOOK_OUTPUT_BYTES = 65_536

/** How long the output may stay open after the hook itself has ended: what it started may hold the pipe for ever. */
const DRAIN_MS = 200

/** A hook that did not do its work. `reason` is a fixed text without anything that it read or printed. */
export class HookFault extends Data.TaggedError("HookFault")<{ readonly reason: string }> {}

/** Runs the hook and gives what it printed. Interruption kills it. */
export const runHook = (hook: HookSettings, input: JsonObject): Effect.Effect<Uint8Array, HookFault, Children> =>
  Effect.scoped(start(hook, input)).pipe(
    Effect.timeoutOrElse({
      duration: hook.timeout_ms,
      orElse: () => Effect.fail(new HookFault({ reason: `it did not end within ${hook.timeout_ms} ms` }))
    })
  )

const start = Effect.fnUntraced(function* ({ command: [command = "", ...args], cwd }: HookSettings, input: JsonObject) {
  const children = yield* Children
  const child = yield* children
    .spawn({ command, args, cwd, input: `${stringify(input)}\n` })
    .pipe(Effect.mapError(({ reason }) => new HookFault({ reason: `it could not be started (${reason})` })))
  // Read, so that it never waits for room, and thrown away: it may repeat what it was told.
  yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(child.stderr)))
  const chunks: Array<Uint8Array> = []
  let length = 0
  const output = yield* Effect.forkScoped(
    Stream.runForEach(child.stdout, (chunk) => {
      length += chunk.length
      if (length > HOOK_OUTPUT_BYTES)
        return Effect.fail(new HookFault({ reason: `it printed more than ${HOOK_OUTPUT_BYTES} bytes` }))
      chunks.push(chunk)
      return Effect.void
    })
  )
  // Too much output ends the hook at once; its end otherwise decides.
  const tooMuch = Effect.andThen(Fiber.join(output), Effect.never)
  const { code, signal } = yield* Effect.raceFirst(child.exit, tooMuch)
  if (code !== 0)
    return yield* new HookFault({
      reason: signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
    })
  yield* Effect.timeoutOption(Fiber.join(output), DRAIN_MS)
  return Buffer.concat(chunks)
})
