/**
 * `magi-code/promise`: the client for programs without Effect. Thin, over the same core: promises, async iterables,
 * `await using`. product section 4.
 *
 * ```ts
 * await using agent = await openAgent({ tools: [wordCount] })
 * await agent.createSession()
 * await using turn = await agent.turn("How many words has this?")
 * for await (const event of turn.events) console.log(event._tag)
 * console.log((await turn.outcome).text)
 * ```
 *
 * What fails rejects with the tagged errors of `magi-code`: `AgentNotStarted`, `InitializeFailed`, `TransportLost`,
 * `RequestFailed`, `RequestIdsExhausted`, `LimitExceeded`, `ToolRefused`, `RecycleFailed`.
 *
 * @module magi-code/promise
 */
export { ownBackend } from "../platform/OwnBackend.ts"
export type { ApprovalQuestion } from "./Approver.ts"
export type { HistoryItem, HistoryText, HistoryTool } from "./HistoryParts.ts"
export type { PlainTool, PlainToolContext } from "./PlainTools.ts"
export type { Recycled } from "./Recycle.ts"
export type { TurnOutcome } from "./Turn.ts"
export type { TurnEvent } from "./TurnEvents.ts"

// The exports come first: in the declarations a comment on an import that is not needed there would be lost.

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { InitializeResult } from "../protocol/Initialize.ts"
import type {
  HistoryPage,
  ModelCatalog,
  Selection,
  SessionCreated,
  SessionListed,
  SessionOpened,
  StatusResult
} from "../protocol/MethodResult.ts"
import { Agent, type AgentOptions, type AgentShape } from "./Agent.ts"
import type { AgentLink } from "./AgentLink.ts"
import type { ApprovalQuestion } from "./Approver.ts"
import type { HistoryItem } from "./HistoryParts.ts"
import { linkBy } from "./LinkBy.ts"
import { make as makeTools, type PlainTool } from "./PlainTools.ts"
import type { Recycled } from "./Recycle.ts"
import type { PageOf } from "./Sessions.ts"
import type { TurnOutcome } from "./Turn.ts"
import type { TurnEvent } from "./TurnEvents.ts"

/** How an agent is started and what it is opened with. */
export interface OpenOptions extends Omit<AgentOptions, "tools" | "approver"> {
  /**
   * A link in place of a process, such as a scripted agent's; `words` is then not used. A function makes one for each child,
   * which `recycle` needs; what it throws is the `reason` of an `AgentNotStarted`.
   */
  readonly link?: AgentLink | (() => AgentLink | Promise<AgentLink>)
  /** The tools that the agent may call; at most 32. */
  readonly tools?: ReadonlyArray<PlainTool>
  /** Answers questions of approval; the signal aborts when one is closed. A rejection is a denial. Default: all denied. */
  readonly approver?: (question: ApprovalQuestion, signal: AbortSignal) => boolean | Promise<boolean>
}

/** A run. Leaving its `await using` before its end sends `turn.cancel`. */
export interface PromiseTurn extends AsyncDisposable {
  /** The run's id, as it stands in every event. */
  readonly runId: string
  /** Everything the run tells, in order, to be read once. Leaving the loop early does not cancel the run. */
  readonly events: AsyncIterable<TurnEvent>
  /** The end of the run; rejects with `TransportLost`. */
  readonly outcome: Promise<TurnOutcome>
  /** Sends `turn.cancel`, once; the outcome tells what came of it. */
  readonly cancel: () => Promise<void>
}

