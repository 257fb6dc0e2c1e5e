/** One turn: the run that answers a prompt. base-protocol sections 4 and 5; product sections 4 and 5. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import type { RunFinished, RunStatus } from "../protocol/Event.ts"
import type { EventsOverflow, RequestIdsExhausted } from "./AgentErrors.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import { AnswerText } from "./AnswerText.ts"
import type { TransportLost } from "./TransportLost.ts"
import { type TurnEvent, TurnEvents } from "./TurnEvents.ts"

/** How a run ended. */
export interface TurnOutcome {
  /** `completed`, `failed` or `cancelled`. */
  readonly status: RunStatus
  /** Why it failed: a code of the protocol, or `RequestIdsExhausted`. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** The last assistant message's reconciled text; empty if there was none. */
  readonly text: string
  /** The run's last event, where it came. */
  readonly finished: RunFinished | null
}

/** A run that was started. It belongs to a scope: leaving that before the run has ended sends `turn.cancel`. */
export interface Turn {
  /** As it stands in every event. */
  readonly runId: string
  /** Everything the run tells, in order, until its `run.finished`. To be read once; reading it may lag behind. */
  readonly events: Stream.Stream<TurnEvent, TransportLost | EventsOverflow>
  /** Waits for the end of the run. */
  readonly outcome: Effect.Effect<TurnOutcome, TransportLost>
  /** Sends `turn.cancel`, once. The run ends with its outcome; acceptance does not promise that it is `cancelled`. */
  readonly cancel: Effect.Effect<void>
}

/** The client's side of a run. Every member is synchronous but the waiting. */
export class ActiveTurn {
  readonly sessionId: string
  readonly runId: string
  readonly span: Tracer.Span
  readonly events: TurnEvents
  readonly #text = new AnswerText()
  readonly #outcome = Deferred.makeUnsafe<TurnOutcome, TransportLost>()
  readonly #clock: Clock.Clock
  /** `turn.cancel` was sent. */
  cancelled = false
  /** The request ids ran out: this is the outcome, whatever else comes. */
  exhausted: RequestIdsExhausted | undefined

  private constructor(sessionId: string, runId: string, parts: TurnParts) {
    this.sessionId = sessionId
    this.runId = runId
    this.span = parts.span
    this.events = parts.events
    this.#clock = parts.clock
  }

  /** What a turn needs and can only be made by an effect, before its run is known. */
  static readonly parts: Effect.Effect<TurnParts> = Effect.gen(function* () {
    return {
      clock: yield* Clock.Clock,
      span: yield* Effect.makeSpan("magi_code.client.run"),
      events: yield* TurnEvents.make
    }
  })

  static start(sessionId: string, runId: string, parts: TurnParts): ActiveTurn {
    parts.span.attribute("session_id", sessionId)
    parts.span.attribute("run_id", runId)
    return new ActiveTurn(sessionId, runId, parts)
  }

  get isOver(): boolean {
    return Deferred.isDoneUnsafe(this.#outcome)
  }

  get outcome(): Effect.Effect<TurnOutcome, TransportLost> {
    return Deferred.await(this.#outcome)
  }

  /** Takes an event of the agent. True: it was this run's last. */
  received(event: AgentEvent, bytes: number): boolean {
    this.events.received(event, bytes)
    if (event._tag !== "Event" || event.data.run_id !== this.runId || event.data.session_id !== this.sessionId) {
      return false
    }
    if (event.event === "message.reconcile") this.#text.reconcile(event.data)
    if (event.event !== "run.finished") return false
    this.#end({ status: event.data.status, error: event.data.error, text: this.#text.text, finished: event.data })
    return true
  }

  replied(callId: string, status: "success" | "error"): void {
    this.events.replied(callId, status, this.#clock.monotonicTimeNanosUnsafe())
  }

  /** The run was given up and does not end: its outcome is what it would have been. */
  giveUp(): void {
    this.#end({ status: "cancelled", error: null, text: this.#text.text, finished: null })
  }

  lose(error: TransportLost): void {
    if (this.exhausted !== undefined) this.giveUp()
    if (!Deferred.doneUnsafe(this.#outcome, Exit.fail(error))) return
    this.events.fail(error)
    this.span.end(this.#clock.currentTimeNanosUnsafe(), Exit.fail(error))
  }

  #end(told: TurnOutcome): void {
    const { exhausted } = this
    const outcome: TurnOutcome =
      exhausted === undefined
        ? told
        : { ...told, status: "failed", error: { code: exhausted._tag, message: exhausted.message } }
    if (!Deferred.doneUnsafe(this.#outcome, Exit.succeed(outcome))) return
    this.events.end()
    this.span.attribute("status", outcome.status)
    this.span.end(this.#clock.currentTimeNanosUnsafe(), Exit.void)
  }
}

interface TurnParts {
  readonly clock: Clock.Clock
  readonly span: Tracer.Span
  readonly events: TurnEvents
}
