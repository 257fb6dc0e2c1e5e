/**
 * One agent, from its start to its end: a connection with its handlers, questions and turns, closed with one budget. An
 * `Agent` has one of these at a time (`Recycle`). product sections 4 and 5.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import { bounded, makeBudget } from "../platform/Bounded.ts"
import type { InitializeResult } from "../protocol/Initialize.ts"
import type { AgentNotStarted, InitializeFailed, LimitExceeded, RequestError } from "./AgentErrors.ts"
import * as AgentEvent from "./AgentEvent.ts"
import type { AgentEnd, AgentLink } from "./AgentLink.ts"
import * as Approvals from "./Approvals.ts"
import type { Approver } from "./Approver.ts"
import { type ClientTools, none } from "./ClientTool.ts"
import * as Connection from "./Connection.ts"
import * as Handlers from "./Handlers.ts"
import * as Handover from "./Handover.ts"
import { initialize, registryMisfit } from "./Handshake.ts"
import * as Replies from "./Replies.ts"
import * as Sessions from "./Sessions.ts"
import type { TransportLost } from "./TransportLost.ts"
import type { Turn } from "./Turn.ts"
import * as Turns from "./Turns.ts"

/** The budget in milliseconds that handlers' finalizers and the closing of the child share. */
export const CLOSING_MS = 2000

/** What every agent of a program is opened with, whatever its link. */
export interface ChildOptions {
  /** The tools that the agent may call; made by `PlainTools.make` or `ToolkitTools.make`. Default: none. */
  readonly tools?: ClientTools
  /** Answers questions of approval. Default: every one is denied. */
  readonly approver?: Approver
  /** Told how an agent's process ended when it was closed in order; a loss is told by `TransportLost`. */
  readonly onEnd?: (end: AgentEnd) => void
  /** Negotiate `tool.cards`. Default: false. */
  readonly cards?: boolean
}

/**
 * Why an agent could not be opened: its command did not start, `initialize` did not lead to a usable agent, or it was lost
 * while it was initialized.
 */
export type AgentOpenError = AgentNotStarted | InitializeFailed | TransportLost

/** One open agent as `Agent` uses it. */
export interface AgentChild extends Sessions.ChildSessions {
  readonly info: InitializeResult
  readonly turn: (prompt: string) => Effect.Effect<Turn, RequestError | TransportLost, Scope.Scope>
  readonly lost: Effect.Effect<never, TransportLost>
  readonly idsLeft: () => number
  readonly handover: Handover.Handover
}

/** Opens an agent in the current scope: started, initialized, supervised, and gone within two seconds of its closing. */
export const open = (
  start: Effect.Effect<AgentLink, AgentNotStarted>,
  options: ChildOptions
): Effect.Effect<AgentChild, AgentOpenError, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const tools = options.tools ?? none
      const descriptors = tools.tools.map((tool) => tool.descriptor)
      const link = yield* start
      const inner = yield* Scope.make("parallel")
      const lossSeen = Deferred.makeUnsafe<void>()

      const connection = yield* Connection.make(link, {
        event: (wire) => {
          const event = AgentEvent.read(wire)
          if (event._tag === "UnknownEvent" && mustBeKnown.has(event.event)) {
            return connection.lose("unclean_frame", `the data of a ${event.event} is not of its type`)
          }
          turns.received(event, wire.bytes)
          if (event._tag !== "Event") return
          if (event.event === "client.tool.call") handlers.call(event.instanceId, event.data, event.at, wire.fault)
          else if (event.event === "client.tool.cancel") handlers.cancel(event.instanceId, event.data)
          else if (event.event === "approval.request") approvals.request(event.instanceId, event.data)
          else if (event.event === "approval.closed") approvals.closed(event.data)
        },
        lost: () => {
          handlers.stop()
          handlers.endAll("lost")
          approvals.clear()
          Deferred.doneUnsafe(lossSeen, Exit.void)
        },
        told: (error) => turns.lose(error)
      }).pipe(Scope.provide(inner))

      let resultBytes = Number.POSITIVE_INFINITY
      const tasks = yield* FiberSet.make<void>().pipe(Scope.provide(inner))
      const runTask = yield* FiberSet.runtime(tasks)()
      const turns = Turns.make({
        connection,
        run: runTask,
        onOver: (ending) => {
          if (ending === "ids_exhausted") handlers.stop()
          handlers.endAll(ending)
          approvals.clear()
        }
      })
      const replies = Replies.make({
        requests: connection.requests,
        resultBytes: () => resultBytes,
        onSent: turns.replied,
        onNotSent: (callId, why) => {
          const reason = typeof why === "string" ? why : why.message
          runTask(Effect.logWarning(`the reply to call ${callId} could not be sent: ${reason}`))
        }
      })
      const handlers = yield* Handlers.make({
        tools,
        replies,
        current: turns.current,
        approver: options.approver,
        lose: connection.lose
      }).pipe(Scope.provide(inner))
      const approvals = yield* Approvals.make({
        requests: connection.requests,
        current: turns.current,
        approver: options.approver
      }).pipe(Scope.provide(inner))

      // One budget for everything, from the loss or from the closing of the scope, whichever comes first.
      const close = yield* Effect.cached(
        Effect.gen(function* () {
          const budget = yield* makeBudget(CLOSING_MS)
          handlers.stop()
          handlers.endAll("closed")
          approvals.clear()
          yield* connection.end
          const waitForHandlers = Effect.flatMap(budget.left(), (left) => Effect.timeoutOption(handlers.idle, left))
          yield* Effect.all([link.close(budget), waitForHandlers, connection.ended], {
            concurrency: "unbounded",
            discard: true
          })
          if (!Deferred.isDoneUnsafe(lossSeen)) options.onEnd?.(yield* link.describeEnd(0))
          const left = yield* budget.left()
          if (!(yield* bounded(Scope.close(inner, Exit.void), Math.max(MARGIN_MS, left)))) {
            yield* Effect.logWarning("what ran for the agent did not end in time and was abandoned")
          }
        })
      )
      yield* Effect.forkScoped(Effect.andThen(Deferred.await(lossSeen), close))
      yield* Effect.addFinalizer(() => close)
      yield* connection.start.pipe(Scope.provide(inner))

      const info = yield* restore(initialize(connection, descriptors, options.cards ?? false))
      connection.requests.announce(info.limits)
      if (info.client_tools !== undefined) {
        resultBytes = info.client_tools.limits.result_bytes
        handlers.announce(info.client_tools.limits.pending_calls)
      }
      turns.initialized(info, misfit(info, descriptors))
      const sessions = Sessions.make(connection, info, turns)
      return {
        ...sessions,
        info,
        turn: turns.turn,
        lost: connection.lost,
        idsLeft: () => connection.requests.left,
        handover: Handover.make(connection, turns, sessions.opened)
      } satisfies AgentChild
    })
  )

/** Even a budget that is spent leaves the moment that letting go takes. */
const MARGIN_MS = 20

/** Events that a run depends on: where their data is not of its type, nothing after it can be trusted. */
const mustBeKnown: ReadonlySet<string> = new Set(["client.tool.call", "client.tool.cancel", "run.finished"])

const misfit = (
  info: InitializeResult,
  descriptors: Parameters<typeof registryMisfit>[0]
): LimitExceeded | undefined =>
  info.client_tools === undefined ? undefined : registryMisfit(descriptors, info.client_tools.limits)
