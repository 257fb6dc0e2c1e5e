/**
 * The `input_schema` of a tool of an `effect/ai` toolkit: the JSON Schema of its parameters, closed, with all references
 * written out, in the supported subset. product section 4; client-tools, Bounds and schemas.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import type { ParamsFault } from "../protocol/Params.ts"
import { jsonOf } from "./JsonOf.ts"

/** Far more schemas than 8192 bytes hold: where references multiply, inlining stops here. */
const MOST_SCHEMAS = 4096

/** Annotations that say what a string holds: they validate nothing, and the subset has no word for them. */
const contentKeywords = new Set(["contentMediaType", "contentSchema", "contentEncoding"])

/** The closed, inlined schema of an Effect schema. */
export const inputSchemaOf = (parameters: Schema.Constraint): Result.Result<JsonObject, ParamsFault> => {
  let document: unknown
  try {
    document = Schema.toJsonSchemaDocument(parameters, { onExcessProperty: "error" })
  } catch {
    return Result.fail({ message: "the parameters have no JSON Schema" })
  }
  const json = jsonOf(document)
  if (Result.isFailure(json)) return Result.fail(json.failure)
  if (!isJsonObject(json.success)) return Result.fail({ message: "the parameters have no JSON Schema" })
  const { definitions, schema } = json.success
  try {
    const inlined = new Inlining(isJsonObject(definitions) ? definitions : {}).schema(schema ?? {}, "", [])
    return Result.succeed(asObject(inlined))
  } catch (error) {
    if (error instanceof NotInlinable) return Result.fail({ message: error.message, path: error.path })
    throw error
  }
}

class NotInlinable extends Error {
  readonly path: string

  constructor(message: string, path: string) {
    super(message)
    this.path = path
  }
}

const DEFINITION = "#/$defs/"
const literals = new Set(["enum", "const", "default", "examples", "required", "type"])
const namedSchemas = new Set(["properties", "patternProperties"])

class Inlining {
  readonly #definitions: JsonObject
  #count = 0

  constructor(definitions: JsonObject) {
    this.#definitions = definitions
  }

  /** `within`: the definitions being written out, so that one inside itself is found. */
  schema(given: Json, path: string, within: ReadonlyArray<string>): Json {
    if (!isJsonObject(given)) return given
    this.#count += 1
    if (this.#count > MOST_SCHEMAS)
      throw new NotInlinable("the schema is too large with its references written out", path)
    const { $ref: reference, ...rest } = given
    const own = Object.entries(rest)
      .filter(([keyword]) => !contentKeywords.has(keyword) && keyword !== "$schema")
      .map(([keyword, content]) => [keyword, this.#content(keyword, content, path, within)] as const)
    if (reference === undefined) return Object.fromEntries(own)
    const name = typeof reference === "string" ? nameOf(reference) : undefined
    const definition = name === undefined ? undefined : this.#definitions[name]
    if (name === undefined || definition === undefined) throw new NotInlinable("an unknown reference", path)
    if (within.includes(name)) throw new NotInlinable("a schema that contains itself cannot be written out", path)
    const inlined = this.schema(definition, path, [...within, name])
    if (own.length === 0) return inlined
    return isJsonObject(inlined) && own.every(([keyword]) => !Object.hasOwn(inlined, keyword))
      ? { ...inlined, ...Object.fromEntries(own) }
      : { ...Object.fromEntries(own), allOf: [inlined] }
  }

  #content(keyword: string, content: Json, path: string, within: ReadonlyArray<string>): Json {
    const at = JsonPointer.join(path, keyword)
    if (literals.has(keyword)) return content
    if (Array.isArray(content)) {
      return content.map((item, index) => this.schema(item, JsonPointer.join(at, index), within))
    }
    if (!isJsonObject(content)) return content
    if (!namedSchemas.has(keyword)) return this.schema(content, at, within)
    return Object.fromEntries(
      Object.entries(content).map(([name, item]) => [name, this.schema(item, JsonPointer.join(at, name), within)])
    )
  }
}

const nameOf = (reference: string): string | undefined =>
  reference.startsWith(DEFINITION)
    ? decodeURIComponent(reference.slice(DEFINITION.length)).replaceAll("~1", "/").replaceAll("~0", "~")
    : undefined

/** A union of objects is an object; the root must say so. */
const asObject = (schema: Json): JsonObject => {
  if (!isJsonObject(schema)) return { type: "object" }
  if (Object.hasOwn(schema, "type")) return schema
  if (isAnyButNull(schema)) return { type: "object", additionalProperties: false }
  const branches = schema["anyOf"] ?? schema["oneOf"]
  const allObjects = Array.isArray(branches) && branches.every((one) => isJsonObject(one) && one["type"] === "object")
  return allObjects ? { type: "object", ...schema } : schema
}

/** What Effect derives for a struct without members: in TypeScript `{}` is every value but null. As arguments it is no arguments. */
const isAnyButNull = (schema: JsonObject): boolean =>
  Object.keys(schema).length === 1 && isJsonObject(schema["not"]) && schema["not"]["type"] === "null"
