/**
 * The broker over the writer: publishes calls, checks replies, and lets the first of reply, deadline, cancellation and
 * closing win. The transition itself is `PendingCalls`; this file gives it fibers, time and words.
 *
 * client-tools (Execute and reply, Cancellation and permissions); base-protocol section 6.
 */
import { Clock, Deferred, Duration, Effect, Exit, Layer } from "effect"
import { uuid } from "../platform/Ids.ts"
import * as CallIdentity from "../protocol/CallIdentity.ts"
import type { CancelReason, ToolFailureCode } from "../protocol/ErrorCode.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { argumentsFailure, callData } from "../protocol/ToolCall.ts"
import { cancelData } from "../protocol/ToolCancel.ts"
import * as ToolResult from "../protocol/ToolResult.ts"
import { ToolFailure, type ToolOutput } from "../tools/Tool.ts"
import { EventWriter } from "../transport/FrameWriter.ts"
import { Broker, type BrokerShape, type CallTimes, type ClientCall, type ReplyVerdict } from "./Broker.ts"
import { type AcceptedReply, type Ending, type PendingCall, PendingCalls } from "./PendingCalls.ts"
import { ProtectedResults } from "./ProtectedResult.ts"

const failures = {
  client_tool_payload_limit: `the arguments or their frame are too large: at most ${ClientToolLimits.arguments_bytes} bytes of arguments`,
  client_tool_invalid_arguments: "the arguments are not a JSON object that can be sent unchanged",
  client_tool_busy: `${ClientToolLimits.pending_calls} client tool calls are already pending; try again when one has ended`,
  client_tool_timeout: "the client did not answer before the deadline",
  client_tool_cancelled: "the call was cancelled",
  client_tool_unavailable: "the agent is closing; the call was not completed",
  client_tool_error: "the client reported an error"
} as const satisfies Partial<Record<ToolFailureCode, string>>

const failure = (code: keyof typeof failures, more?: Pick<ToolFailure, "ending" | "output">) =>
  new ToolFailure({ code, message: failures[code], ...more })

/** What a cancellation becomes for the model and in history (section 6, "What an ending becomes"). */
const cancelled = (reason: CancelReason): ToolFailure => {
  switch (reason) {
    case "timeout":
      return failure("client_tool_timeout")
    case "shutdown":
      return failure("client_tool_unavailable", { ending: "interrupted" })
    case "cancelled":
    case "run_finished":
      return failure("client_tool_cancelled", { ending: "cancelled" })
  }
}

const outputOf = (reply: AcceptedReply): ToolOutput => ({
  text: reply.text,
  ...("structured" in reply ? { structured: reply.structured } : {}),
  isProtected: true
})

const resultOf = (ending: Ending): Effect.Effect<ToolOutput, ToolFailure> => {
  switch (ending._tag) {
    case "Accepted":
      return ending.reply.status === "success"
        ? Effect.succeed(outputOf(ending.reply))
        : Effect.fail(failure("client_tool_error", { output: outputOf(ending.reply) }))
    case "Cancelled":
      return Effect.fail(cancelled(ending.reason))
    case "Failed":
      return Effect.fail(ending.failure)
  }
}

const winnerOf = (ending: Ending): CallTimes["winner"] => {
  if (ending._tag === "Accepted") return "reply"
  if (ending._tag === "Failed") return "failed"
  return ending.reason === "timeout" ? "deadline" : ending.reason === "cancelled" ? "cancel" : ending.reason
}

const millis = (nanos: bigint) => Number(nanos) / 1_000_000

const refused = (code: "invalid_params" | "stale_client_tool_call", message: string, path?: string): ReplyVerdict => ({
  _tag: "Refused",
  code,
  message,
  ...(path === undefined ? {} : { path })
})

const stale = refused(
  "stale_client_tool_call",
  "no such call is pending: it is unknown, settled, or its identity differs"
)

const tooLarge = (text: string): ReplyVerdict =>
  refused(
    "invalid_params",
    `a result has at most ${ClientToolLimits.result_bytes} bytes of text and structured value together`,
    Buffer.byteLength(text) > ClientToolLimits.result_bytes ? "/text" : "/structured"
  )

