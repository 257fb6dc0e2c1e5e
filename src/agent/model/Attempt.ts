/**
 * One request to a provider as a stream of parts: opened, watched, read, and aborted when its scope closes.
 *
 * product section 2 (providers); base-protocol section 4 (an accepted cancel ends the run in time).
 */
import { Cause, Clock, Effect, Stream } from "effect"
import type { Response } from "effect/ai"
import type { Json } from "../../protocol/Json.ts"
import { AttemptFailed, refused, unavailable } from "./ProviderFailure.ts"
import { type Exchange, makeExchange, watch } from "./ProviderFetch.ts"
import {
  fromProviderError,
  providerError,
  type Refusal,
  type RequestFacts,
  refusalBody,
  retryAfter
} from "./Refusal.ts"
import type { Parts, ResponseReader } from "./ResponseReader.ts"

/** How a provider's package is asked. */
export interface Asked {
  readonly facts: RequestFacts
  readonly reader: () => ResponseReader<Json>
  /** Sends the request; resolves with the events once the provider has accepted it. */
  readonly open: (exchange: Exchange) => Promise<AsyncIterable<unknown>>
  /** What the package threw, where the provider said no; `undefined` for anything else, a lost connection too. */
  readonly refusal: (error: unknown) => Refusal | undefined
  readonly idleMs: number
}

/** The system's code of a connection that failed (`ECONNREFUSED`), wherever in the chain of causes it is. */
const connectionCode = (error: unknown): string => {
  let at: unknown = error
  for (let depth = 0; depth < 6 && at instanceof Error; depth++) {
    if ("code" in at && typeof at.code === "string" && /^[A-Z][A-Z0-9_]+$/.test(at.code)) return at.code
    at = at instanceof AggregateError ? (at.errors[0] ?? at.cause) : at.cause
  }
  return ""
}

/** Errors thrown while something was sent or read. Their messages may repeat headers: only codes are told. */
const classify = (asked: Asked, exchange: Exchange, error: unknown, wallMs: number): AttemptFailed => {
  const who = `provider "${asked.facts.provider}"`
  if (exchange.fault !== undefined) return faulted(asked, exchange)
  const refusal = asked.refusal(error)
  if (refusal !== undefined) {
    const waited = retryAfter(refusal.headers, wallMs)
    const body = exchange.refused.length > 0 ? refusalBody(exchange.refused.toString()) : refusal.error
    return fromProviderError(providerError(refusal.status, waited, body), asked.facts)
  }
  if (error instanceof SyntaxError) return refused("provider_failed", `${who} sent an event that is not JSON`)
  const code = connectionCode(error)
  if (code === "ERR_INVALID_URL") return refused("provider_failed", `${who} has a base_url that is no URL`)
  const shown = code === "" ? "" : ` (${code})`
  return exchange.contentType === undefined
    ? unavailable(`no connection to ${who}${shown}`)
    : unavailable(`the connection to ${who} was lost in the middle of a response${shown}`)
}

const faulted = (asked: Asked, exchange: Exchange): AttemptFailed => {
  const who = `provider "${asked.facts.provider}"`
  switch (exchange.fault) {
    case "response_too_large":
      return refused("provider_failed", `${who} sent a response that is too large`)
    case "event_too_large":
      return refused("provider_failed", `${who} sent an event that is too large`)
    default:
      return unavailable(`${who} was silent for ${Math.round(asked.idleMs / 1000)} s`)
  }
}

// A response in one of these is no stream of events, whatever its status says.
const notAStream = /^(?:application\/json|text\/html)\b/i

const isFailed = (parts: Parts | AttemptFailed): parts is AttemptFailed => parts instanceof AttemptFailed

const isNonEmpty = (parts: Parts): parts is readonly [Response.StreamPartEncoded, ...Parts] => parts.length > 0

/** The stream of one attempt. It ends with `finish`, or fails; interrupting it aborts the HTTP request at once. */
export const attempt = (asked: Asked): Stream.Stream<Response.StreamPartEncoded, AttemptFailed> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const exchange = yield* makeExchange
      yield* Effect.forkScoped(watch(exchange, asked.idleMs))
      const clock = yield* Clock.Clock
      const fail = (error: unknown) => classify(asked, exchange, error, clock.currentTimeMillisUnsafe())
      const events = yield* Effect.tryPromise({ try: () => asked.open(exchange), catch: fail })
      if (notAStream.test(exchange.contentType ?? "")) {
        return Stream.fail(
          refused("provider_failed", `provider "${asked.facts.provider}" did not answer with a stream of events`)
        )
      }
      const iterator = events[Symbol.asyncIterator]()
      const reader = asked.reader()
      let over = false
      const pull = Effect.gen(function* () {
        while (!over) {
          const next = yield* Effect.tryPromise({ try: () => iterator.next(), catch: fail })
          over = next.done === true
          // Aborted from here, the packages end their stream as if it were complete.
          if (over && exchange.fault !== undefined) return yield* faulted(asked, exchange)
          // The packages' types are hopes; what they parsed is JSON, and the readers look at every member.
          const parts = over ? reader.end(exchange.tail.includes("[DONE]")) : reader.push(next.value as Json)
          if (isFailed(parts)) return yield* parts
          if (isNonEmpty(parts)) return parts
        }
        return yield* Cause.done()
      })
      return Stream.fromPull(Effect.succeed(pull))
    })
  )
