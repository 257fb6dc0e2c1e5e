/**
 * One task of a subagent: an agent like any other, in a delegated session of its own, with what its parent may call at
 * most. client-tools, Cancellation and permissions; base-protocol section 7.
 */
import { Cause, Effect, Exit, Option } from "effect"
import type { ProtectedResultsShape } from "../../broker/ProtectedResult.ts"
import { uuid } from "../../platform/Ids.ts"
import type { RunFailureCode, ToolFailureCode } from "../../protocol/ErrorCode.ts"
import type { AgentProfile } from "../../settings/Settings.ts"
import type { ToolStatus } from "../../store/SessionRecord.ts"
import type { SessionStoreShape } from "../../store/SessionStore.ts"
import * as Activity from "../Activity.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as AgentScope from "../AgentScope.ts"
import * as CallTimes from "../CallTimes.ts"
import * as Journal from "../Journal.ts"
import type { ModelFailure } from "../model/Models.ts"
import { systemPrompt } from "../model/SystemPrompt.ts"
import * as Permissions from "../Permissions.ts"
import type { Stop } from "../RunState.ts"
import type { ToolPipelineShape } from "../ToolPipeline.ts"
import * as WorkspaceNotes from "../WorkspaceNotes.ts"
import type { TaskResult } from "./TaskResults.ts"
import type { Task } from "./Tasks.ts"

export interface DelegateDeps {
  readonly pipeline: ToolPipelineShape
  readonly store: SessionStoreShape
  readonly results: ProtectedResultsShape
  readonly profiles: ReadonlyMap<string, AgentProfile>
  readonly compact: boolean
  readonly cards: boolean
}

/** The name of an agent without a profile. */
const UNNAMED = "subagent"

/** How an agent's end is shown. */
export const endOf = (
  exit: Exit.Exit<unknown, ModelFailure>,
  stop: Stop | undefined
): { readonly status: ToolStatus; readonly code: ToolFailureCode | RunFailureCode | null } => {
  if (Exit.isSuccess(exit)) return { status: "success", code: null }
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isSome(error)) return { status: "failure", code: error.value.code }
  if (!Cause.hasInterrupts(exit.cause)) return { status: "failure", code: "internal_error" }
  return { status: stop?._tag === "Closing" ? "interrupted" : "cancelled", code: "tool_failed" }
}

const resultOf = (taskId: string, exit: Exit.Exit<string, ModelFailure>): TaskResult => {
  if (Exit.isSuccess(exit)) return { task_id: taskId, status: "completed", output: exit.value }
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isSome(error)) {
    const { code, message } = error.value
    return { task_id: taskId, status: "failed", output: "", error: { code, message } }
  }
  return Cause.hasInterrupts(exit.cause)
    ? { task_id: taskId, status: "cancelled", output: "" }
    : {
        task_id: taskId,
        status: "failed",
        output: "",
        error: { code: "internal_error", message: "the subagent failed unexpectedly; see the log of the agent" }
      }
}

/** Runs the task to its end. Never fails, never ends by interruption: a cancelled task says so. */
export const delegate = (deps: DelegateDeps, parent: AgentScope.CurrentCall, task: Task): Effect.Effect<TaskResult> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const { run, identity } = parent.agent
      // Made here, never a label of the model's: the id of the task's own session, and that of its activity.
      const taskId = yield* uuid
      const activityId = yield* uuid
      const profile = task.agent === null ? undefined : deps.profiles.get(task.agent)
      if (task.agent !== null && !profile) {
        const error = { code: "tool_invalid_arguments", message: "no agent of this name is configured" }
        return { task_id: taskId, status: "failed", output: "", error } satisfies TaskResult
      }
      const depth = parent.agent.depth + 1
      const inherited = Permissions.withinProfile(parent.agent.tools, profile)
      const who: Permissions.SessionAgent = {
        mode: task.mode,
        profile: task.agent,
        depth,
        tools: Permissions.atDepth(task.mode === "inspect" ? Permissions.inspection(inherited) : inherited, depth)
      }
      const name = task.agent ?? UNNAMED
      const activity = Activity.make(
        { events: run.events, results: deps.results, cards: deps.cards },
        { activityId, parentId: parent.activityId, kind: "subagent", name, taskId, role: "subagent" }
      )
      const began = yield* CallTimes.now
      yield* activity.start
      yield* activity.running([])

      const work = Effect.gen(function* () {
        const session = yield* deps.store.create({
          sessionId: taskId,
          workspace: run.workspace,
          delegated: Permissions.toSave(who.tools, who)
        })
        const journal = yield* Effect.catch(Journal.make(run.state, session), (error) =>
          Effect.andThen(run.state.persistenceFailed(error.message), Effect.interrupt)
        )
        const finished = (status: "completed" | "failed" | "cancelled") =>
          Effect.map(journal.stamp, (stamp) => ({ ...stamp, kind: "run_finished" as const, status, usage: null }))
        const agent = AgentScope.make(
          { ...who, run, identity: { ...identity, taskId, subagentId: activityId }, journal, activityId },
          deps.compact
        )
        return yield* AgentLoop.run({
          agent,
          pipeline: deps.pipeline,
          system: systemPrompt({
            workspace: run.workspace,
            agentsMd: yield* WorkspaceNotes.read(run.workspace),
            tools: agent.listed.map((tool) => tool.name),
            mode: who.mode,
            profile: profile?.instructions ?? null,
            delegated: true
          }),
          input: task.context === null ? [task.intent] : [`Context for the task:\n${task.context}`, task.intent],
          saved: Effect.void,
          conclude: (records) => Effect.flatMap(finished("completed"), (last) => journal.require([...records, last])),
          streams: false
        }).pipe(
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit)) return Effect.void
            const status = Cause.hasInterrupts(exit.cause) ? "cancelled" : "failed"
            return Effect.flatMap(finished(status), (last) => journal.tryAppend([last]))
          })
        )
      }).pipe(Effect.scoped, Effect.withSpan("subagent", { attributes: { task_id: taskId } }))

      const exit = yield* Effect.exit(Effect.interruptible(work))
      if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) yield* Effect.logError("a subagent failed", exit.cause)
      const end = endOf(exit, run.state.stop)
      const { admitted } = activity.finish({ ...end, callId: null })
      const row = yield* CallTimes.row(
        {
          callKey: activityId,
          callId: null,
          runId: run.state.runId,
          activityId,
          parentActivityId: parent.activityId,
          taskId,
          name
        },
        began,
        end
      )
      yield* parent.agent.journal.attempt(run.session.timeline(row))
      yield* admitted
      return resultOf(taskId, exit)
    })
  )
