/**
 * The `fetch` that the providers' packages are given: one for each attempt, so that an attempt can be watched and ended.
 *
 * It sends only the headers a request needs (the packages would also take some from the environment), follows no redirect
 * (credentials stay with the host they were meant for), and bounds what comes back: the bytes of a response, the bytes of
 * one event, the bytes of a refusal, and, with `watch`, how long a provider may stay silent.
 *
 * product section 2 (credentials never follow a redirect; no key anywhere).
 */
import { Buffer } from "node:buffer"
import { Clock, Effect } from "effect"

/** Milliseconds without a byte from the provider. Below the 300 s after which Node's own fetch gives up. */
export const IDLE_MS = 240_000
/** A whole response. */
const RESPONSE_BYTES = 64 * 1024 * 1024
/** One server-sent event: the packages join what they have with every chunk, so this also bounds their copying. */
const EVENT_BYTES = 4 * 1024 * 1024
/** What is read of a refusal. */
const REFUSAL_BYTES = 64 * 1024

/** Why an attempt was ended from here. */
export type ExchangeFault = "idle" | "response_too_large" | "event_too_large"

/** One attempt, as the watcher and the fetch of it see it. */
export class Exchange {
  readonly controller = new AbortController()
  fault: ExchangeFault | undefined = undefined
  /** The content type of a successful response; `undefined` until there is one. */
  contentType: string | undefined = undefined
  /** The last bytes of the response as Latin-1: enough to see whether `[DONE]` was among them. */
  tail = ""
  /** The body of a refusal, as far as it is read: the packages keep only what has the shape they expect. */
  refused = Buffer.alloc(0)
  private heardAt: bigint
  private readonly now: () => bigint

  constructor(now: () => bigint) {
    this.now = now
    this.heardAt = now()
  }

  heard(): void {
    this.heardAt = this.now()
  }

  /** Milliseconds since the provider was last heard of. */
  silentMs(): number {
    return Number(this.now() - this.heardAt) / 1_000_000
  }

  end(fault: ExchangeFault): void {
    this.fault ??= fault
    this.controller.abort()
  }
}

/** An attempt that is aborted when its scope closes: interrupting a run ends its request. */
export const makeExchange = Effect.acquireRelease(
  Clock.clockWith((clock) => Effect.sync(() => new Exchange(() => clock.monotonicTimeNanosUnsafe()))),
  (exchange) => Effect.sync(() => exchange.controller.abort())
)

/** Ends the attempt once nothing has come for `idleMs`. Never returns by itself: to be forked into the attempt's scope. */
export const watch = Effect.fnUntraced(function* (exchange: Exchange, idleMs: number) {
  for (;;) {
    const left = idleMs - exchange.silentMs()
    if (left <= 0) return exchange.end("idle")
    yield* Effect.sleep(left)
  }
})

const sent = new Set(["accept", "authorization", "content-type", "user-agent", "anthropic-version", "anthropic-beta"])

const headersOf = (init: RequestInit | undefined, withKey: boolean): Headers => {
  const headers = new Headers(init?.headers)
  for (const name of [...headers.keys()]) {
    if (!sent.has(name) || (name === "authorization" && !withKey)) headers.delete(name)
  }
  return headers
}

const LF = 0x0a
const CR = 0x0d

/** Counts a response's bytes, and those since its last empty line (which ends a server-sent event). */
const meter = (exchange: Exchange, ok: boolean): TransformStream<Uint8Array, Uint8Array> => {
  let total = 0
  let event = 0
  let line = 0
  let previous: number | undefined
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      exchange.heard()
      total += chunk.length
      if (!ok) {
        exchange.refused = Buffer.concat([exchange.refused, chunk]).subarray(0, REFUSAL_BYTES)
        controller.enqueue(chunk)
        if (total > REFUSAL_BYTES) controller.terminate()
        return
      }
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]
        event += 1
        if (byte === LF || byte === CR) {
          if (byte === LF && previous === CR) line = 0
          else if (line === 0) event = 0
          line = 0
        } else line += 1
        previous = byte
      }
      exchange.tail = (exchange.tail + Buffer.from(chunk.subarray(-64)).toString("latin1")).slice(-64)
      if (total > RESPONSE_BYTES) return exchange.end("response_too_large")
      if (event > EVENT_BYTES) return exchange.end("event_too_large")
      controller.enqueue(chunk)
    }
  })
}

/** Statuses whose response has no body by definition. */
const bodiless = new Set([204, 205, 304])

/** `withKey` false: no Authorization header leaves, whatever the package put there. */
export const providerFetch =
  (exchange: Exchange, withKey: boolean) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, { ...init, headers: headersOf(init, withKey), redirect: "manual" })
    exchange.heard()
    if (response.ok) exchange.contentType = response.headers.get("content-type") ?? ""
    if (response.body === null || bodiless.has(response.status)) return response
    return new Response(response.body.pipeThrough(meter(exchange, response.ok)), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers
    })
  }
