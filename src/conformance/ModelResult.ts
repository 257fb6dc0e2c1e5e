/** What the offline model saw of the calls of a run. docs/conformance.md, `{{results}}`. */
import { Effect } from "effect"
import { isJsonObject, type Json } from "../protocol/index.ts"
import { CaseFailed } from "./CaseEnd.ts"
import { short } from "./Json.ts"

/** One of its lines: one call. */
export interface ModelResult {
  readonly name: string
  readonly success: boolean
  /** The structured value, else `{"text"}`. */
  readonly content: Json
  readonly error?: { readonly code: string; readonly message: string }
}

const toModelResult = (value: Json): ModelResult => {
  if (!isJsonObject(value)) throw new TypeError("no object")
  const { name, success, content = null, error } = value
  if (typeof name !== "string" || typeof success !== "boolean") throw new TypeError("no result")
  if (error === undefined) return { name, success, content }
  if (!isJsonObject(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string")
    throw new TypeError("no error")
  return { name, success, content, error: { code: error["code"], message: error["message"] } }
}

/** The results in a message whose text was `{{results}}`; fails where a line is none. */
export const modelResults = (text: string): Effect.Effect<ReadonlyArray<ModelResult>, CaseFailed> =>
  Effect.try({
    try: () =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => toModelResult(JSON.parse(line))),
    catch: () => new CaseFailed({ message: `{{results}} should be a line of JSON each, got ${short(text)}` })
  })
