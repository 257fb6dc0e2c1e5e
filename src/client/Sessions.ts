/** Sessions, models and history of an agent: its methods with their types. base-protocol section 4. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import { decodeResult, type ResultOf } from "../protocol/DecodeResult.ts"
import type { InitializeResult } from "../protocol/Initialize.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { MethodName } from "../protocol/Method.ts"
import type {
  HistoryPage,
  ModelCatalog,
  Selection,
  SessionCreated,
  SessionListed,
  SessionOpened,
  StatusResult
} from "../protocol/MethodResult.ts"
import type { RequestError } from "./AgentErrors.ts"
import type { Connection } from "./Connection.ts"
import type { HistoryItem } from "./HistoryParts.ts"
import type * as HistoryStream from "./HistoryStream.ts"
import type { TransportLost } from "./TransportLost.ts"
import { type AttachedSession, noSession, type Turns } from "./Turns.ts"

type Request<A> = Effect.Effect<A, RequestError | TransportLost>

/** Where a page begins: both members of the page before it, or neither. */
export interface PageOf {
  readonly revision: string
  readonly cursor: string
}

/**
 * The methods of an agent that are not about a turn: sessions, models and state. Each uses a request id, and fails with the
 * agent's refusal, a bound or the loss of its process.
 */
export interface Sessions {
  /** Creates a session and attaches it. It is stored with its first run. */
  readonly createSession: Request<SessionCreated>
  /** Opens a stored session and attaches it. */
  readonly openSession: (sessionId: string) => Request<SessionOpened>
  /** The stored sessions of the workspace, newest first, a page at a time. */
  readonly listSessions: (options?: { readonly page?: PageOf; readonly limit?: number }) => Request<SessionListed>
  /**
   * The attached session's whole history, from its beginning: pages are asked for as they are read, parts of one text are
   * joined. It is one state of the history, named by its revision when the reading begins: if anything is added meanwhile it
   * fails with `stale_revision` (and while a run is active with `run_active`), never mixes two. It holds one page and one
   * text, each bounded. `limit`: entries a page, 1 to 100. Each page uses one request id.
   */
  readonly history: (options?: { readonly limit?: number }) => Stream.Stream<HistoryItem, RequestError | TransportLost>
  /** One page of the attached session's history as the agent gives it (`history.page`). */
  readonly historyPage: (options: {
    readonly revision: string
    readonly cursor?: string
    readonly limit?: number
  }) => Request<HistoryPage>
  /** The providers' models that a session can choose. */
  readonly models: Request<ModelCatalog>
  /** The model that runs use. After `openSession` the agent is asked: a stored session brings its own. */
  readonly selection: Request<Selection>
  /** Chooses the model of the attached session. */
  readonly selectModel: (choice: { readonly provider: string; readonly model: string }) => Request<Selection>
  /** What the agent says of itself now. */
  readonly status: Request<StatusResult>
}

/** The methods over one connection; what reads a history goes through all connections of an agent. */
export interface ChildSessions extends Omit<Sessions, "history"> {
  readonly attached: Effect.Effect<AttachedSession, RequestError>
  /** A session was opened by another way than `openSession`. */
  readonly opened: () => void
  readonly readPage: (wanted: HistoryStream.PageWanted) => Request<HistoryStream.PageRead>
}

/** The methods over one connection. */
export const make = (connection: Connection, info: InitializeResult, turns: Turns): ChildSessions => {
  /** `undefined`: a session was opened, which may have brought a selection of its own that only the agent knows. */
  let selection: Selection | undefined = info.selection

  const call = <Name extends MethodName>(
    method: Name,
    params: JsonObject,
    onResult: (result: ResultOf<Name>) => void = () => {}
  ): Request<ResultOf<Name>> =>
    connection.request(method, params, (result) => {
      const decoded = decodeResult(method, result)
      if (Result.isFailure(decoded)) return undefined
      onResult(decoded.success)
      return decoded.success
    })
  const attached = (method: string) =>
    Effect.suspend(() => {
      const session = turns.attached()
      return session === undefined ? Effect.fail(noSession(method)) : Effect.succeed(session)
    })
  const opened = () => {
    selection = undefined
  }
  const status = call("status", {})
  const selected: Request<Selection> = Effect.suspend(() =>
    selection === undefined
      ? Effect.map(status, (result) => {
          selection = result.selection ?? info.selection
          return selection
        })
      : Effect.succeed(selection)
  )

  const page = ({ sessionId, ...more }: HistoryStream.PageWanted) =>
    call("history.page", { session_id: sessionId, ...more })

  return {
    createSession: Effect.suspend(() =>
      call("session.create", {}, ({ history_revision, session_id }) =>
        turns.attach({ sessionId: session_id, revision: history_revision, stored: false })
      )
    ),
    openSession: (sessionId) =>
      call("session.open", { session_id: sessionId }, ({ history_revision, session_id }) => {
        turns.attach({ sessionId: session_id, revision: history_revision, stored: true })
        opened()
      }),
    listSessions: (options) =>
      call("session.list", { ...options?.page, ...(options?.limit === undefined ? {} : { limit: options.limit }) }),
    attached: attached("history.page"),
    opened,
    readPage: (wanted) =>
      Effect.map(page(wanted), (read) => ({
        page: read,
        broken: (why) =>
          Effect.suspend(() => {
            connection.lose("unclean_frame", `the result of history.page is not what the protocol promises: ${why}`)
            return connection.lost
          })
      })),
    historyPage: (options) =>
      Effect.flatMap(attached("history.page"), ({ sessionId }) => page({ sessionId, ...options })),
    models: call("model.catalog", {}),
    selection: selected,
    selectModel: ({ model, provider }) =>
      Effect.gen(function* () {
        const { sessionId: session_id } = yield* attached("selection.set")
        const { revision: selection_revision } = yield* selected
        const params = { session_id, selection_revision, provider, model }
        const set = yield* call("selection.set", params, (result) => {
          selection = result.selection
          turns.stored(session_id)
        })
        return set.selection
      }),
    status
  }
}
