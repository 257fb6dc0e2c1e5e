/**
 * Another attempt, where one is worth it: at most two, with growing pauses, all within 30 s, and never once something of
 * the response was shown. The packages' own retries are off: they would not know what was shown.
 *
 * product section 2: 429, 5xx and no connection, after at most two retries with backoff within 30 s, are
 * `provider_unavailable`.
 */
import { Clock, Effect, Random, Stream } from "effect"
import type { Response } from "effect/ai"
import type { ModelFailure } from "./Models.ts"
import { type AttemptFailed, failure } from "./ProviderFailure.ts"
import { isOutput } from "./ResponseReader.ts"

/** Further attempts after the first. */
export const MAX_RETRIES = 2
/** From the beginning of the first attempt; a retry that would outlast it is not made. */
export const WINDOW_MS = 30_000
/** Before the first and the second retry, where the provider names no time; each varied by a quarter. */
const PAUSES_MS = [500, 2000]

/** Runs `attempt`, again where it failed without output and there is time. Interruption ends a pause at once. */
export const retrying = (
  attempt: Stream.Stream<Response.StreamPartEncoded, AttemptFailed>
): Stream.Stream<Response.StreamPartEncoded, ModelFailure> =>
  Stream.unwrap(
    Effect.map(Clock.monotonicTimeNanos, (began) => {
      let shown = false
      const since = (from: bigint) => Effect.map(Clock.monotonicTimeNanos, (now) => Number(now - from) / 1_000_000)
      const again = (retries: number): Stream.Stream<Response.StreamPartEncoded, ModelFailure> =>
        Stream.unwrap(
          Effect.map(Clock.monotonicTimeNanos, (started) =>
            attempt.pipe(
              Stream.map((part) => {
                shown ||= isOutput(part)
                return part
              }),
              Stream.catch((failed) => Stream.unwrap(afterFailure(failed, retries, started)))
            )
          )
        )
      const afterFailure = Effect.fnUntraced(function* (failed: AttemptFailed, retries: number, started: bigint) {
        if (shown || !failed.retry) return Stream.fail(failed.failure)
        const tries = retries === 0 ? "" : ` (tried ${retries + 1} times)`
        const given = Stream.fail(failure(failed.failure.code, `${failed.failure.message}${tries}`))
        if (retries >= MAX_RETRIES) return given
        const vary = yield* Random.nextBetween(0.75, 1.25)
        const pause = failed.retryAfterMs ?? (PAUSES_MS[retries] ?? 0) * vary
        // It may take as long as the last one: then it must still be over in time.
        const used = (yield* since(began)) + pause + (yield* since(started))
        if (used > WINDOW_MS) return given
        yield* Effect.logDebug(`${failed.failure.message}; asking again in ${Math.round(pause)} ms`)
        yield* Effect.sleep(pause)
        return again(retries + 1)
      })
      return again(0)
    })
  )
