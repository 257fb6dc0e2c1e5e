/**
 * The one place every tool call goes through, whoever makes it and from wherever: the root agent, a subagent, a script.
 *
 *     surface permission -> before_tool hooks -> re-check -> prepare -> approval -> execute
 *       -> protected result -> after_tool hooks -> append of the outcome -> model
 *
 * A call always has an outcome. Interrupting its fiber cancels it, and that is answered with an outcome as well; work that
 * does not stop is abandoned.
 *
 * client-tools, Cancellation and permissions; base-protocol section 6 (call path), 7 (surfaces).
 */
import { Clock, Effect, type Exit, type Option } from "effect"
import { ProtectedResults } from "../broker/ProtectedResult.ts"
import { uuid } from "../platform/Ids.ts"
import * as CompactJson from "../protocol/CompactJson.ts"
import { isJsonObject, type JsonObject } from "../protocol/Json.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { argumentsFailure } from "../protocol/ToolCall.ts"
import type { RecordedCall, RecordedOutcome } from "../store/SessionRecord.ts"
import { type AgentTool, type Surface, type ToolContext, ToolFailure, type ToolOutput } from "../tools/Tool.ts"
import { exitOf } from "./Abandon.ts"
import * as Activity from "./Activity.ts"
import { type AgentScope, CurrentCall } from "./AgentScope.ts"
import { Approvals } from "./Approvals.ts"
import * as CallEnding from "./CallEnding.ts"
import { Hooks } from "./hooks/Hooks.ts"
import { NestedCalls, type NestedCallsShape } from "./NestedCalls.ts"
import { CLIENT_PREFIX, CODE_MODE, MAX_DEPTH } from "./Permissions.ts"

/** A call as it comes to the pipeline: a model's, or one made inside Code Mode. */
export type PipelineCall = Pick<RecordedCall, "callKey" | "name" | "arguments" | "invalid">

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
    call: PipelineCall,
    place?: CallPlace
  ) => Effect.Effect<RecordedOutcome>
}

/**
 * How long a cancelled tool may take to stop before it is abandoned, and how much longer each call around it waits: all of
 * them begin at the same moment, and the outermost is to be done before the run itself is abandoned (`Run.ts`).
 */
const CANCEL_GRACE = { leaf: 700, level: 60 }
const CLOSE_GRACE = { leaf: 400, level: 40 }

const graceOf = (tool: AgentTool | undefined, agent: AgentScope, surface: Surface) => () => {
  const { leaf, level } = agent.run.state.stop?._tag === "Closing" ? CLOSE_GRACE : CANCEL_GRACE
  const nests = tool?.origin === "builtin" && (tool.role === "code_mode" || tool.role === "subagent")
  // An agent of each depth can nest twice: a subagent started by a script.
  const levels = nests ? (MAX_DEPTH - agent.depth) * 2 + (surface === "direct" ? 1 : 0) : 0
  return leaf + levels * level
}

type ObservedTimes = Parameters<ToolContext["observed"]>[0]

/** What is known of a call before it runs, and what it tells while it does. */
interface Progress {
  /** The final arguments, once the hooks have had their say. */
  arguments: JsonObject
  /** Whether `execute` began: what never ran has no after_tool hooks. */
  reached: boolean
  callId: string | null
  times: ObservedTimes | undefined
}

const refusal = (code: ToolFailure["code"], message: string) => new ToolFailure({ code, message })

const unknownTool = (name: string): ToolFailure =>
  name.startsWith(CLIENT_PREFIX)
    ? refusal("client_tool_not_permitted", "no client tool of this name may be called here")
    : refusal("tool_unknown", "no tool of this name may be called here")

const invalidArguments = (name: string, rule: string): ToolFailure =>
  refusal(
    name.startsWith(CLIENT_PREFIX) ? "client_tool_invalid_arguments" : "tool_invalid_arguments",
    `the arguments were not used: ${rule}`
  )

/** The re-check after the hooks. A built-in's own schema is `prepare`'s to check. */
const recheck = (tool: AgentTool, args: JsonObject): ToolFailure | undefined => {
  if (tool.origin === "builtin") return undefined
  const broken = argumentsFailure(args)
  if (broken === undefined) return undefined
  const message =
    broken === "client_tool_payload_limit"
      ? `the arguments are larger than ${ClientToolLimits.arguments_bytes} bytes`
      : "the arguments are not an object that JSON can hold"
  return refusal(tool.origin === "client" ? broken : "tool_invalid_arguments", message)
}

const kindOf = (tool: AgentTool | undefined) =>
  tool?.origin === "builtin" && tool.name === CODE_MODE ? ("code_mode" as const) : ("tool" as const)

/** The outcome as the hooks see it. */
const contentOf = (outcome: RecordedOutcome) =>
  outcome.structured === undefined ? { text: outcome.text } : outcome.structured

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

