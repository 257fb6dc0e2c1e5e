/**
 * How a `ModelFailure` travels through `effect/ai`, whose models fail with `AiError` only: its code rides in the reason's
 * metadata. Providers use `toAiError`, the runner `fromAiError`.
 *
 * base-protocol section 5 (run failure codes); product section 2 (providers).
 */
import { AiError } from "effect/ai"
import { truncateText } from "../../protocol/CompactJson.ts"
import { ERROR_MESSAGE_BYTES } from "../../protocol/Limits.ts"
import { ModelFailure } from "./Models.ts"

const KEY = "magi-code"

type Code = ModelFailure["code"]

const codes: Record<Code, true> = {
  provider_failed: true,
  provider_unavailable: true,
  provider_rejected_tool: true,
  context_limit: true
}

const isCode = (value: unknown): value is Code => typeof value === "string" && Object.hasOwn(codes, value)

/** Wraps a failure for a stream or an effect of a `LanguageModel`. */
export const toAiError = (
  failure: ModelFailure,
  method: "streamText" | "generateText" = "streamText"
): AiError.AiError =>
  AiError.make({
    module: KEY,
    method,
    reason: new AiError.UnknownError({ description: failure.message, metadata: { [KEY]: { code: failure.code } } })
  })

const codeOf = (reason: AiError.AiErrorReason): Code => {
  if ("metadata" in reason) {
    const ours = reason.metadata[KEY]
    if (typeof ours === "object" && ours !== null && "code" in ours && isCode(ours.code)) return ours.code
  }
  return reason._tag === "RateLimitError" || reason._tag === "InternalProviderError"
    ? "provider_unavailable"
    : "provider_failed"
}

/** What a model request failed with. An `AiError` that none of our providers made is told apart by its reason. */
export const fromAiError = (error: AiError.AiError): ModelFailure => {
  const { reason } = error
  const message = reason._tag === "UnknownError" ? (reason.description ?? reason.message) : reason.message
  return new ModelFailure({ code: codeOf(reason), message: truncateText(message, ERROR_MESSAGE_BYTES) })
}
