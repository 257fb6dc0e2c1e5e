/**
 * The runner: makes each turn's run out of the session, the settings, the registered tools and the selected model.
 * base-protocol sections 4, 5 and 7 (top-level and delegated sessions).
 */
import { Effect, Layer } from "effect"
import { Broker } from "../broker/Broker.ts"
import { ProtectedResults } from "../broker/ProtectedResult.ts"
import { uuid } from "../platform/Ids.ts"
import { truncateText } from "../protocol/CompactJson.ts"
import { TITLE_BYTES } from "../protocol/Limits.ts"
import { Settings } from "../settings/Settings.ts"
import type { SessionHandle } from "../store/SessionStore.ts"
import { SessionStore } from "../store/SessionStore.ts"
import type { AgentTool } from "../tools/Tool.ts"
import { EventWriter } from "../transport/FrameWriter.ts"
import * as Activity from "./Activity.ts"
import * as AgentLoop from "./AgentLoop.ts"
import * as AgentScope from "./AgentScope.ts"
import * as Journal from "./Journal.ts"
import { ModelFailure, Models } from "./model/Models.ts"
import { systemPrompt } from "./model/SystemPrompt.ts"
import * as Permissions from "./Permissions.ts"
import * as Run from "./Run.ts"
import * as RunEvents from "./RunEvents.ts"
import { Runner, type RunnerShape } from "./Runner.ts"
import { RunState, type Stop } from "./RunState.ts"
import { endOf } from "./subagents/Delegate.ts"
import * as Subagents from "./subagents/SubagentsTool.ts"
import * as ToolPipeline from "./ToolPipeline.ts"
import * as WorkspaceNotes from "./WorkspaceNotes.ts"

export interface RunnerOptions {
  /** Every tool but `subagents`, in catalogue order: built-in, MCP, client. Not yet restricted by any setting. */
  readonly tools: ReadonlyArray<AgentTool>
  /** `tool.cards` was negotiated. */
  readonly cards: boolean
}

/** The title of a session: its first prompt on one line. */
const titleOf = (prompt: string): string => truncateText(prompt.replace(/\s+/gu, " ").trim(), TITLE_BYTES)

/** `subagents` stands with the other built-ins. */
const withSubagents = (tools: ReadonlyArray<AgentTool>, subagents: AgentTool): ReadonlyArray<AgentTool> => [
  ...tools.filter((tool) => tool.origin === "builtin"),
  subagents,
  ...tools.filter((tool) => tool.origin !== "builtin")
]