export const make = (options: { readonly cards: boolean }) =>
  Effect.gen(function* () {
    const hooks = yield* Hooks
    const approvals = yield* Approvals
    const results = yield* ProtectedResults

    /** From permission to the tool's own end. Uninterruptible but where it waits for others. */
    const execute = (
      agent: AgentScope,
      call: PipelineCall,
      tool: AgentTool | undefined,
      context: ToolContext,
      activity: Activity.Activity,
      progress: Progress
    ): Effect.Effect<ToolOutput, ToolFailure> =>
      Effect.uninterruptible(
        Effect.scoped(
          Effect.gen(function* () {
            if (!tool) return yield* unknownTool(call.name)
            if (call.arguments === null) return yield* invalidArguments(call.name, call.invalid ?? "not an object")
            const { sessionId, runId, taskId, subagentId } = agent.identity
            const given = call.arguments
            progress.arguments = yield* Effect.interruptible(
              hooks.before({ sessionId, runId, taskId, subagentId, tool: tool.name, arguments: given })
            )
            const broken = recheck(tool, progress.arguments)
            if (broken) return yield* broken
            const prepared = yield* Effect.interruptible(tool.prepare(progress.arguments, context))
            yield* Effect.interruptible(activity.running(prepared.lines))
            if (prepared.approval) {
              if (agent.mode === "inspect") {
                return yield* refusal("approval_denied", "an inspection does nothing that needs approval")
              }
              yield* Effect.interruptible(approvals.request(prepared.approval, agent.identity))
            }
            // Whatever stopped the run meanwhile, nothing starts any more.
            if (agent.run.state.stop) return yield* CallEnding.cancellation(tool.name, agent.run.state.stop)
            // A client call's start is recorded by the broker, while the call holds its slot.
            if (tool.origin !== "client") yield* context.started
            progress.reached = true
            return yield* prepared.settles ? prepared.execute : Effect.interruptible(prepared.execute)
          })
        )
      )

    const call: ToolPipelineShape["call"] = (agent, surface, request, { earlier = Effect.void, parent } = {}) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const { name, callKey } = request
          const { state } = agent.run
          const tool = agent.callable[surface].get(name)
          const activityId = yield* uuid
          const parentActivityId = parent?.activityId ?? agent.activityId
          const began = yield* monotonicMillis
          const taskId = agent.identity.taskId
          const parentKey = parent?.callKey ?? null
          const activity = Activity.make(
            { events: agent.run.events, results, cards: options.cards },
            {
              activityId,
              parentId: parentActivityId,
              kind: kindOf(tool),
              name,
              taskId,
              role: tool?.role ?? "generic"
            }
          )
          const progress: Progress = {
            arguments: request.arguments ?? {},
            reached: false,
            callId: null,
            times: undefined
          }
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

          yield* activity.start
          const exit: Option.Option<Exit.Exit<ToolOutput, ToolFailure>> = yield* exitOf(
            execute(agent, request, tool, context, activity, progress).pipe(
              Effect.provideService(CurrentCall, { agent, callKey, activityId }),
              Effect.provideService(NestedCalls, nested(agent, { callKey, activityId })),
              Effect.withSpan("tool.call", { attributes: { tool: name, surface } })
            ),
            graceOf(tool, agent, surface)
          )
          if (exit._tag === "None")
            yield* Effect.logWarning(`the tool ${tool?.name ?? "?"} did not stop and was abandoned`)
          const ending = yield* CallEnding.ofExit({ name, exit, stop: state.stop, results })

          if (progress.reached && !state.stop && (ending.status === "success" || ending.status === "failure")) {
            const { sessionId, runId, subagentId } = agent.identity
            // In a fiber that is interrupted already this ends at once, and a cancellation kills a hook under way.
            yield* Effect.exit(
              Effect.interruptible(
                hooks.after({
                  sessionId,
                  runId,
                  taskId,
                  subagentId,
                  tool: name,
                  arguments: progress.arguments,
                  status: ending.status,
                  result: contentOf(ending.outcome)
                })
              )
            )
          }

          const { card, admitted } = activity.finish({
            status: ending.status,
            callId: progress.callId,
            code: ending.code
          })
          if (!isStarted) yield* Effect.exit(Effect.interruptible(earlier))
          const stamp = yield* agent.journal.stamp
          const { outcome, status } = ending
          const now = yield* monotonicMillis
          // Both at once: one commit of the store takes them.
          yield* Effect.all(
            [
              agent.journal.require([
                { ...stamp, kind: "call_outcome", callKey, name, taskId, parentKey, status, outcome, card }
              ]),
              agent.journal.attempt(
                agent.run.session.timeline({
                  callKey,
                  callId: progress.callId,
                  runId: state.runId,
                  activityId,
                  parentActivityId,
                  taskId,
                  name,
                  registeredMs: progress.times?.registeredMs ?? began,
                  publishedMs: progress.times?.publishedMs ?? null,
                  deadlineMs: progress.times?.deadlineMs ?? null,
                  settledMs: progress.times?.settledMs ?? now,
                  winner: winnerOf(progress.times, ending),
                  status
                })
              )
            ],
            { concurrency: 2, discard: true }
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

/** Who ended the call (`CallTimeline.winner`). */
const winnerOf = (times: ObservedTimes | undefined, ending: CallEnding.CallEnding): string => {
  if (times && times.winner !== "failed") return times.winner
  if (ending.status === "cancelled") return "cancel"
  if (ending.status === "interrupted") return "shutdown"
  return ending.code ?? "reply"
}
