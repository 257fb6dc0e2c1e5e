/**
 * Runs client tools: one fiber a call under one scope, the deadline counted from when the event's bytes were read, one
 * winner for each call, finalizers bounded. product sections 4 and 5, Calls; client-tools, Cancellation.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { CallIdentity } from "../protocol/CallIdentity.ts"
import type { ClientToolCall, ClientToolCancel } from "../protocol/Event.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { JsonFault } from "../protocol/StrictJson.ts"
import type { Approver } from "./Approver.ts"
import { type CallEntry, CallTable, MOST_REMEMBERED, MOST_RUNNING, type Winner } from "./CallTable.ts"
import * as ClientMetrics from "./ClientMetrics.ts"
import type { ClientTool, ClientTools, ToolFailed, ToolReplyValue } from "./ClientTool.ts"
import type { Replies } from "./Replies.ts"
import { type Ending, ToolCall, type ToolCallShape } from "./ToolCall.ts"
import type { LossCause } from "./TransportLost.ts"

/** What a handler's finalizers get after its interruption (product section 4). */
export const FINALIZERS_MS = 2000

/** The run whose calls are executed. */
export interface CurrentRun {
  readonly instanceId: string
  readonly sessionId: string
  readonly runId: string
  readonly span: Tracer.AnySpan | undefined
}

/** What handlers need of their connection. */
export interface HandlersOptions {
  readonly tools: ClientTools
  readonly replies: Replies
  readonly current: () => CurrentRun | undefined
  readonly approver: Approver | undefined
  readonly lose: (reason: LossCause, description: string) => void
}

/** The handlers of one connection. */
export interface Handlers {
  /**
   * `client.tool.call`, synchronously. `at`: monotonic nanoseconds at which its bytes were read. `fault`: its arguments break
   * a rule of JSON that is answered with an `error` reply.
   */
  readonly call: (instanceId: string, data: ClientToolCall, at: bigint, fault?: JsonFault) => void
  /** `client.tool.cancel`, synchronously. */
  readonly cancel: (instanceId: string, data: ClientToolCancel) => void
  /** Ends every call that has not ended, synchronously, and interrupts its handler. */
  readonly endAll: (winner: Ending) => void
  /** Keeps a lower `pending_calls` of the agent. */
  readonly announce: (pendingCalls: number) => void
  /** From now on no handler starts. */
  readonly stop: () => void
  /** Ends when no handler is alive; an abandoned one is not. */
  readonly idle: Effect.Effect<void>
}

const error = (text: string): ToolReplyValue => ({ status: "error", text })

