/**
 * The `code_mode` tool: scripts over the agent's own tools. base-protocol section 7, product section 2.
 */
import { Effect } from "effect"
import { ProtectedResults, type ResultRejected } from "../../broker/ProtectedResult.ts"
import type { JsonObject } from "../../protocol/Json.ts"
import { type AgentTool, ToolFailure } from "../../tools/Tool.ts"
import { NestedCalls } from "../NestedCalls.ts"
import { CodeModeLimits, size } from "./CodeModeLimits.ts"
import { Sandbox } from "./Sandbox.ts"

const { calls, heap_bytes, returned_bytes, source_bytes, time_ms } = CodeModeLimits

const description = `Runs a script over your tools, when one result leads to the next call or many calls are needed at once. \
\`code\` is the body of an async JavaScript function; what it returns is the result (JSON; nothing returned: null). \
In it: tools.list() and tools.search(query) give [{name, description}] (search: all words occur in name or description), \
tools.describe(name) gives {name, description, input_schema} or null, \
tools.call(name, args) gives a promise of {success: true, content} or {success: false, content, error: {code, message}} and never rejects, \
tools.budget() gives {calls_left, ms_left, bytes_left}. Calls under Promise.all run at the same time. \
There is nothing else: no modules, files, network, timers or console. \
Bounds: ${size(source_bytes)} of code, ${calls} calls, ${size(heap_bytes)} of heap, ${size(returned_bytes)} returned, \
and ${time_ms / 1000} s in all (ms_left), which the time that calls take and the waiting for approvals count against. \
Calls that are unfinished when the script ends are cancelled.`

const inputSchema: JsonObject = {
  type: "object",
  properties: { code: { type: "string", description: "The body of an async JavaScript function." } },
  required: ["code"],
  additionalProperties: false
}

/** The script, where the arguments are exactly `{code}`. */
const codeOf = (args: JsonObject): Effect.Effect<string, ToolFailure> =>
  typeof args["code"] === "string" && Object.keys(args).length === 1
    ? Effect.succeed(args["code"])
    : Effect.fail(
        new ToolFailure({ code: "tool_invalid_arguments", message: "code_mode takes one argument, code, a string" })
      )

const rejected = ({ message, rule }: ResultRejected): ToolFailure =>
  rule === "too_large"
    ? new ToolFailure({
        code: "result_too_large",
        message: `the returned value is larger than ${size(returned_bytes)} and was not used`
      })
    : new ToolFailure({ code: "result_rejected", message: `the returned value was not used: ${message}` })

/** The tool. A script's calls are those of `NestedCalls`: made as the agent that called the tool, through its pipeline. */
export const codeModeTool: Effect.Effect<AgentTool, never, Sandbox | ProtectedResults> = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const results = yield* ProtectedResults
  yield* sandbox.warmSoon
  return {
    name: "code_mode",
    description,
    inputSchema,
    origin: "builtin",
    role: "code_mode",
    fingerprint: null,
    compact: true,
    prepare: (args) =>
      Effect.map(codeOf(args), (code) => ({
        approval: null,
        lines: [],
        execute: Effect.gen(function* () {
          const host = yield* NestedCalls
          const value = yield* sandbox
            .run({ code, host })
            .pipe(Effect.mapError(({ code: failure, message }) => new ToolFailure({ code: failure, message })))
          // A script can put together what no result showed as a whole, so its value is protected once more; by its own bound.
          const safe = yield* results
            .protect({ text: "", structured: value }, returned_bytes)
            .pipe(Effect.mapError(rejected))
          return { ...safe, isProtected: true as const }
        })
      }))
  }
})
