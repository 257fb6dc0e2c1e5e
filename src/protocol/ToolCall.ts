/** `client.tool.call`: its data, and the bounds of its arguments. client-tools, Execute and reply; base-protocol section 6. */
import type { CallIdentity } from "./CallIdentity.ts"
import * as CompactJson from "./CompactJson.ts"
import type { EffectiveDescriptor } from "./Descriptor.ts"
import type { ClientToolCall } from "./Event.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { ClientToolLimits } from "./Limits.ts"

/** The data of the event, exactly; `instance_id` is the envelope's, `timeout_ms` the descriptor's full value. */
export const callData = (
  identity: CallIdentity,
  tool: Pick<EffectiveDescriptor, "name" | "timeout_ms">,
  args: JsonObject
): ClientToolCall => ({
  session_id: identity.session_id,
  run_id: identity.run_id,
  call_id: identity.call_id,
  task_id: identity.task_id,
  subagent_id: identity.subagent_id,
  name: tool.name,
  arguments: args,
  timeout_ms: tool.timeout_ms
})

/**
 * Checks final arguments before a call: an object that compact JSON can hold unchanged, else
 * `client_tool_invalid_arguments`; at most 16384 compact bytes, else `client_tool_payload_limit`. Depth and bytes of the
 * whole frame are the writer's to check.
 */
export const argumentsFailure = (
  args: Json
): "client_tool_invalid_arguments" | "client_tool_payload_limit" | undefined => {
  if (!isJsonObject(args) || !CompactJson.isEncodable(args)) return "client_tool_invalid_arguments"
  return CompactJson.byteLength(args) > ClientToolLimits.arguments_bytes ? "client_tool_payload_limit" : undefined
}
