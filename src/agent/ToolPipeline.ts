/**
 * The one place every tool call goes through, whoever makes it and from wherever: the root agent, a subagent, a script.
 *
 *     surface permission -> before_tool hooks -> re-check -> prepare -> approval -> execute      (CallExecution)
 *       -> protected result -> after_tool hooks -> append of the outcome -> model
 *
 * A call always has an outcome. Interrupting its fiber cancels it, and that is answered with an outcome as well; work that
 * does not stop is abandoned.
 *
 * client-tools, Cancellation and permissions; base-protocol section 6 (call path), 7 (surfaces).
 */
import { Effect, Metric } from "effect"
import { ProtectedResults } from "../broker/ProtectedResult.ts"
import { uuid } from "../platform/Ids.ts"
import * as CompactJson from "../protocol/CompactJson.ts"
import { isJsonObject } from "../protocol/Json.ts"
import type { RecordedOutcome } from "../store/SessionRecord.ts"
import type { AgentTool, Surface, ToolContext } from "../tools/Tool.ts"
import { exitOf } from "./Abandon.ts"
import * as Activity from "./Activity.ts"
import * as AgentMetrics from "./AgentMetrics.ts"
import { type AgentScope, CurrentCall } from "./AgentScope.ts"
import { Approvals } from "./Approvals.ts"
import * as CallEnding from "./CallEnding.ts"
import * as CallExecution from "./CallExecution.ts"
import * as CallTimes from "./CallTimes.ts"
import { Hooks } from "./hooks/Hooks.ts"
import { NestedCalls, type NestedCallsShape } from "./NestedCalls.ts"
import { CODE_MODE } from "./Permissions.ts"

export type { PipelineCall } from "./CallExecution.ts"

/** Where a call stands among others. */
export interface CallPlace {
  /** The script's own call, for calls made inside Code Mode. */
  readonly parent?: { readonly callKey: string; readonly activityId: string }
  /**
   * Ends when the calls before it in the same response are recorded. A call that was refused takes its place in history
   * in call order: it waits for them with its record, since there is nothing that a crash could leave in doubt. One that
   * ran is recorded at once.
   */
  readonly earlier?: Effect.Effect<void>
}

export interface ToolPipelineShape {
  /** Makes the call as `agent`. Never fails, never ends by interruption. */
  readonly call: (
    agent: AgentScope,
    surface: Surface,
    call: CallExecution.PipelineCall,
    place?: CallPlace
  ) => Effect.Effect<RecordedOutcome>
}

const kindOf = (tool: AgentTool | undefined) =>
  tool?.origin === "builtin" && tool.name === CODE_MODE ? ("code_mode" as const) : ("tool" as const)

/** The outcome as the hooks see it. */
const contentOf = (outcome: RecordedOutcome) =>
  outcome.structured === undefined ? { text: outcome.text } : outcome.structured