/** The broker of one backend process. */
export const make = (options: { readonly instanceId: string }) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const writer = yield* EventWriter
    const results = yield* ProtectedResults
    const pending = new PendingCalls({
      capacity: ClientToolLimits.pending_calls,
      placeCancel: (identity, reason) => {
        writer.placeEvent({ event: "client.tool.cancel", data: cancelData(identity, reason) })
      }
    })

    /** Publishes and waits. Interrupting this is the cancellation; the caller turns it into an ending. */
    const live = (call: PendingCall, request: ClientCall) =>
      Effect.gen(function* () {
        // A call that is settled meanwhile ends at once: it does not wait for a slow disk.
        yield* Effect.raceFirst(request.started, Effect.asVoid(Deferred.await(call.ending)))
        const timeout = Duration.toNanosUnsafe(Duration.millis(request.tool.timeout_ms))
        const data = callData(call.identity, request.tool, request.arguments)
        const placed = pending.publish(call, clock.monotonicTimeNanosUnsafe() + timeout, () => {
          const place = writer.placeEvent({ event: "client.tool.call", data })
          if (place._tag === "Placed") request.published(call.identity.call_id)
          return place._tag
        })
        if (placed === "TooLarge" || placed === "Dropped") {
          pending.settle(call, { _tag: "Failed", failure: failure("client_tool_payload_limit") })
        } else if (placed === "Closed") {
          pending.settle(call, { _tag: "Failed", failure: cancelled("shutdown") })
        }
        // The deadline includes delivery, so the wait begins with the place in the writer, not with the bytes on the pipe.
        return yield* Effect.timeoutOrElse(Deferred.await(call.ending), {
          duration: request.tool.timeout_ms,
          // It lost if a reply was accepted in the same tick: `settle` knows, the timer does not.
          orElse: () =>
            Effect.suspend(() => {
              pending.settle(call, { _tag: "Cancelled", reason: "timeout" })
              return Deferred.await(call.ending)
            })
        })
      })

    const call: BrokerShape["call"] = (request) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const unfit = argumentsFailure(request.arguments)
          if (unfit !== undefined) return yield* failure(unfit)
          const { sessionId, runId, taskId, subagentId } = request.identity
          const registered = pending.register({
            instance_id: options.instanceId,
            session_id: sessionId,
            run_id: runId,
            call_id: yield* uuid,
            task_id: taskId,
            subagent_id: subagentId
          })
          if (registered === "busy") return yield* failure("client_tool_busy")
          if (registered === "closed") return yield* cancelled("shutdown")
          const registeredAt = clock.monotonicTimeNanosUnsafe()
          let publishedAt: bigint | undefined
          const exit = yield* Effect.exit(
            Effect.interruptible(
              live(registered, {
                ...request,
                published: (callId) => {
                  publishedAt = clock.monotonicTimeNanosUnsafe()
                  request.published(callId)
                }
              })
            )
          )
          // Whatever ended the wait, the call is settled before anybody goes on. Both lose to a reply accepted before.
          if (Exit.isFailure(exit)) {
            const failed = Exit.findErrorOption(exit)
            pending.settle(
              registered,
              failed._tag === "Some"
                ? { _tag: "Failed", failure: failed.value }
                : { _tag: "Cancelled", reason: "cancelled" }
            )
          }
          const ending = yield* Deferred.await(registered.ending)
          request.observed?.({
            callId: registered.identity.call_id,
            registeredMs: millis(registeredAt),
            publishedMs: publishedAt === undefined ? null : millis(publishedAt),
            deadlineMs: registered.deadline === undefined ? null : millis(registered.deadline),
            settledMs: millis(clock.monotonicTimeNanosUnsafe()),
            winner: winnerOf(ending)
          })
          return yield* resultOf(ending)
        })
      )

    const pendingOf = (reply: ToolResult.ToolReply): PendingCall | undefined => {
      const found = pending.find(reply.identity.call_id, clock.monotonicTimeNanosUnsafe())
      return found && CallIdentity.same(found.identity, reply.identity) ? found : undefined
    }

    const reply: BrokerShape["reply"] = (params, acknowledge) =>
      Effect.gen(function* () {
        const decoded = ToolResult.decodeToolResult(params)
        if (decoded._tag === "Failure") return refused("invalid_params", decoded.failure.message, decoded.failure.path)
        const found = pendingOf(decoded.success)
        if (found === undefined) return stale
        const { value } = decoded.success
        if (ToolResult.sizeOf(value) > ClientToolLimits.result_bytes) return tooLarge(value.text)
        // The protection runs off this thread. The call may end meanwhile, so identity and deadline are checked once more.
        const result = yield* Effect.result(results.protect(value, ClientToolLimits.result_bytes))
        if (result._tag === "Failure") return refused("invalid_params", result.failure.message, result.failure.path)
        if (pendingOf(decoded.success) !== found) return stale
        const accepted = { ...result.success, status: decoded.success.status }
        return pending.settle(found, { _tag: "Accepted", reply: accepted }, acknowledge)
          ? ({ _tag: "Accepted" } satisfies ReplyVerdict)
          : stale
      })

    return {
      call,
      reply,
      endRun: (runId) =>
        Effect.sync(() => {
          pending.settleAll("run_finished", (one) => one.identity.run_id === runId)
        }),
      close: Effect.sync(() => {
        pending.close()
      }),
      pending: Effect.sync(() => pending.size)
    } satisfies BrokerShape
  })

export const layer = (options: {
  readonly instanceId: string
}): Layer.Layer<Broker, never, EventWriter | ProtectedResults> => Layer.effect(Broker, make(options))
