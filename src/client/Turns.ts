/** The turns of one agent: one at a time, each from `turn.start` to its `run.finished`. base-protocol section 4. */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { decodeResult } from "../protocol/DecodeResult.ts"
import type { InitializeResult } from "../protocol/Initialize.ts"
import { Limits } from "../protocol/Limits.ts"
import { LimitExceeded, type RequestError, RequestFailed } from "./AgentErrors.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import type { Connection } from "./Connection.ts"
import type { CurrentRun } from "./Handlers.ts"
import type { TransportLost } from "./TransportLost.ts"
import { ActiveTurn, type Turn } from "./Turn.ts"

/** How long a cancelled run may take to finish before a new one is refused, or, when the ids ran out, is given up. */
const CANCEL_MS = 2000

/** What turns need of their connection. */
export interface TurnsOptions {
  readonly connection: Connection
  /** Forks into the agent's scope. */
  readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  /** The run is over, or is given up because the request ids ran out. Synchronous. */
  readonly onOver: (ending: "run_finished" | "ids_exhausted") => void
}

/** What a client knows of the attached session. */
export interface AttachedSession {
  readonly sessionId: string
  /** `history_revision` as it was told last; it may have changed since. */
  readonly revision: string
  /** Something of it may be stored. */
  readonly stored: boolean
}

/** The turns of one connection; one is active at a time. */
export interface Turns {
  readonly initialized: (info: InitializeResult, misfit: LimitExceeded | undefined) => void
  readonly attach: (session: AttachedSession | undefined) => void
  /** The session that was attached last. */
  readonly attached: () => AttachedSession | undefined
  /** Something of the session was saved: it can be opened again. */
  readonly stored: (sessionId: string) => void
  /** No run is active now. One whose end was given up counts no more. */
  readonly isOver: () => boolean
  /** The same, after waiting for a cancelled run, for at most two seconds. */
  readonly over: Effect.Effect<boolean>
  readonly turn: (prompt: string) => Effect.Effect<Turn, RequestError | TransportLost, Scope.Scope>
  /** The run whose calls are executed. */
  readonly current: () => CurrentRun | undefined
  readonly received: (event: AgentEvent, bytes: number) => void
  readonly replied: (callId: string, status: "success" | "error") => void
  readonly lose: (error: TransportLost) => void
}

/** What a request needs that is about the attached session. */
export const noSession = (method: string) =>
  new RequestFailed({ method, code: "no_session", reason: "create or open a session first" })

/** Turns over this connection, none active. */
export const make = (options: TurnsOptions): Turns => {
  const { connection } = options
  const { requests } = connection
  let agent: InitializeResult | undefined
  let misfit: LimitExceeded | undefined
  let session: AttachedSession | undefined
  let active: ActiveTurn | undefined

  const cancel = (turn: ActiveTurn) => {
    if (turn.isOver || turn.cancelled) return
    turn.cancelled = true
    requests.send("turn.cancel", { session_id: turn.sessionId, run_id: turn.runId }, "last")
  }

  requests.onLastReserve = () => {
    const turn = active
    if (turn === undefined) return
    turn.exhausted = requests.exhausted()
    options.onOver("ids_exhausted")
    cancel(turn)
    options.run(
      Effect.andThen(
        Effect.sleep(CANCEL_MS),
        Effect.sync(() => turn.giveUp())
      )
    )
  }

  const refusal = (prompt: string): LimitExceeded | RequestFailed | undefined => {
    const most = Math.min(Limits.prompt_bytes, agent?.limits.prompt_bytes ?? Limits.prompt_bytes)
    if (misfit !== undefined) return misfit
    if (prompt.trim() === "") {
      return new RequestFailed({ method: "turn.start", code: "invalid_params", reason: "the prompt is blank" })
    }
    const bytes = Buffer.byteLength(prompt)
    return bytes > most
      ? new LimitExceeded({ limit: "prompt_bytes", reason: `the prompt has ${bytes} bytes, at most ${most} are taken` })
      : undefined
  }

  const stored = (sessionId: string) => {
    if (session?.sessionId === sessionId) session = { ...session, stored: true }
  }

  const waitForCancelled = Effect.suspend(() =>
    active?.cancelled ? Effect.timeoutOption(Effect.exit(active.outcome), CANCEL_MS) : Effect.void
  )

  const isOver = () => active?.isOver ?? true

  const turn = Effect.fnUntraced(function* (prompt: string) {
    const refused = refusal(prompt)
    if (refused !== undefined) return yield* refused
    yield* waitForCancelled
    const parts = yield* ActiveTurn.parts
    const sessionId = session?.sessionId
    if (sessionId === undefined) return yield* noSession("turn.start")
    let begun: ActiveTurn | undefined
    const start = connection.request("turn.start", { session_id: sessionId, prompt }, (result, wanted) => {
      const decoded = decodeResult("turn.start", result)
      if (Result.isFailure(decoded)) return undefined
      begun = ActiveTurn.start(sessionId, decoded.success.run_id, parts)
      active = begun
      stored(sessionId)
      if (!wanted) cancel(begun)
      return begun
    })
    const abandon = Effect.sync(() => {
      if (begun !== undefined) cancel(begun)
    })
    // A run belongs to the scope from the step in which its response was read.
    const started = yield* Effect.uninterruptibleMask((restore) =>
      restore(start).pipe(
        Effect.onInterrupt(() => abandon),
        Effect.tap(() => Effect.addFinalizer(() => abandon))
      )
    )
    return {
      runId: started.runId,
      events: started.events.stream,
      outcome: started.outcome,
      cancel: Effect.sync(() => cancel(started))
    } satisfies Turn
  })

  return {
    initialized: (info, why) => {
      agent = info
      misfit = why
    },
    attach: (attached) => {
      session = attached
    },
    stored,
    isOver,
    over: Effect.map(waitForCancelled, isOver),
    attached: () => session,
    turn,
    current: () =>
      active === undefined || agent === undefined
        ? undefined
        : {
            instanceId: agent.instance_id,
            sessionId: active.sessionId,
            runId: active.runId,
            span: active.span
          },
    received: (event, bytes) => {
      const turn = active
      if (turn === undefined) return
      // What another instance says is shown, and changes nothing.
      if (event.instanceId !== agent?.instance_id) return turn.events.received(event, bytes)
      if (!turn.received(event, bytes)) return
      active = undefined
      if (event._tag === "Event" && event.event === "run.finished" && session?.sessionId === turn.sessionId) {
        session = { ...session, revision: event.data.history_revision }
      }
      options.onOver("run_finished")
    },
    replied: (callId, status) => active?.replied(callId, status),
    lose: (error) => {
      active?.lose(error)
      active = undefined
    }
  }
}
