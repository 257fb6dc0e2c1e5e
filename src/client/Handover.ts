/**
 * What a recycle asks of a child: what it holds, to let go of it, to open it. These requests may use what is kept of the ids
 * for the replies of a run, since none is active. product section 5, Ids; base-protocol section 4, `session.open`.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { decodeResult, type ResultOf } from "../protocol/DecodeResult.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { MethodName } from "../protocol/Method.ts"
import type { SessionCreated, SessionOpened, StatusResult } from "../protocol/MethodResult.ts"
import { type RequestError, RequestFailed } from "./AgentErrors.ts"
import type { Connection } from "./Connection.ts"
import type { TransportLost } from "./TransportLost.ts"
import type { AttachedSession, Turns } from "./Turns.ts"

type Request<A> = Effect.Effect<A, RequestError | TransportLost>

/** A child that does not say how it is in this time is not asked for more. */
export const STATUS_MS = 2000
/** Opening or creating a session that takes longer has failed. */
export const SESSION_MS = 30_000

/** One child as a recycle sees it. */
export interface Handover {
  /** No run is active. */
  readonly isOver: () => boolean
  /** The same, after waiting for a cancelled run, for at most two seconds. */
  readonly over: Effect.Effect<boolean>
  /** The session that was attached last, also when the child is lost. */
  readonly attached: () => AttachedSession | undefined
  readonly status: Request<StatusResult>
  readonly create: Request<SessionCreated>
  readonly open: (sessionId: string) => Request<SessionOpened>
  /** Takes another session, one without entries, so that the lock of the present one is free. No turn can start after it. */
  readonly release: Request<void>
}

/** `opened`: told of a session in the step in which it was opened. */
export const make = (connection: Connection, turns: Turns, opened: () => void): Handover => {
  const call = <Name extends MethodName>(
    method: Name,
    params: JsonObject,
    millis: number,
    onResult: (result: ResultOf<Name>) => void
  ): Request<ResultOf<Name>> =>
    connection
      .request(
        method,
        params,
        (result) => {
          const decoded = decodeResult(method, result)
          if (Result.isFailure(decoded)) return undefined
          onResult(decoded.success)
          return decoded.success
        },
        "reply"
      )
      .pipe(
        Effect.timeoutOrElse({
          duration: millis,
          orElse: () =>
            Effect.fail(
              new RequestFailed({ method, code: "timeout", reason: `it did not answer within ${millis / 1000} s` })
            )
        })
      )
  const attach = (result: SessionOpened | SessionCreated) =>
    turns.attach({ sessionId: result.session_id, revision: result.history_revision, stored: result.durable })

  return {
    isOver: turns.isOver,
    over: turns.over,
    attached: turns.attached,
    status: call("status", {}, STATUS_MS, () => {}),
    create: call("session.create", {}, SESSION_MS, attach),
    open: (session_id) =>
      call("session.open", { session_id }, SESSION_MS, (result) => {
        attach(result)
        opened()
      }),
    release: Effect.asVoid(call("session.create", {}, SESSION_MS, () => turns.attach(undefined)))
  }
}
