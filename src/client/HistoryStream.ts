/**
 * The attached session's history as a stream: one state of it, a page at a time. base-protocol section 4, `history.page`.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { HistoryPage, StatusResult } from "../protocol/MethodResult.ts"
import type { RequestError } from "./AgentErrors.ts"
import { type HistoryItem, HistoryParts } from "./HistoryParts.ts"
import type { TransportLost } from "./TransportLost.ts"
import type { AttachedSession } from "./Turns.ts"

/** What of a page is asked for. */
export interface PageWanted {
  readonly sessionId: string
  readonly revision: string
  readonly cursor?: string
  readonly limit?: number
}

/** A page, and what to do if it is not what the protocol promises: then the transport that brought it is lost. */
export interface PageRead {
  readonly page: HistoryPage
  readonly broken: (why: string) => Effect.Effect<never, TransportLost>
}

/** Where pages come from: whichever child is in use. */
export interface HistorySource {
  readonly attached: Effect.Effect<AttachedSession, RequestError>
  readonly page: (wanted: PageWanted) => Effect.Effect<PageRead, RequestError | TransportLost>
  readonly status: Effect.Effect<StatusResult, RequestError | TransportLost>
}

/** The stream; each run of it reads the history anew. `limit`: entries a page, 1 to 100. */
export const read = (
  source: HistorySource,
  limit?: number
): Stream.Stream<HistoryItem, RequestError | TransportLost> => {
  const size = limit === undefined ? {} : { limit }
  const from = (wanted: PageWanted) => source.page({ ...wanted, ...size })
  /** The revision that was told last may be an old one (a title was saved since): the agent is asked for it, once. */
  const first = Effect.flatMap(source.attached, ({ revision, sessionId }) =>
    from({ sessionId, revision }).pipe(
      Effect.catchIf(
        (error) => error._tag === "RequestFailed" && error.code === "stale_revision",
        (error) =>
          Effect.flatMap(source.status, ({ history_revision: present, session_id }) =>
            session_id !== sessionId || present === null || present === revision
              ? Effect.fail(error)
              : from({ sessionId, revision: present })
          )
      )
    )
  )
  return Stream.suspend(() => {
    const parts = new HistoryParts()
    const next = (wanted: PageWanted | undefined) =>
      Effect.gen(function* () {
        const { broken, page } = yield* wanted === undefined ? first : from(wanted)
        if (wanted !== undefined && page.revision !== wanted.revision) {
          return yield* broken("a page is of another revision")
        }
        const items = parts.push(page.entries)
        if (typeof items === "string") return yield* broken(items)
        const wrong = page.complete ? parts.end() : page.cursor === null ? "a page leads nowhere" : undefined
        if (wrong !== undefined) return yield* broken(wrong)
        const following =
          page.complete || page.cursor === null
            ? Option.none<PageWanted>()
            : Option.some({ sessionId: page.session_id, revision: page.revision, cursor: page.cursor })
        return [items, following] as const
      })
    return Stream.paginate<PageWanted | undefined, HistoryItem, RequestError | TransportLost>(undefined, next)
  })
}
