/**
 * What can go wrong with a model request, and how it travels: one attempt fails with `AttemptFailed`; when our retries are
 * over what is left is a `ModelFailure`, which crosses `effect/ai`'s LanguageModel as an `AiError` and is read back by
 * `modelFailure`.
 *
 * base-protocol section 5 (run failure codes), product section 2 (providers).
 */
import { Data } from "effect"
import { AiError } from "effect/ai"
import { truncateText } from "../../protocol/CompactJson.ts"
import { ERROR_MESSAGE_BYTES } from "../../protocol/Limits.ts"
import { ModelFailure } from "./Models.ts"

/** One request that failed. */
export class AttemptFailed extends Data.TaggedError("AttemptFailed")<{
  readonly failure: ModelFailure
  /** Worth another attempt: 429, 5xx, or no connection. */
  readonly retry: boolean
  /** What the provider asked to wait, in milliseconds; `null` when it said nothing. */
  readonly retryAfterMs: number | null
}> {}

const codes: ReadonlyArray<ModelFailure["code"]> = [
  "provider_failed",
  "provider_unavailable",
  "provider_rejected_tool",
  "context_limit"
]

/** The key of our own members in the metadata of parts and errors. */
export const METADATA_KEY = "magi-code"

/** A failure with its message cut to what `run.finished` carries. */
export const failure = (code: ModelFailure["code"], message: string): ModelFailure =>
  new ModelFailure({ code, message: truncateText(message.toWellFormed(), ERROR_MESSAGE_BYTES) })

/** A failure that no further attempt will mend. */
export const refused = (code: ModelFailure["code"], message: string): AttemptFailed =>
  new AttemptFailed({ failure: failure(code, message), retry: false, retryAfterMs: null })

/** `provider_unavailable`: worth another attempt. */
export const unavailable = (message: string, retryAfterMs: number | null = null): AttemptFailed =>
  new AttemptFailed({ failure: failure("provider_unavailable", message), retry: true, retryAfterMs })

/** As the error of a LanguageModel. */
export const toAiError = (module: string, failed: ModelFailure): AiError.AiError =>
  AiError.make({
    module,
    method: "streamText",
    reason: new AiError.UnknownError({
      description: failed.message,
      metadata: { [METADATA_KEY]: { code: failed.code } }
    })
  })

const ownCode = (error: AiError.AiError): ModelFailure["code"] | undefined => {
  if (!("metadata" in error.reason)) return undefined
  const own = error.reason.metadata[METADATA_KEY]
  if (typeof own !== "object" || own === null || !("code" in own)) return undefined
  return codes.find((code) => code === own.code)
}

/** What a LanguageModel of this folder failed with. Any other error of its stream is a response that made no sense. */
export const modelFailure = (error: unknown): ModelFailure => {
  if (error instanceof ModelFailure) return error
  if (AiError.isAiError(error)) {
    const code = ownCode(error)
    if (code !== undefined) return failure(code, error.reason.message)
  }
  return failure("provider_failed", "the model's response could not be understood")
}
