/**
 * A call from permission to its tool's own end: what refuses it, what it waits for, and when nothing begins any more.
 * base-protocol section 6 (call path).
 */
import { Effect } from "effect"
import type { JsonObject } from "../protocol/Json.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { argumentsFailure } from "../protocol/ToolCall.ts"
import type { RecordedCall } from "../store/SessionRecord.ts"
import { type AgentTool, type Surface, type ToolContext, ToolFailure, type ToolOutput } from "../tools/Tool.ts"
import type { Activity } from "./Activity.ts"
import type { AgentScope } from "./AgentScope.ts"
import type { ApprovalsShape } from "./Approvals.ts"
import * as CallEnding from "./CallEnding.ts"
import type { ObservedTimes } from "./CallTimes.ts"
import type { HooksShape } from "./hooks/Hooks.ts"
import type { InvalidArguments } from "./model/ResponseCalls.ts"
import { CLIENT_PREFIX, MAX_DEPTH } from "./Permissions.ts"

/** A call as it comes to the pipeline: a model's, or one made inside Code Mode. */
export type PipelineCall = Pick<RecordedCall, "callKey" | "name" | "arguments" | "invalid">

/** What a call tells while it runs. */
export interface Progress {
  /** The final arguments, once the hooks have had their say. */
  arguments: JsonObject
  /** Whether `execute` began: what never ran has no after_tool hooks. */
  reached: boolean
  /** Set when the call event has its place in the writer. */
  callId: string | null
  times: ObservedTimes | undefined
}

/**
 * How long a cancelled tool may take to stop before it is abandoned, and how much longer each call around it waits: all of
 * them begin at the same moment, and the outermost is to be done before the run itself is abandoned (`Run.ts`).
 */
const CANCEL_GRACE = { leaf: 700, level: 60 }
const CLOSE_GRACE = { leaf: 400, level: 30 }

export const graceOf = (tool: AgentTool | undefined, agent: AgentScope, surface: Surface) => (): number => {
  const { leaf, level } = agent.run.state.stop?._tag === "Closing" ? CLOSE_GRACE : CANCEL_GRACE
  const nests = tool?.origin === "builtin" && (tool.role === "code_mode" || tool.role === "subagent")
  // An agent of each depth can nest twice: a subagent started by a script.
  const levels = nests ? (MAX_DEPTH - agent.depth) * 2 + (surface === "direct" ? 1 : 0) : 0
  return leaf + levels * level
}

const refusal = (code: ToolFailure["code"], message: string) => new ToolFailure({ code, message })

const unknownTool = (name: string): ToolFailure =>
  name.startsWith(CLIENT_PREFIX)
    ? refusal("client_tool_not_permitted", "no client tool of this name may be called here")
    : refusal("tool_unknown", "no tool of this name may be called here")

/** Too much for any frame, so too much for the reader of a model's arguments already: no question of their form. */
const overTheBound: ReadonlySet<string> = new Set<InvalidArguments>(["depth", "too_large"])

const invalidArguments = (name: string, rule: string): ToolFailure => {
  const form = overTheBound.has(rule) ? "client_tool_payload_limit" : "client_tool_invalid_arguments"
  return refusal(
    name.startsWith(CLIENT_PREFIX) ? form : "tool_invalid_arguments",
    `the arguments were not used: ${rule}`
  )
}

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

export interface ExecutionOptions {
  readonly hooks: HooksShape
  readonly approvals: ApprovalsShape
  readonly agent: AgentScope
  readonly call: PipelineCall
  /** `undefined`: the agent may call nothing of this name on this surface. */
  readonly tool: AgentTool | undefined
  readonly context: ToolContext
  readonly activity: Activity
  readonly progress: Progress
}

/**
 * To be run in an uninterruptible fiber: it makes its waits for hooks, the preparation, an approval and the tool
 * interruptible itself. A tool that `settles` answers an interruption with an ending of its own.
 */
export const run = (options: ExecutionOptions): Effect.Effect<ToolOutput, ToolFailure> =>
  Effect.gen(function* () {
    const { activity, agent, approvals, call, context, hooks, progress, tool } = options
    if (!tool) return yield* unknownTool(call.name)
    if (call.arguments === null) return yield* invalidArguments(call.name, call.invalid ?? "not an object")
    const { runId, sessionId, subagentId, taskId } = agent.identity
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
    // Whatever stopped the run meanwhile, nothing begins any more.
    if (agent.run.state.stop) return yield* CallEnding.cancellation(tool.name, agent.run.state.stop)
    // A client call's start is recorded by the broker, while the call holds its slot.
    if (tool.origin !== "client") yield* context.started
    progress.reached = true
    return yield* prepared.settles ? prepared.execute : Effect.interruptible(prepared.execute)
  }).pipe(Effect.scoped)
