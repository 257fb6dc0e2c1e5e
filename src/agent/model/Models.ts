/**
 * The models that the settings offer, each as an `effect/ai` LanguageModel.
 *
 * Contract of every LanguageModel given here (the runner relies on it):
 * - it is asked with `streamText({ prompt, toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" })`;
 * - it streams `text-delta` parts, `tool-call` parts and one `finish` part with usage where the provider told it;
 * - a tool call's arguments are parsed by base-protocol section 1. Where that fails, `params` is `{}` and the part's
 *   metadata is `{ "magi-code": { "invalidArguments": "<the rule>" } }`: raw text never goes on;
 * - its errors are `ModelFailure`s (below) inside AiError's description or as the stream's error, see `ModelFailure.from`.
 *
 * product section 2 (providers) and 3 (the offline model).
 */
import { Context, Data, type Effect } from "effect"
import type { LanguageModel } from "effect/ai"
import type { RunFailureCode } from "../../protocol/ErrorCode.ts"

/** A model request that failed for good: our own retries are over (product section 2). `message` has at most 256 bytes and no key. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly code: Extract<
    RunFailureCode,
    "provider_failed" | "provider_unavailable" | "provider_rejected_tool" | "context_limit"
  >
  readonly message: string
}> {}

/** A model by its names, as `model.catalog` and `selection.set` have them. */
export interface ModelEntry {
  readonly provider: string
  readonly model: string
}

/** A model that can be asked, with the bounds of its context in tokens. */
export interface ModelHandle extends ModelEntry {
  readonly contextTokens: number
  readonly maxOutputTokens: number
  /** The offline model sees tool results as JSON lines instead of provider messages; others ignore this. */
  readonly languageModel: LanguageModel.LanguageModel
}

/** What `Models` offers. */
export interface ModelsShape {
  /** In the order of the settings, home file first. Never empty: `offline/offline` is always there. */
  readonly catalog: ReadonlyArray<ModelEntry>
  /** Opaque; changes with the catalogue. */
  readonly revision: string
  /** The model that the settings select. */
  readonly initial: ModelEntry
  /** `undefined`: the catalogue has no such model. Loads the provider's package on first use. */
  readonly get: (entry: ModelEntry) => Effect.Effect<ModelHandle | undefined, ModelFailure>
}

/** The models of a backend. `makeModels` and `modelsFromLanguageModel` make one of your own. */
export class Models extends Context.Service<Models, ModelsShape>()("magi-code/agent/Models") {}
