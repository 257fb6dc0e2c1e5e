/**
 * An agent, opened as a scoped resource: started, initialized, supervised, and gone within two seconds of the closing of
 * its scope. product sections 4 and 5.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InitializeResult } from "../protocol/Initialize.ts"
import * as AgentChild from "./AgentChild.ts"
import type { AgentNotStarted, RecycleFailed, RequestError } from "./AgentErrors.ts"
import type { AgentLink } from "./AgentLink.ts"
import * as AgentProcess from "./AgentProcess.ts"
import * as HistoryStream from "./HistoryStream.ts"
import * as Recycle from "./Recycle.ts"
import type { Sessions } from "./Sessions.ts"
import type { TransportLost } from "./TransportLost.ts"
import type { Turn, TurnOutcome } from "./Turn.ts"

/** What an agent is opened with, whatever its link. */
export interface AgentBehaviour extends AgentChild.ChildOptions {
  /**
   * Recycles the agent by itself before a turn when so few request ids are left, 65 to 4096; what a turn spends is one id for
   * itself and one for each call and question. A recycle that fails is logged, and the turn goes to the present child.
   * Default: never.
   */
  readonly recycleBelow?: number
}

/** How an agent is started, and what it is opened with. */
export interface AgentOptions extends AgentProcess.AgentCommand, AgentBehaviour {}

/** An open agent. Everything of it but `recycle` is about its present child process. */
export interface AgentShape extends Sessions {
  /** What the agent said of itself when it was initialized. */
  readonly info: InitializeResult
  /**
   * Starts a run in the attached session. The run is cancelled (`turn.cancel`) when the scope closes before it has ended.
   * One run at a time: a cancelled one is waited for, for at most two seconds.
   */
  readonly turn: (prompt: string) => Effect.Effect<Turn, RequestError | TransportLost, Scope.Scope>
  /** Starts a run and waits for its outcome. Interrupting it sends `turn.cancel`. */
  readonly run: (prompt: string) => Effect.Effect<TurnOutcome, RequestError | TransportLost>
  /**
   * Replaces the child by a fresh one, in which the attached session is opened again. For programs that live longer than the
   * 4096 request ids of a process, and after a loss. Nothing is ever sent again.
   *
   * It fails with `run_active` while a run is active (a cancelled one is waited for, for two seconds). What is asked of the
   * agent meanwhile waits for its end, which is bounded: two seconds for requests under way, 30 s each for `initialize`, for
   * letting the session go and for opening it. Then the new child is used, or after a failure the one before. The one before
   * is closed when the new one is in use, within two seconds; `recycle` ends after that.
   *
   * A recycle belongs to the agent: interrupting whoever waits for it does not stop it, and who asks meanwhile waits for the
   * same one.
   */
  readonly recycle: Effect.Effect<Recycle.Recycled, RecycleFailed>
  /** Fails when the transport is lost; never succeeds. The end of a recycled child is no loss. */
  readonly lost: Effect.Effect<never, TransportLost>
  /** Request ids that the present child still takes. */
  readonly requestIdsLeft: Effect.Effect<number>
}

/** The agent as a service: `yield* Agent`, provided by `Agent.layer`, or made in a scope by `Agent.make`. */
export class Agent extends Context.Service<Agent, AgentShape>()("magi-code/client/Agent") {
  /** Starts the agent as a child process; closing the scope ends it within two seconds. */
  static readonly make = (options: AgentOptions): Effect.Effect<AgentShape, AgentChild.AgentOpenError, Scope.Scope> =>
    make(AgentProcess.open(options), options, true)

  /** The same as a Layer. */
  static readonly layer = (options: AgentOptions): Layer.Layer<Agent, AgentChild.AgentOpenError> =>
    Layer.effect(Agent, Agent.make(options))

  /** `recycle` of the agent in the context. */
  static readonly recycle: Effect.Effect<Recycle.Recycled, RecycleFailed, Agent> = Effect.suspend(() =>
    Effect.flatMap(Agent, (agent) => agent.recycle)
  )

  /**
   * Reaches the agent over another link, such as a pair of transports in memory. With an effect that makes a link each child
   * gets one; with one link `recycle` fails (`no_link`). The effect is run uninterruptibly, so that no link is lost: make it
   * `Effect.interruptible` where it may take long.
   */
  static readonly over = (
    link: AgentLink | Effect.Effect<AgentLink, AgentNotStarted>,
    options: AgentBehaviour = {}
  ): Effect.Effect<AgentShape, AgentChild.AgentOpenError, Scope.Scope> =>
    Effect.isEffect(link) ? make(link, options, true) : make(Effect.succeed(link), options, false)
}

const make = Effect.fnUntraced(function* (
  start: Effect.Effect<AgentLink, AgentNotStarted>,
  options: AgentBehaviour,
  renewable: boolean
) {
  const children = yield* Recycle.make(AgentChild.open(start, options), renewable)
  const { current, recycle, use } = children
  const below = options.recycleBelow ?? 0
  const recycleIfLow = Effect.suspend(() =>
    current().idsLeft() > below
      ? Effect.void
      : Effect.catch(recycle, (error) => Effect.logWarning(`the agent was not recycled: ${error.message}`))
  )
  const turn = (prompt: string) =>
    Effect.andThen(
      recycleIfLow,
      use((child) => child.turn(prompt))
    )
  return Agent.of({
    get info() {
      return current().info
    },
    createSession: use((child) => child.createSession),
    openSession: (sessionId) => use((child) => child.openSession(sessionId)),
    listSessions: (page) => use((child) => child.listSessions(page)),
    history: (more) =>
      HistoryStream.read(
        {
          attached: use((child) => child.attached),
          page: (wanted) => use((child) => child.readPage(wanted)),
          status: use((child) => child.status)
        },
        more?.limit
      ),
    historyPage: (page) => use((child) => child.historyPage(page)),
    models: use((child) => child.models),
    selection: use((child) => child.selection),
    selectModel: (choice) => use((child) => child.selectModel(choice)),
    status: use((child) => child.status),
    turn,
    run: (prompt) => Effect.scoped(Effect.flatMap(turn(prompt), (started) => started.outcome)),
    recycle,
    lost: children.lost,
    requestIdsLeft: Effect.sync(() => current().idsLeft())
  })
})