export const make = (options: RunnerOptions) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const models = yield* Models
    const broker = yield* Broker
    const results = yield* ProtectedResults
    const writer = yield* EventWriter
    const store = yield* SessionStore
    const pipeline = yield* ToolPipeline.make({ cards: options.cards })
    const { agents, capabilities, limits, workspace } = settings
    const compact = capabilities.code_mode.compact_direct_tools
    const subagents = Subagents.make({ pipeline, store, results, profiles: agents, compact, cards: options.cards })
    const sets = Permissions.configured(withSubagents(options.tools, subagents), capabilities)

    const prepare: RunnerShape["prepare"] = ({ finished, prompt, selection, session }) =>
      Effect.gen(function* () {
        const runId = yield* uuid
        const { sessionId } = session
        let interrupt: Effect.Effect<void> = Effect.void
        const settle = (stop: Stop): Effect.Effect<void> =>
          stop._tag === "Failed" ? broker.endRun(runId) : stop._tag === "Closing" ? broker.close : Effect.void
        const state = new RunState({
          runId,
          sessionId,
          turnSteps: limits.turn_steps,
          // What is pending is settled with the reason of the stop before the interruption could give it another.
          onStop: (stop) =>
            Effect.andThen(
              settle(stop),
              Effect.suspend(() => interrupt)
            )
        })
        const events = RunEvents.make({ writer, sessionId, runId })
        const model = Effect.filterOrFail(
          models.get(selection),
          (handle) => handle !== undefined,
          () => new ModelFailure({ code: "provider_failed", message: "the selected model is not in the catalogue" })
        )
        let journal: Journal.JournalShape | undefined
        let recorded = false

        const work = Effect.gen(function* () {
          const opened = yield* Effect.result(Journal.make(state, session))
          if (opened._tag === "Failure") {
            yield* Effect.logError(`the session could not be read: ${opened.failure.message}`)
            yield* state.persistenceFailed("the session could not be read; see the log of the agent")
            return yield* Effect.interrupt
          }
          const own = opened.success
          journal = own
          const who = Permissions.ofSession(session.delegated, sets, agents)
          const delegated = session.delegated._tag === "Delegated"
          const activityId = delegated ? yield* uuid : null
          const agent = AgentScope.make(
            {
              ...who,
              run: { state, events, session, model, workspace },
              identity: { sessionId, runId, taskId: delegated ? sessionId : null, subagentId: activityId },
              journal: own,
              activityId
            },
            compact
          )
          const loop = AgentLoop.run({
            agent,
            pipeline,
            system: systemPrompt({
              workspace,
              agentsMd: yield* WorkspaceNotes.read(workspace),
              tools: agent.listed.map((tool) => tool.name),
              mode: who.mode,
              profile: (who.profile === null ? undefined : agents.get(who.profile))?.instructions ?? null,
              delegated
            }),
            input: [prompt],
            saved: Effect.gen(function* () {
              yield* events.emit("input.saved", { durable: true, history_revision: own.revision })
              yield* own.attempt(nameOnce(session, prompt))
            }),
            conclude: (records) =>
              Effect.gen(function* () {
                const stamp = yield* own.stamp
                if (!state.beginFinal()) return false
                recorded = yield* own.require([
                  ...records,
                  { ...stamp, kind: "run_finished", status: "completed", usage: state.usage }
                ])
                return recorded
              }),
            streams: true
          })
          return yield* activityId === null ? loop : asSubagent(agent, activityId, loop)
        })

        /** A delegated session that was opened stays a subagent: its run is one activity, without a parent. */
        const asSubagent = <A>(
          agent: AgentScope.AgentScope,
          activityId: string,
          loop: Effect.Effect<A, ModelFailure>
        ): Effect.Effect<A, ModelFailure> =>
          Effect.uninterruptible(
            Effect.gen(function* () {
              const activity = Activity.make(
                { events, results, cards: options.cards },
                {
                  activityId,
                  parentId: null,
                  kind: "subagent",
                  name: agent.profile ?? "subagent",
                  taskId: sessionId,
                  role: "subagent"
                }
              )
              yield* activity.start
              yield* activity.running([])
              const exit = yield* Effect.exit(Effect.interruptible(loop))
              yield* activity.finish({ ...endOf(exit, state.stop), callId: null }).admitted
              return yield* exit
            })
          )

        return Run.make({
          state,
          events,
          session,
          selection,
          work,
          record: (status) =>
            Effect.suspend(() => {
              const own = journal
              if (!own || recorded) return Effect.void
              return Effect.flatMap(own.stamp, (stamp) =>
                own.tryAppend([{ ...stamp, kind: "run_finished", status, usage: state.usage }])
              )
            }),
          finished,
          attach: (stopWork) =>
            Effect.suspend(() => {
              interrupt = stopWork
              return state.stop ? stopWork : Effect.void
            })
        })
      })

    return Runner.of({ prepare })
  })

const nameOnce = (session: SessionHandle, prompt: string) =>
  Effect.flatMap(session.title, (title) => (title === null ? session.setTitle(titleOf(prompt)) : Effect.void))

/** Needs the services of a ready backend; `ToolPipeline` says which of them a call goes through. */
export const layer = (options: RunnerOptions) => Layer.effect(Runner, make(options))
