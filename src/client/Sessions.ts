/** Sessions, models and history of an agent: its methods with their types. base-protocol section 4. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
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
import type { TransportLost } from "./TransportLost.ts"
import { noSession, type Turns } from "./Turns.ts"

type Request<A> = Effect.Effect<A, RequestError | TransportLost>

/** Where a page begins: both members of the page before it, or neither. */
export interface PageOf {
  readonly revision: string
  readonly cursor: string
}

export interface Sessions {
  /** Creates a session and attaches it. It is stored with its first run. */
  readonly createSession: Request<SessionCreated>
  /** Opens a stored session and attaches it. */
  readonly openSession: (sessionId: string) => Request<SessionOpened>
  /** The stored sessions of the workspace, newest first, a page at a time. */
  readonly listSessions: (options?: { readonly page?: PageOf; readonly limit?: number }) => Request<SessionListed>
  /** The attached session's history, a page at a time. */
  readonly history: (options: {
    readonly revision: string
    readonly cursor?: string
    readonly limit?: number
  }) => Request<HistoryPage>
  readonly models: Request<ModelCatalog>
  /** The model that runs use. */
  readonly selection: Effect.Effect<Selection>
  /** Chooses the model of the attached session. */
  readonly selectModel: (choice: { readonly provider: string; readonly model: string }) => Request<Selection>
  readonly status: Request<StatusResult>
}

export const make = (connection: Connection, info: InitializeResult, turns: Turns): Sessions => {
  let selection: Selection = info.selection

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
  const attached = <A>(method: string, use: (sessionId: string) => Request<A>): Request<A> =>
    Effect.suspend((): Request<A> => {
      const sessionId = turns.attached()
      return sessionId === undefined ? Effect.fail(noSession(method)) : use(sessionId)
    })
  const attach = (result: { readonly session_id: string }) => turns.attach(result.session_id)

  return {
    createSession: Effect.suspend(() => call("session.create", {}, attach)),
    openSession: (sessionId) => call("session.open", { session_id: sessionId }, attach),
    listSessions: (options) =>
      call("session.list", { ...options?.page, ...(options?.limit === undefined ? {} : { limit: options.limit }) }),
    history: ({ cursor, limit, revision }) =>
      attached("history.page", (session_id) =>
        call("history.page", {
          session_id,
          revision,
          ...(cursor === undefined ? {} : { cursor }),
          ...(limit === undefined ? {} : { limit })
        })
      ),
    models: call("model.catalog", {}),
    selection: Effect.sync(() => selection),
    selectModel: ({ model, provider }) =>
      attached("selection.set", (session_id) =>
        Effect.map(
          call("selection.set", { session_id, selection_revision: selection.revision, provider, model }, (result) => {
            selection = result.selection
          }),
          (result) => result.selection
        )
      ),
    status: call("status", {})
  }
}
