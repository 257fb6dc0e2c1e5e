/** The redactor without its thread, for tests of rules; and the live service. */
import { Effect, Redacted } from "effect"
import { makeProtectedResults } from "../../src/broker/protected/ProtectedResultsLive.ts"
import { makeRedactor, type RawResult } from "../../src/broker/protected/Redactor.ts"
import type { Json } from "../../src/protocol/Json.ts"

const unlimited = { maxBytes: Number.MAX_SAFE_INTEGER, maxCpu: Number.POSITIVE_INFINITY }

const redactor = makeRedactor(["quiet.harbour+42"], () => 0)

const protect = async (result: RawResult): Promise<RawResult> => {
  const verdict = await redactor.protect(result, unlimited)
  if (verdict._tag === "Rejected") throw new Error(`${verdict.rule} at ${verdict.path}`)
  return verdict.value
}

/** What becomes of a text. */
export const redact = async (text: string): Promise<string> => (await protect({ text })).text

/** What becomes of a structured value. */
export const redactJson = async (value: Json): Promise<Json> => {
  const { structured } = await protect({ text: "", structured: JSON.stringify(value) })
  return JSON.parse(structured ?? "undefined")
}

/** The same as compact text, for keys that an object literal cannot have. */
export const redactText = async (json: string): Promise<string> =>
  (await protect({ text: "", structured: json })).structured ?? ""

export const service = (...secrets: ReadonlyArray<string>) =>
  makeProtectedResults(secrets.map((secret) => Redacted.make(secret)))

/** Runs a promise of the test inside an effect. */
export const wait = <A>(promise: () => Promise<A>): Effect.Effect<A> => Effect.promise(promise)