/** An open agent. Its process is gone within two seconds of `close`, which `await using` calls. */
export interface PromiseAgent extends AsyncDisposable {
  /** What the agent said of itself when it was initialized. */
  readonly info: InitializeResult
  /** Creates a session and attaches it. It is stored with its first run. */
  readonly createSession: () => Promise<SessionCreated>
  /** Opens a stored session and attaches it. */
  readonly openSession: (sessionId: string) => Promise<SessionOpened>
  /** The stored sessions of the workspace, newest first, a page at a time: `limit` is 1 to 100. */
  readonly listSessions: (options?: { readonly page?: PageOf; readonly limit?: number }) => Promise<SessionListed>
  /** The attached session's history, read a page at a time as it is iterated; iterate it again to read it anew. */
  readonly history: (options?: Parameters<AgentShape["history"]>[0]) => AsyncIterable<HistoryItem>
  /** One page of it as the agent gives it. */
  readonly historyPage: (options: Parameters<AgentShape["historyPage"]>[0]) => Promise<HistoryPage>
  /** The models that a session can choose. */
  readonly models: () => Promise<ModelCatalog>
  /** Chooses the model of the attached session. */
  readonly selectModel: (choice: { readonly provider: string; readonly model: string }) => Promise<Selection>
  /** What the agent says of itself now. */
  readonly status: () => Promise<StatusResult>
  /** Starts a run in the attached session; one at a time. */
  readonly turn: (prompt: string) => Promise<PromiseTurn>
  /** Starts a run and waits for its outcome; aborting the signal sends `turn.cancel` and rejects, before the turn without one. */
  readonly run: (prompt: string, options?: { readonly signal?: AbortSignal }) => Promise<TurnOutcome>
  /**
   * Replaces the child by a fresh one in which the attached session is opened again; nothing is sent twice. What is asked
   * meanwhile waits. Rejects with `RecycleFailed`, such as `run_active` while a run is active.
   */
  readonly recycle: () => Promise<Recycled>
  /** Request ids that the present child still takes; 64 are kept back. */
  readonly requestIdsLeft: () => Promise<number>
  /** Ends the agent within two seconds. Idempotent. */
  readonly close: () => Promise<void>
}

/** Starts an agent. Rejects when it cannot be started or initialized, or when a tool is refused. */
export const openAgent = async (options: OpenOptions = {}): Promise<PromiseAgent> => {
  const scope = Scope.makeUnsafe()
  const close = async () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const agent = await Effect.runPromise(Scope.provide(open(options), scope))
    return facade(agent, close)
  } catch (error) {
    await close()
    throw error
  }
}

const open = ({ approver, link, tools, ...rest }: OpenOptions) =>
  Effect.gen(function* () {
    const made = yield* makeTools(tools ?? [])
    const more = {
      tools: made,
      ...(approver === undefined
        ? {}
        : {
            approver: (question: ApprovalQuestion) =>
              Effect.promise(async (signal) => (await approver(question, signal)) === true)
          })
    }
    if (typeof link === "function") {
      return yield* Agent.over(linkBy(link), { ...rest, ...more })
    }
    if (link !== undefined) return yield* Agent.over(link, { ...rest, ...more })
    return yield* Agent.make({ ...rest, ...more })
  })

const facade = (agent: AgentShape, close: () => Promise<void>): PromiseAgent => ({
  get info() {
    return agent.info
  },
  createSession: () => Effect.runPromise(agent.createSession),
  openSession: (sessionId) => Effect.runPromise(agent.openSession(sessionId)),
  listSessions: (options) => Effect.runPromise(agent.listSessions(options)),
  history: (options) => Stream.toAsyncIterable(agent.history(options)),
  historyPage: (options) => Effect.runPromise(agent.historyPage(options)),
  models: () => Effect.runPromise(agent.models),
  selectModel: (choice) => Effect.runPromise(agent.selectModel(choice)),
  status: () => Effect.runPromise(agent.status),
  run: async (prompt, options) => {
    options?.signal?.throwIfAborted()
    return Effect.runPromise(agent.run(prompt), options)
  },
  turn: async (prompt) => {
    const scope = Scope.makeUnsafe()
    const dispose = () => Effect.runPromise(Scope.close(scope, Exit.void))
    try {
      const turn = await Effect.runPromise(Scope.provide(agent.turn(prompt), scope))
      const outcome = Effect.runPromise(turn.outcome)
      // Whoever reads only the events learns of the loss there; an outcome that nobody awaits is no crash.
      outcome.catch(() => {})
      return {
        runId: turn.runId,
        events: Stream.toAsyncIterable(turn.events),
        outcome,
        cancel: () => Effect.runPromise(turn.cancel),
        [Symbol.asyncDispose]: dispose
      }
    } catch (error) {
      await dispose()
      throw error
    }
  },
  recycle: () => Effect.runPromise(agent.recycle),
  requestIdsLeft: () => Effect.runPromise(agent.requestIdsLeft),
  close,
  [Symbol.asyncDispose]: close
})