/** Its fibers live in the current scope. Closing that scope waits for finalizers: bound it. */
export const make = Effect.fnUntraced(function* (options: HandlersOptions) {
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const fibers = yield* FiberMap.make<string, void>()
  const timers = yield* FiberSet.make<void>()
  const runHandler = yield* FiberMap.runtime(fibers)()
  const runTimer = yield* FiberSet.runtime(timers)()
  const table = new CallTable()
  const tools = new Map(options.tools.tools.map((tool) => [tool.descriptor.name, tool]))
  let stopped = false
  let idle = Deferred.makeUnsafe<void>()

  const remainingMs = (deadline: bigint) => Number(deadline - clock.monotonicTimeNanosUnsafe()) / 1_000_000
  const after = (millis: number, effect: Effect.Effect<void>) => {
    const fiber = runTimer(Effect.andThen(Effect.sleep(Math.ceil(millis)), effect))
    return () => fiber.interruptUnsafe()
  }
  const settle = (entry: CallEntry, winner: Winner): boolean => {
    if (!table.settle(entry, winner)) return false
    ClientMetrics.calls.updateUnsafe(winner, context)
    ClientMetrics.running.updateUnsafe(table.running, context)
    return true
  }
  const leave = (entry: CallEntry): boolean => {
    if (!table.leave(entry)) return false
    if (table.alive.length === 0) {
      Deferred.doneUnsafe(idle, Exit.void)
      idle = Deferred.makeUnsafe<void>()
    }
    return true
  }

  const end = (entry: CallEntry, winner: Ending) => {
    if (!settle(entry, winner)) return
    entry.interrupt()
    if (!table.isAlive(entry)) return
    const abandon = Effect.suspend(() =>
      leave(entry)
        ? Effect.logWarning(`the finalizers of ${entry.name} took over ${FINALIZERS_MS} ms and were abandoned`)
        : Effect.void
    )
    entry.stopTimer = after(FINALIZERS_MS, abandon)
  }

  const finish = (entry: CallEntry, exit: Exit.Exit<ToolReplyValue, ToolFailed>) => {
    // A body that blocked the process past its deadline has lost to it, though no timer could say so.
    const late = remainingMs(entry.deadline) <= 0
    if (!settle(entry, late ? "deadline" : "completed")) {
      if (Exit.isSuccess(exit)) ClientMetrics.lateCompletions.updateUnsafe(1, context)
    } else if (!late) options.replies.send(entry.identity, replyOf(exit))
  }

  const shapeOf = (entry: CallEntry): ToolCallShape => ({
    identity: entry.identity,
    name: entry.name,
    deadline: entry.deadline,
    remainingMs: Effect.sync(() => Math.max(0, remainingMs(entry.deadline))),
    ending: Effect.sync(() => (entry.winner === "completed" ? undefined : entry.winner)),
    approve: (summary) =>
      Effect.suspend(() =>
        options.approver === undefined
          ? Effect.succeed(false)
          : options.approver({
              source: "tool",
              name: entry.name,
              callId: entry.identity.call_id,
              summary,
              timeoutMs: Math.max(0, remainingMs(entry.deadline))
            })
      ).pipe(Effect.catchDefect(() => Effect.succeed(false)))
  })

  const start = (entry: CallEntry, tool: ClientTool, args: JsonObject, parent: Tracer.AnySpan | undefined) => {
    const attributes = { tool: entry.name, call_id: entry.identity.call_id }
    const body = Effect.suspend(() => tool.run(args)).pipe(
      Effect.tapCause((cause) => (Cause.hasDies(cause) ? Effect.logDebug("a handler failed", cause) : Effect.void)),
      Effect.provideService(ToolCall, shapeOf(entry)),
      Effect.withSpan("magi_code.client.handler", parent === undefined ? { attributes } : { attributes, parent }),
      Effect.exit,
      Effect.map((exit) => finish(entry, exit))
    )
    entry.stopTimer = after(
      remainingMs(entry.deadline),
      Effect.sync(() => end(entry, "deadline"))
    )
    ClientMetrics.running.updateUnsafe(table.running, context)
    const fiber = runHandler(entry.identity.call_id, body)
    entry.interrupt = () => fiber.interruptUnsafe()
    fiber.addObserver(() => leave(entry))
  }

  const call = (instanceId: string, data: ClientToolCall, at: bigint, fault?: JsonFault) => {
    const identity = identityOf(instanceId, data)
    const run = options.current()
    if (stopped || run === undefined || !belongs(identity, run)) return
    const remembered = table.remember(identity.call_id)
    if (remembered === "seen") return
    if (remembered === "full") return options.lose("too_many_calls", `it made over ${MOST_REMEMBERED} calls`)
    const refuse = (text: string) => options.replies.send(identity, error(text))
    if (fault !== undefined) return refuse(faultText(fault))
    const tool = tools.get(data.name)
    if (tool === undefined) return refuse("no tool of this name is registered")
    const deadline = at + BigInt(data.timeout_ms) * 1_000_000n
    if (remainingMs(deadline) <= 0) return ClientMetrics.calls.updateUnsafe("deadline", context)
    const admission = table.admit(identity, data.name, deadline)
    if (admission._tag === "Busy") {
      ClientMetrics.busyCalls.updateUnsafe(1, context)
      return refuse(`too many calls are running (at most ${table.mostRunning}); this one was not started`)
    }
    start(admission.entry, tool, data.arguments, run.span)
  }

  const cancel = (instanceId: string, data: ClientToolCancel) => {
    const identity = identityOf(instanceId, data)
    options.replies.over(identity)
    const entry = table.find(identity)
    if (entry !== undefined) end(entry, data.reason)
  }

  return {
    call,
    cancel,
    endAll: (winner) => {
      options.replies.over()
      for (const entry of table.alive) end(entry, winner)
    },
    announce: (pendingCalls) => {
      table.mostRunning = Math.min(MOST_RUNNING, pendingCalls)
    },
    stop: () => {
      stopped = true
    },
    idle: Effect.suspend(() => (table.alive.length === 0 ? Effect.void : Deferred.await(idle)))
  } satisfies Handlers
})

const identityOf = (instanceId: string, data: Omit<CallIdentity, "instance_id">): CallIdentity => ({
  instance_id: instanceId,
  session_id: data.session_id,
  run_id: data.run_id,
  call_id: data.call_id,
  task_id: data.task_id,
  subagent_id: data.subagent_id
})

const belongs = (identity: CallIdentity, run: CurrentRun) =>
  identity.instance_id === run.instanceId && identity.session_id === run.sessionId && identity.run_id === run.runId

const faultText = (fault: JsonFault) =>
  `the arguments are not clean JSON: ${fault.message} at ${fault.path === "" ? 'the root ("")' : fault.path}`

/** A typed failure is told with its text, a defect with a generic one (product section 4). */
const replyOf = (exit: Exit.Exit<ToolReplyValue, ToolFailed>): ToolReplyValue => {
  if (Exit.isSuccess(exit)) return exit.value
  const failed = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (failed !== undefined) {
    return failed.structured === undefined
      ? error(failed.text)
      : { status: "error", text: failed.text, structured: failed.structured }
  }
  return error(
    Cause.hasInterruptsOnly(exit.cause) ? "the tool stopped before it was done" : "the tool failed unexpectedly"
  )
}
