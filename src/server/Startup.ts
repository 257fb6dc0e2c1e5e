/**
 * What happens between an admitted `initialize` and its answer: settings, models, store, MCP servers, the runner. None of
 * it before the preflight has passed (client-tools, Negotiate once; base-protocol section 3).
 */
import { Data, type Layer } from "effect"
import type { ErrorCode } from "../protocol/ErrorCode.ts"
import type { Admission } from "../protocol/Initialize.ts"
import type { EventWriter } from "../transport/FrameWriter.ts"
import type { BackendServices } from "./ConnectionState.ts"

/** Start-up failed: `initialize` is answered with this, and the process stays `failed`. */
export class StartupFailed extends Data.TaggedError("StartupFailed")<{
  readonly code: Extract<
    ErrorCode,
    | "configuration_invalid"
    | "configuration_untrusted"
    | "provider_unconfigured"
    | "mcp_failed"
    | "persistence_failed"
    | "internal_error"
  >
  readonly message: string
  readonly path?: string
}> {}

/** What is known when the start-up begins. */
export interface StartupInput {
  readonly admission: Admission
  readonly instanceId: string
  /** The real path of the working directory the parent chose. */
  readonly workspace: string
}

/** Builds the backend of one connection. Its scope is closed while closing, bounded. */
export type Startup = (input: StartupInput) => Layer.Layer<BackendServices, StartupFailed, EventWriter>
