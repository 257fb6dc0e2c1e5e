/**
 * `magi-code/server`: the agent's backend, to embed in another Effect program: its own transport, models and store.
 *
 * ```ts
 * import { fromStreams, modelsFromLanguageModel, serve, startupWith, Transport } from "magi-code/server"
 *
 * const startup = startupWith({
 *   settings: { schema_version: 2 },
 *   models: Layer.provide(modelsFromLanguageModel({ provider: "own", model: "m" }), MyLanguageModelLive),
 *   store: MemorySessionStore
 * })
 * const exitCode = Effect.scoped(
 *   Effect.gen(function* () {
 *     const transport = yield* fromStreams(socket, socket)
 *     const running = serve({ workspace, startup, server: { name: "mine", version: "1" } })
 *     return yield* Effect.provideService(running, Transport, transport)
 *   })
 * )
 * ```
 *
 * product section 4; base-protocol sections 1 to 3.
 *
 * @module magi-code/server
 */
export { type GivenModel, makeModels, modelsFromLanguageModel } from "../agent/model/GivenModels.ts"
export {
  type ModelEntry,
  ModelFailure,
  type ModelHandle,
  Models,
  type ModelsShape
} from "../agent/model/Models.ts"
export {
  type AgentProfile,
  type Approval,
  type EffectiveSettings,
  type HookSettings,
  type McpServerSettings,
  type ModelSettings,
  type ProviderSettings,
  Settings
} from "../settings/Settings.ts"
export type { DelegatedPermissions, PermittedTool } from "../store/DelegatedPermissions.ts"
export { MemorySessionStore } from "../store/MemorySessionStore.ts"
export type {
  AssistantRecord,
  CallOutcomeRecord,
  CallStartedRecord,
  CallTimeline,
  CompactionRecord,
  NoticeRecord,
  RecordedCall,
  RecordedOutcome,
  RunFinishedRecord,
  SessionRecord,
  TokenUsage,
  ToolStatus,
  UserRecord
} from "../store/SessionRecord.ts"
export {
  type DelegatedState,
  type HistoryEntry,
  type HistoryPage,
  PersistenceFailed,
  type SessionHandle,
  type SessionList,
  SessionStore,
  type SessionStoreShape,
  type SessionSummary,
  SessionUnavailable,
  StaleRevision
} from "../store/SessionStore.ts"
export { SqliteSessionStore, type SqliteStoreOptions } from "../store/SqliteSessionStore.ts"
export { type MemoryEnd, makePair as makeMemoryPair } from "../transport/MemoryTransport.ts"
export { fromStreams, type StreamEnd } from "../transport/StreamTransport.ts"
export { Transport, TransportFailed, type TransportShape } from "../transport/Transport.ts"
export { type ServeOptions, serve } from "./Connection.ts"
export type { BackendServices } from "./ConnectionState.ts"
export { type BackendOptions, defaultStartup, startupWith } from "./DefaultStartup.ts"
export { type Startup, StartupFailed, type StartupInput } from "./Startup.ts"