export const make = (options: { readonly cards: boolean }) =>
  Effect.gen(function* () {
    const hooks = yield* Hooks
    const approvals = yield* Approvals
    const results = yield* ProtectedResults

    /** The tool's side of a call. `isStarted` says whether its start is on disk. */
    const contextOf = (
      agent: AgentScope,
      of: Pick<ToolContext, "callKey" | "activityId" | "surface"> & {
        readonly name: string
        readonly parentKey: string | null
      },
      tool: AgentTool | undefined,
      activity: Activity.Activity,
      progress: CallExecution.Progress
    ) => {
      const { state } = agent.run
      const { activityId, callKey, name, parentKey, surface } = of
      let isStarted = false
      const context: ToolContext = {
        ...agent.identity,
        callKey,
        activityId,
        surface,
        mode: agent.mode,
        progress: (summary) => (tool?.origin === "builtin" ? activity.update(summary) : Effect.void),
        started: Effect.gen(function* () {
          if (isStarted) return
          const stamp = yield* agent.journal.stamp
          const { taskId } = agent.identity
          const record = { ...stamp, kind: "call_started" as const, callKey, name, taskId, parentKey }
          if (state.stop || !(yield* agent.journal.require([record]))) {
            return yield* CallEnding.cancellation(name, state.stop)
          }
          isStarted = true
        }),
        published: (callId) => {
          progress.callId = callId
        },
        observed: (times) => {
          progress.times = times
        }
      }
      return { context, isStarted: () => isStarted }
    }

    /** They observe: what they do changes nothing. A cancellation kills a hook under way, and lets none begin. */
    const observe = (
      agent: AgentScope,
      name: string,
      ending: CallEnding.CallEnding,
      progress: CallExecution.Progress
    ) => {
      const { outcome, status } = ending
      if (!progress.reached || agent.run.state.stop || (status !== "success" && status !== "failure"))
        return Effect.void
      const { runId, sessionId, subagentId, taskId } = agent.identity
      const copy = { tool: name, arguments: progress.arguments, status, result: contentOf(outcome) }
      return Effect.exit(Effect.interruptible(hooks.after({ sessionId, runId, taskId, subagentId, ...copy })))
    }

    const call: ToolPipelineShape["call"] = (agent, surface, request, { earlier = Effect.void, parent } = {}) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const { callKey, name } = request
          const { events, state } = agent.run
          const { taskId } = agent.identity
          const tool = agent.callable[surface].get(name)
          const activityId = yield* uuid
          const parentActivityId = parent?.activityId ?? agent.activityId
          const parentKey = parent?.callKey ?? null
          const began = yield* CallTimes.now
          const role = tool?.role ?? "generic"
          const activity = Activity.make(
            { events, results, cards: options.cards },
            { activityId, parentId: parentActivityId, kind: kindOf(tool), name, taskId, role }
          )
          const progress: CallExecution.Progress = {
            arguments: request.arguments ?? {},
            reached: false,
            callId: null,
            times: undefined
          }
          const of = { callKey, activityId, surface, name, parentKey }
          const { context, isStarted } = contextOf(agent, of, tool, activity, progress)

          yield* activity.start
          const execution = CallExecution.run({
            hooks,
            approvals,
            agent,
            call: request,
            tool,
            context,
            activity,
            progress
          }).pipe(
            Effect.provideService(CurrentCall, { agent, callKey, activityId }),
            Effect.provideService(NestedCalls, nested(agent, { callKey, activityId })),
            Effect.withSpan("tool.call", { attributes: { tool: tool?.name ?? "unknown", surface } })
          )
          const exit = yield* exitOf(execution, CallExecution.graceOf(tool, agent, surface))
          if (exit._tag === "None") {
            yield* Metric.update(AgentMetrics.abandoned, 1)
            yield* Effect.logWarning(`the tool ${tool?.name ?? "?"} did not stop and was abandoned`)
          }
          const ending = yield* CallEnding.ofExit({ name, exit, stop: state.stop, results })
          yield* observe(agent, name, ending, progress)

          const { code, outcome, status } = ending
          const { admitted, card } = activity.finish({ status, callId: progress.callId, code })
          if (!isStarted()) yield* Effect.exit(Effect.interruptible(earlier))
          const stamp = yield* agent.journal.stamp
          const { callId, times } = progress
          const row = yield* CallTimes.row(
            { callKey, callId, runId: state.runId, activityId, parentActivityId, taskId, name },
            began,
            ending,
            times
          )
          yield* Metric.update(AgentMetrics.calls, row.winner)
          yield* agent.journal.ended(
            { ...stamp, kind: "call_outcome", callKey, name, taskId, parentKey, status, outcome, card },
            row,
            parentKey === null ? "now" : "later"
          )
          yield* admitted
          return outcome
        })
      )

    const nested = (
      agent: AgentScope,
      parent: { readonly callKey: string; readonly activityId: string }
    ): NestedCallsShape => ({
      tools: agent.tools.code_mode,
      call: (name, args) =>
        Effect.flatMap(uuid, (callKey) =>
          call(
            agent,
            "code_mode",
            isJsonObject(args) && CompactJson.isEncodable(args)
              ? { callKey, name, arguments: args, invalid: null }
              : { callKey, name, arguments: null, invalid: "not an object that JSON can hold" },
            { parent }
          )
        )
    })

    return { call } satisfies ToolPipelineShape
  })
