/**
 * The tool `subagents`: hands tasks to agents of their own, at most 4 at once, and gives their results in input order.
 * base-protocol section 7.
 */
import { Effect, Exit, Result } from "effect"
import { type AgentTool, ToolFailure } from "../../tools/Tool.ts"
import { CurrentCall } from "../AgentScope.ts"
import * as CallEnding from "../CallEnding.ts"
import { MAX_DEPTH, SUBAGENTS } from "../Permissions.ts"
import { type DelegateDeps, delegate } from "./Delegate.ts"
import { fitted } from "./TaskResults.ts"
import * as Tasks from "./Tasks.ts"

const AT_ONCE = 4

const description = [
  "Hand tasks to subagents that work on their own and report back.",
  `At most ${Tasks.MAX_TASKS} tasks, ${AT_ONCE} at once. Each is done with the tools you have yourself, or fewer: mode inspect reads only.`,
  "The result is an array of {task_id, status, output, error?} in the order of the tasks."
].join(" ")

export const make = (deps: DelegateDeps): AgentTool => ({
  name: SUBAGENTS,
  description,
  inputSchema: Tasks.inputSchema,
  origin: "builtin",
  role: "subagent",
  fingerprint: null,
  compact: true,
  prepare: (args) =>
    Effect.gen(function* () {
      const tasks = Tasks.decode(args)
      if (Result.isFailure(tasks)) {
        return yield* new ToolFailure({ code: "tool_invalid_arguments", message: tasks.failure })
      }
      const current = yield* CurrentCall
      if (!current || current.agent.depth >= MAX_DEPTH) {
        return yield* new ToolFailure({ code: "tool_failed", message: "no subagents can be started from here" })
      }
      return {
        approval: null,
        lines: [],
        settles: true,
        execute: Effect.gen(function* () {
          const exit = yield* Effect.exit(
            Effect.interruptible(
              Effect.forEach(tasks.success, (task) => delegate(deps, current, task), { concurrency: AT_ONCE })
            )
          )
          if (Exit.isFailure(exit)) return yield* CallEnding.cancellation(SUBAGENTS, current.agent.run.state.stop)
          return { text: "", structured: fitted(exit.value) }
        })
      }
    })
})
