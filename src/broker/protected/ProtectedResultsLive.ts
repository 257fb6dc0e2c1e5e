/**
 * `ProtectedResults` on scanning threads. They begin to warm up when the layer is built, which is after `initialize` is
 * admitted, and nobody waits for them until the first result comes.
 *
 * base-protocol section 6, Redaction.
 */
import { Effect, Layer, Redacted, Result, type Scope } from "effect"
import { stringify } from "../../protocol/CompactJson.ts"
import { parseSyntax } from "../../protocol/StrictJson.ts"
import { Settings } from "../../settings/Settings.ts"
import { ProtectedResults, type ProtectedResultsShape, ResultRejected, type ResultValue } from "../ProtectedResult.ts"
import type { RawResult, Verdict } from "./Redactor.ts"
import { makeScanner } from "./Scanner.ts"
import { REDACTED } from "./Spans.ts"

/** The longest text that is masked for people, in UTF-16 units: what is longer is shown nowhere. */
const MASK_LENGTH = 1_048_576

const messages: { readonly [rule in ResultRejected["rule"]]: string } = {
  collision: "two keys of one object become equal when they are protected",
  too_large: "the result is too large",
  unscannable: "the result could not be scanned in its time"
}

const reject = (rule: ResultRejected["rule"], path: ResultRejected["path"]): ResultRejected =>
  new ResultRejected({ rule, path, message: messages[rule] })

/** The service on a scanner of its own that redacts `secrets` literally, too. */
export const makeProtectedResults = (
  secrets: ReadonlyArray<Redacted.Redacted<string>>
): Effect.Effect<ProtectedResultsShape, never, Scope.Scope> =>
  Effect.map(makeScanner(secrets.map(Redacted.value)), (scanner) => ({
    protect: (value, maxBytes) =>
      Effect.gen(function* () {
        const raw = toRaw(value)
        const oversized = tooLarge(raw, maxBytes)
        if (oversized !== undefined) return yield* reject("too_large", oversized)
        return yield* fromVerdict(yield* scanner.scan(raw, maxBytes))
      }),
    maskText: (text) =>
      text.length > MASK_LENGTH
        ? Effect.succeed(REDACTED)
        : Effect.map(scanner.scan({ text }, Number.MAX_SAFE_INTEGER), (verdict) =>
            verdict._tag === "Protected" ? verdict.value.text : REDACTED
          )
  }))

/** The live service: the literal values come from the settings. */
export const ProtectedResultsLive: Layer.Layer<ProtectedResults, never, Settings> = Layer.effect(
  ProtectedResults,
  Effect.flatMap(Settings, ({ secretValues }) => makeProtectedResults(secretValues))
)

const toRaw = ({ structured, text }: ResultValue): RawResult =>
  structured === undefined ? { text } : { text, structured: stringify(structured) }

/** The part that is too large: the text if it alone is, else the structured value. */
const tooLarge = ({ structured, text }: RawResult, maxBytes: number): ResultRejected["path"] | undefined => {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) return "/text"
  return structured !== undefined && bytes + Buffer.byteLength(structured) > maxBytes ? "/structured" : undefined
}

const fromVerdict = (verdict: Verdict): Effect.Effect<ResultValue, ResultRejected> => {
  if (verdict._tag === "Rejected") return Effect.fail(reject(verdict.rule, verdict.path))
  const { structured, text } = verdict.value
  if (structured === undefined) return Effect.succeed({ text })
  const parsed = parseSyntax(structured)
  return Result.isSuccess(parsed)
    ? Effect.succeed({ text, structured: parsed.success })
    : Effect.fail(reject("unscannable", "/structured"))
}
