/**
 * `magi-code/protocol`: the values of the protocol, with nothing running behind them. Names are the specification's.
 *
 * client-tools; base-protocol.
 *
 * @module magi-code/protocol
 */
export { type CallIdentity, same as sameCall } from "./CallIdentity.ts"
export {
  baseCapabilities,
  type Capability,
  CLIENT_TOOLS,
  optionalCapabilities,
  TOOL_CARDS
} from "./Capability.ts"
/** The compact form of JSON, and sizes in it: what every bound in bytes counts. */
export * as CompactJson from "./CompactJson.ts"
export { decodeEventData, isEventName } from "./DecodeEvent.ts"
export { decodeResult, type MethodResults, type ResultOf } from "./DecodeResult.ts"
export { decodeDescriptor, decodeRegistry, type EffectiveDescriptor, isClientToolName } from "./Descriptor.ts"
/** Frames: encoders for both sides, and decoders of a request and of what the agent sends. */
export * as Envelope from "./Envelope.ts"
export {
  type CancelReason,
  cancelReasons,
  type ErrorCode,
  errorCodes,
  type RunFailureCode,
  runFailureCodes,
  type ToolFailureCode,
  toolFailureCodes
} from "./ErrorCode.ts"
export {
  type ActivityFinished,
  type ActivityKind,
  type ActivityStarted,
  type ActivityStatus,
  type ActivityUpdated,
  type ApprovalClosed,
  type ApprovalRequest,
  type CardData,
  type CardOutcome,
  type CardRole,
  type ClientToolCall,
  type ClientToolCancel,
  type EventData,
  type EventName,
  eventNames,
  type InputSaved,
  type MessageDelta,
  type MessageReconcile,
  type OfCall,
  type OfRun,
  type RunFinished,
  type RunStarted,
  type RunStatus,
  type ToolCard,
  type Usage
} from "./Event.ts"
export { canonical, fingerprint } from "./Fingerprint.ts"
export { isId } from "./Ids.ts"
export {
  type Admission,
  type AnnouncedClientToolLimits,
  type AnnouncedLimits,
  type ClientToolsAnnouncement,
  type Extensions,
  type InitializeResult,
  initializeResult,
  type PreflightRefusal,
  preflight
} from "./Initialize.ts"
export { isJsonObject, type Json, type JsonObject } from "./Json.ts"
/** JSON Pointers (RFC 6901), as in `error.path`. */
export * as JsonPointer from "./JsonPointer.ts"
export { ClientToolLimits, Limits } from "./Limits.ts"
export {
  type DecodedParams,
  decodeParams,
  type Empty,
  isMethodName,
  type MethodName,
  type MethodParams,
  methodNames,
  type Paging,
  type ParamsOf
} from "./Method.ts"
export type {
  Accepted,
  HistoryEntry,
  HistoryPage,
  ModelCatalog,
  ModelEntry,
  Selection,
  SelectionSet,
  SessionCreated,
  SessionEntry,
  SessionListed,
  SessionOpened,
  StatusResult,
  TurnStarted
} from "./MethodResult.ts"
export type { ParamsFault } from "./Params.ts"
export { check as checkSchema, supportedKeywords } from "./SchemaSubset.ts"
export { decodeUtf8, type JsonFault, type JsonRule, parse as parseJson } from "./StrictJson.ts"
export { argumentsFailure, callData } from "./ToolCall.ts"
export { cancelData } from "./ToolCancel.ts"
export { decodeToolResult, resultParams, sizeOf, type ToolReply, type ToolResultParams } from "./ToolResult.ts"
