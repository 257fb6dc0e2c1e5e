/** The arguments of the tool `subagents`. base-protocol section 7. */
import { Result } from "effect"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"

export const MAX_TASKS = 10

export interface Task {
  readonly intent: string
  readonly mode: "standard" | "inspect"
  /** A profile of the settings' `agents`; `null`: the parent's own tools. */
  readonly agent: string | null
  readonly context: string | null
}

export const inputSchema: JsonObject = {
  type: "object",
  properties: {
    tasks: {
      type: "array",
      minItems: 1,
      maxItems: MAX_TASKS,
      items: {
        type: "object",
        properties: {
          intent: { type: "string", description: "What the subagent is to do, complete in itself." },
          mode: {
            type: "string",
            enum: ["standard", "inspect"],
            description: "inspect: it may only read inside the workspace."
          },
          agent: { type: "string", description: "The name of a configured agent profile." },
          context: { type: "string", description: "What it should know beforehand." }
        },
        required: ["intent", "mode"],
        additionalProperties: false
      }
    }
  },
  required: ["tasks"],
  additionalProperties: false
}

const members = new Set(["intent", "mode", "agent", "context"])

/** What is wrong with the arguments, without any value of them. */
type Fault = string

const taskOf = (value: Json, at: number): Result.Result<Task, Fault> => {
  const path = `/tasks/${at}`
  if (!isJsonObject(value)) return Result.fail(`${path} must be an object`)
  if (Object.keys(value).some((key) => !members.has(key))) return Result.fail(`${path} has an unknown member`)
  const { agent = null, context = null, intent, mode } = value
  if (typeof intent !== "string" || intent.trim() === "") return Result.fail(`${path}/intent must be a nonblank string`)
  if (mode !== "standard" && mode !== "inspect") return Result.fail(`${path}/mode must be standard or inspect`)
  if (agent !== null && typeof agent !== "string") return Result.fail(`${path}/agent must be a string`)
  if (context !== null && typeof context !== "string") return Result.fail(`${path}/context must be a string`)
  return Result.succeed({ intent, mode, agent, context })
}

export const decode = (args: JsonObject): Result.Result<ReadonlyArray<Task>, Fault> => {
  if (Object.keys(args).some((key) => key !== "tasks")) return Result.fail("there is an unknown member beside tasks")
  const { tasks } = args
  if (!Array.isArray(tasks) || tasks.length < 1 || tasks.length > MAX_TASKS) {
    return Result.fail(`/tasks must be an array of 1 to ${MAX_TASKS} tasks`)
  }
  const decoded: Array<Task> = []
  for (const [at, value] of tasks.entries()) {
    const task = taskOf(value, at)
    if (Result.isFailure(task)) return Result.fail(task.failure)
    decoded.push(task.success)
  }
  return Result.succeed(decoded)
}
