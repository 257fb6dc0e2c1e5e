/**
 * What a tool may do on behalf of the agent that called it: Code Mode's way to the tool pipeline.
 *
 * A reference that the pipeline provides while it runs `prepare` and `execute` of a call, so that the `code_mode` tool can
 * be an ordinary `AgentTool`. Read it where the script starts: `const nested = yield* NestedCalls`.
 *
 * base-protocol section 7 (Code Mode; "A call made in it carries the identity of the agent that runs it").
 */
import { Context, Effect } from "effect"
import type { Json } from "../protocol/Json.ts"
import type { RecordedOutcome } from "../store/SessionRecord.ts"
import type { AgentTool } from "../tools/Tool.ts"

export interface NestedCallsShape {
  /** What the agent may call from Code Mode, in catalogue order. `code_mode` itself is not among it. */
  readonly tools: ReadonlyArray<AgentTool>
  /**
   * Makes a call as the agent that runs the script, with the script's call as its parent. `args` may be any JSON: what is
   * not an object fails with `client_tool_invalid_arguments` or `tool_invalid_arguments`.
   *
   * Never fails and never ends by interruption: interrupting the fiber it runs in cancels the call, which then gives its
   * outcome (an activity, a record in history and, for a client tool, `client.tool.cancel` with reason `cancelled`). So run
   * each call in a fiber of its own, and wait for them when the script has ended.
   */
  readonly call: (name: string, args: Json) => Effect.Effect<RecordedOutcome>
}

/** Outside a call of the pipeline: no tools. */
export const NestedCalls: Context.Reference<NestedCallsShape> = Context.Reference<NestedCallsShape>(
  "magi-code/agent/NestedCalls",
  {
    defaultValue: () => ({
      tools: [],
      call: () =>
        Effect.succeed({
          success: false,
          text: "no agent is calling",
          error: { code: "tool_unknown", message: "no agent is calling" }
        })
    })
  }
)
