/**
 * `magi-code`: the client. An agent child process as a scoped resource, with tools that this program provides.
 *
 * Tools are made by `ToolkitTools` (an `effect/ai` Toolkit) or `PlainTools` (objects with a function), given to `Agent`, and
 * called by the agent while a turn runs. product section 4.
 *
 * @module magi-code
 */
export { Agent, type AgentBehaviour, type AgentOptions, type AgentShape } from "./client/Agent.ts"
export { type AgentOpenError, type ChildOptions, CLOSING_MS } from "./client/AgentChild.ts"
export {
  AgentNotStarted,
  EventsOverflow,
  InitializeFailed,
  LimitExceeded,
  RecycleFailed,
  type RequestError,
  RequestFailed,
  RequestIdsExhausted,
  ToolRefused
} from "./client/AgentErrors.ts"
export type { AgentEvent, KnownEvent, UnknownEvent } from "./client/AgentEvent.ts"
export { type AgentEnd, type AgentLink, fromTransport } from "./client/AgentLink.ts"
export type { AgentCommand } from "./client/AgentProcess.ts"
export type { ApprovalQuestion, Approver } from "./client/Approver.ts"
export {
  type ClientTool,
  type ClientTools,
  none as noTools,
  ToolFailed,
  type ToolReplyValue
} from "./client/ClientTool.ts"
export type { HistoryItem, HistoryText, HistoryTool } from "./client/HistoryParts.ts"
/** Client tools from what an MCP server lists. */
export * as McpToolAdapter from "./client/McpToolAdapter.ts"
/** Client tools that run on a connected MCP server. */
export * as McpTools from "./client/McpTools.ts"
/** Client tools without Effect: objects with a function. */
export * as PlainTools from "./client/PlainTools.ts"
export type { Recycled } from "./client/Recycle.ts"
export { merge as mergeTools } from "./client/Registry.ts"
export type { PageOf, Sessions } from "./client/Sessions.ts"
export { type Ending, ToolCall, type ToolCallShape } from "./client/ToolCall.ts"
/** Client tools from an `effect/ai` Toolkit, as it is. */
export * as ToolkitTools from "./client/ToolkitTools.ts"
export { type LossCause, TransportLost } from "./client/TransportLost.ts"
export type { Turn, TurnOutcome } from "./client/Turn.ts"
export type { ReplySent, TurnEvent } from "./client/TurnEvents.ts"
export { ownBackend } from "./platform/OwnBackend.ts"
