/**
 * The bounded subset of JSON Schema that an `input_schema` may use. Nothing is evaluated: no reference is resolved, no
 * regular expression compiled, no value validated. Literals under `enum`, `const`, `default` and `examples` are data.
 *
 * client-tools, Bounds and schemas; base-protocol section 6, Registry.
 */
import * as CompactJson from "./CompactJson.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import * as JsonPointer from "./JsonPointer.ts"
import { ClientToolLimits } from "./Limits.ts"
import { anyJson, boolean, type Check, faultAt, string } from "./Params.ts"

const typeNames: ReadonlyArray<Json> = ["null", "boolean", "object", "array", "number", "string", "integer"]

const type: Check = (value, path) => {
  const names = Array.isArray(value) ? value : [value]
  if (names.length === 0 || !names.every((name) => typeNames.includes(name))) {
    return faultAt(path, "must be a JSON Schema type name or a nonempty array of them")
  }
  return new Set(names).size === names.length ? undefined : faultAt(path, "type names must be unique")
}

/** A nested schema: an object of supported keywords, or a boolean. */
const schema: Check = (value, path) => {
  if (typeof value === "boolean") return undefined
  if (!isJsonObject(value)) return faultAt(path, "must be a schema: an object or a boolean")
  for (const [keyword, content] of Object.entries(value)) {
    const at = JsonPointer.join(path, keyword)
    const check = keywords.get(keyword)
    if (check === undefined) return faultAt(at, "unsupported schema keyword")
    const fault = check(content, at)
    if (fault) return fault
  }
  return undefined
}

const schemaMap: Check = (value, path) => {
  if (!isJsonObject(value)) return faultAt(path, "must be an object of schemas")
  for (const [name, content] of Object.entries(value)) {
    const fault = schema(content, JsonPointer.join(path, name))
    if (fault) return fault
  }
  return undefined
}

const schemaList: Check = (value, path) => {
  if (!Array.isArray(value) || value.length === 0) return faultAt(path, "must be a nonempty array of schemas")
  for (const [index, content] of value.entries()) {
    const fault = schema(content, JsonPointer.join(path, index))
    if (fault) return fault
  }
  return undefined
}

const required: Check = (value, path) =>
  Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length
    ? undefined
    : faultAt(path, "must be an array of unique strings")

const array: Check = (value, path) => (Array.isArray(value) ? undefined : faultAt(path, "must be an array"))

const number: Check = (value, path) => (typeof value === "number" ? undefined : faultAt(path, "must be a number"))

const positive: Check = (value, path) =>
  typeof value === "number" && value > 0 ? undefined : faultAt(path, "must be a positive number")

const count: Check = (value, path) =>
  typeof value === "number" && Number.isInteger(value) && value >= 0
    ? undefined
    : faultAt(path, "must be a nonnegative integer")

const all = (
  check: Check<unknown>,
  ...names: ReadonlyArray<string>
): ReadonlyArray<readonly [string, Check<unknown>]> => names.map((name) => [name, check])

const keywords: ReadonlyMap<string, Check<unknown>> = new Map([
  ["type", type],
  ...all(schemaMap, "properties", "$defs", "definitions", "patternProperties"),
  ...all(schema, "items", "additionalProperties", "not", "contains", "propertyNames"),
  ...all(schemaList, "allOf", "anyOf", "oneOf", "prefixItems"),
  ["required", required],
  ...all(array, "enum", "examples"),
  ...all(anyJson, "const", "default"),
  ...all(string, "description", "title", "pattern", "format", "$comment"),
  ...all(number, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ["multipleOf", positive],
  ...all(count, "minLength", "maxLength", "minItems", "maxItems"),
  ...all(count, "minProperties", "maxProperties", "minContains", "maxContains"),
  ...all(boolean, "uniqueItems", "readOnly", "writeOnly", "deprecated")
])

/** The keywords that a schema may use, in the order of client-tools.md. */
export const supportedKeywords: ReadonlyArray<string> = [...keywords.keys()]

/**
 * Checks a whole `input_schema`: an object whose `type` is the string `"object"`, at most 16 containers deep and 8192
 * compact bytes, with supported keywords of the right types. Depth comes first, so nothing here recurses beyond it.
 * Gives the first fault, with `path` prepended to its pointer.
 */
export const check: Check<JsonObject> = (value, path) => {
  if (!isJsonObject(value)) return faultAt(path, "an input schema must be an object")
  if (CompactJson.depth(value) > ClientToolLimits.schema_depth) {
    return faultAt(path, `must be at most ${ClientToolLimits.schema_depth} containers deep`)
  }
  // Never so in a decoded frame; a schema made by a program may hold NaN or half a character.
  if (!CompactJson.isEncodable(value)) return faultAt(path, "must be encodable as JSON")
  if (CompactJson.byteLength(value) > ClientToolLimits.schema_bytes) {
    return faultAt(path, `must be at most ${ClientToolLimits.schema_bytes} compact bytes`)
  }
  if (!Object.hasOwn(value, "type")) return faultAt(path, 'the root must have "type":"object"')
  if (value["type"] !== "object") return faultAt(JsonPointer.join(path, "type"), 'the root type must be "object"')
  return schema(value, path)
}
