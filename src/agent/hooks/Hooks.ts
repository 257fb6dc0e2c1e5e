/** Hooks around every tool call. base-protocol section 6, Hooks; product section 2 (what a hook reads and prints). */
import { Context, type Effect } from "effect"
import type { Json, JsonObject } from "../../protocol/Json.ts"
import type { AgentIdentity, ToolFailure } from "../../tools/Tool.ts"

export interface HooksShape {
  /**
   * Runs the `before_tool` hooks whose patterns name the tool, in array order, each seeing the last replacement.
   * Gives the final arguments. Fails with `hook_denied` (the hook's reason) or `hook_failed` (`on_failure: "block"`).
   * Interruption kills a running hook and its process group.
   */
  readonly before: (
    call: AgentIdentity & { readonly tool: string; readonly arguments: JsonObject }
  ) => Effect.Effect<JsonObject, ToolFailure>
  /** Runs the `after_tool` hooks. They observe: nothing they do changes the result. Arguments and result are redacted copies. */
  readonly after: (
    call: AgentIdentity & {
      readonly tool: string
      readonly arguments: JsonObject
      readonly status: "success" | "failure"
      readonly result: Json
    }
  ) => Effect.Effect<void>
}

export class Hooks extends Context.Service<Hooks, HooksShape>()("magi-code/agent/Hooks") {}
