/** From JSON to a decoded settings file, or to the first broken rule with its place. product section 2. */
import { Result, Schema, SchemaIssue } from "effect"
import type { Json } from "../protocol/Json.ts"
import { join } from "../protocol/JsonPointer.ts"
import { type ConfigurationError, type FileName, invalid } from "./ConfigurationError.ts"
import { type SettingsFile, SettingsFileSchema } from "./SettingsSchema.ts"

const decode = Schema.decodeUnknownResult(SettingsFileSchema, { onExcessProperty: "error", errors: "first" })

const UNKNOWN = "unknown key"

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "UnexpectedKey" ? UNKNOWN : SchemaIssue.defaultLeafHook(issue))
})

/** Closed: an unknown key is an error, as is a wrong type. Messages hold no value. */
export const decodeSettings = (json: Json, file: FileName): Result.Result<SettingsFile, ConfigurationError> => {
  const decoded = decode(json)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
  const [issue] = formatIssue(decoded.failure.issue).issues
  const path = join("", ...(issue?.path ?? []).map(segment))
  return Result.fail(invalid(file, path, sentence(path, issue?.message ?? "is invalid")))
}

const segment = (part: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const key = typeof part === "object" ? part.key : part
  return typeof key === "symbol" ? String(key) : key
}

/** `Expected string` becomes the end of a sentence about the place. */
const sentence = (path: string, message: string): string => {
  const place = visible(path)
  const end = ending(path, message)
  return path === "" ? end : `${place} ${end}`
}

const ending = (path: string, message: string): string => {
  if (message === UNKNOWN) return isNamed.test(path) ? "is not a name that is possible here" : "is an unknown key"
  const expected = /^Expected (.*)$/s.exec(message)?.[1]
  if (expected === undefined) return "is missing"
  return `must be ${/^(?:string|number|boolean)$/.test(expected) ? "a " : /^(?:object|array)$/.test(expected) ? "an " : ""}${expected}`
}

/** Members of records: their keys are names, not keys of the format. */
const isNamed = /^\/(?:providers|agents|mcp\/servers)\/[^/]*$/

/** Keys come from a file that a stranger may have written; a terminal must not obey them. */
const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
