/**
 * The models of a program that brings its own `LanguageModel`, in place of those of the settings. product section 4
 * (`magi-code/server`).
 */
import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import { stringify } from "../../protocol/CompactJson.ts"
import { type ModelEntry, type ModelHandle, Models, type ModelsShape } from "./Models.ts"

/** What is assumed where nothing is said: as for a plain id in the settings (product section 2). */
const CONTEXT_TOKENS = 128_000
const MAX_OUTPUT_TOKENS = 8192

/** A model that `modelsFromLanguageModel` offers, by the names that clients see. */
export interface GivenModel extends ModelEntry {
  /** Tokens of its context window; the transcript is kept within it. Default 128000. */
  readonly contextTokens?: number
  /** Tokens that are kept free for its answer. Default 8192. */
  readonly maxOutputTokens?: number
}

/** A catalogue of models that exist already; the first is selected at the beginning. Nothing is loaded later. */
export const makeModels = (handles: readonly [ModelHandle, ...ReadonlyArray<ModelHandle>]): ModelsShape => {
  const catalog = handles.map(({ model, provider }) => ({ provider, model }))
  const [{ model, provider }] = handles
  return {
    catalog,
    revision: createHash("sha256").update(stringify(catalog)).digest("hex").slice(0, 32),
    initial: { provider, model },
    get: (entry) => Effect.succeed(handles.find((one) => one.provider === entry.provider && one.model === entry.model))
  }
}

/**
 * One model: the `LanguageModel` of the program, under a name of its own in the catalogue. It is asked with
 * `streamText({ prompt, toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" })` and need do no more
 * than stream its text and its calls; its failures end the run with `provider_failed`.
 */
export const modelsFromLanguageModel = (entry: GivenModel): Layer.Layer<Models, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Models,
    Effect.map(LanguageModel.LanguageModel, (languageModel) =>
      Models.of(
        makeModels([
          {
            provider: entry.provider,
            model: entry.model,
            contextTokens: entry.contextTokens ?? CONTEXT_TOKENS,
            maxOutputTokens: entry.maxOutputTokens ?? MAX_OUTPUT_TOKENS,
            languageModel
          }
        ])
      )
    )
  )
