/**
 * Validation of a call's arguments against the tool's `input_schema`: JSON Schema 2020-12 by Ajv, compiled once, `format` as
 * annotation, patterns in linear time. A mismatch is told with a pointer and the rule, never with a value.
 * product sections 4 and 5 (Replies); client-tools, Bounds and schemas ("Client must validate actual arguments").
 */
import type { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { canonical } from "../protocol/Fingerprint.ts"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import type { ParamsFault } from "../protocol/Params.ts"
import { isMultipleOf } from "./Decimal.ts"
import type { Pattern } from "./Pattern.ts"

/** What is wrong with arguments: a pointer at the wrong value (its containing object for what lacks or is too much). */
export interface Mismatch {
  readonly path: string
  readonly message: string
}

/** A compiled `input_schema`. */
export interface ArgumentsSchema {
  /** `undefined`: the arguments match. */
  readonly mismatch: (args: JsonObject) => Mismatch | undefined
}

/** One line for the model; the root is `""`. */
export const mismatchText = (mismatch: Mismatch): string =>
  `the arguments do not match the schema at ${mismatch.path === "" ? '""' : mismatch.path}: ${mismatch.message}`

/** Compiles schemas that passed the subset check (`protocol/SchemaSubset`). */
export interface ArgumentsCompiler {
  readonly compile: (schema: JsonObject) => Result.Result<ArgumentsSchema, ParamsFault>
}

/** Loads the engines; they are not needed before there is a tool. */
export const makeCompiler: Effect.Effect<ArgumentsCompiler> = Effect.gen(function* () {
  // By its default export: bundled, a package in CommonJS has no other.
  const [{ default: ajv }, patterns] = yield* Effect.promise(() =>
    Promise.all([import("ajv/dist/2020.js"), import("./Pattern.ts")])
  )
  return { compile: (schema) => compileWith(ajv.Ajv2020, patterns.compile, schema) }
})

type CompilePattern = (source: string) => Result.Result<Pattern, string>

const compileWith = (
  Ajv: typeof Ajv2020,
  compilePattern: CompilePattern,
  schema: JsonObject
): Result.Result<ArgumentsSchema, ParamsFault> => {
  const patterns = new Map<string, Pattern>()
  const fault = compilePatterns(schema, "", compilePattern, patterns)
  if (fault !== undefined) return Result.fail(fault)
  const ajv = new Ajv({
    meta: false,
    validateSchema: false,
    strict: false,
    validateFormats: false,
    ownProperties: true,
    logger: false,
    code: { regExp: engineOf(compilePattern, patterns) }
  })
  // Ajv compares with prototypes' members (`constructor`, `valueOf`), in square time, and divides doubles.
  for (const name of ["enum", "const", "uniqueItems", "multipleOf"]) ajv.removeKeyword(name)
  ajv.addKeyword({ keyword: "enum", schemaType: "array", compile: enumOf })
  ajv.addKeyword({ keyword: "const", compile: (value: Json) => enumOf([value]) })
  ajv.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", compile: uniqueItems })
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor)
  })
  const validate = ajv.compile(validating(schema))
  return Result.succeed({
    mismatch: (args) => {
      if (validate(args) === true) return undefined
      // The last error is the outermost: of an `anyOf`, what no branch took, not why the last branch did not.
      const error = validate.errors?.at(-1)
      return { path: error?.instancePath ?? "", message: messages[error?.keyword ?? ""] ?? error?.message ?? "" }
    }
  })
}

const messages: Readonly<Record<string, string>> = {
  enum: "must be equal to one of the allowed values",
  const: "must be equal to the constant",
  uniqueItems: "must not have equal items",
  multipleOf: "must be a multiple of the schema's number",
  "false schema": "must not be there"
}

const enumOf = (allowed: ReadonlyArray<Json>) => {
  const forms = new Set(allowed.map(canonical))
  return (value: Json) => forms.has(canonical(value))
}

const uniqueItems = (wanted: boolean) => (items: ReadonlyArray<Json>) =>
  !wanted || new Set(items.map(canonical)).size === items.length

/** Ajv's door for another regular expression engine. The patterns of the schema itself were all compiled before it. */
const engineOf = (compile: CompilePattern, patterns: ReadonlyMap<string, Pattern>) =>
  Object.assign(
    (source: string) => {
      const pattern = patterns.get(source) ?? Result.getOrThrow(compile(source))
      return { test: pattern.test, toString: () => `pattern ${source}` }
    },
    { code: "undefined" }
  )

const schemaMaps = new Set(["properties", "patternProperties"])
const schemaLists = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const schemas = new Set(["items", "additionalProperties", "not", "contains", "propertyNames"])
const simple = new Set([
  ..."type required enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength".split(
    " "
  ),
  ..."minItems maxItems minProperties maxProperties minContains maxContains uniqueItems pattern".split(" ")
])

/** Every schema directly inside of one, with its pointer. */
function* children(schema: JsonObject, path: string): Generator<readonly [Json, string]> {
  for (const [keyword, content] of Object.entries(schema)) {
    const at = JsonPointer.join(path, keyword)
    if (schemas.has(keyword)) yield [content, at]
    else if (schemaLists.has(keyword) && Array.isArray(content)) {
      for (const [index, item] of content.entries()) yield [item, JsonPointer.join(at, index)]
    } else if ((schemaMaps.has(keyword) || keyword === "$defs" || keyword === "definitions") && isJsonObject(content)) {
      for (const [name, item] of Object.entries(content)) yield [item, JsonPointer.join(at, name)]
    }
  }
}

const compilePatterns = (
  schema: Json,
  path: string,
  compile: CompilePattern,
  into: Map<string, Pattern>
): ParamsFault | undefined => {
  if (!isJsonObject(schema)) return undefined
  const sources: Array<readonly [string, string]> = []
  const { pattern, patternProperties } = schema
  if (typeof pattern === "string") sources.push([pattern, JsonPointer.join(path, "pattern")])
  if (isJsonObject(patternProperties)) {
    for (const name of Object.keys(patternProperties)) {
      sources.push([name, JsonPointer.join(path, "patternProperties", name)])
    }
  }
  for (const [source, at] of sources) {
    const compiled = compile(source)
    if (Result.isFailure(compiled)) return { message: compiled.failure, path: at }
    into.set(source, compiled.success)
  }
  for (const [child, at] of children(schema, path)) {
    const fault = compilePatterns(child, at, compile, into)
    if (fault !== undefined) return fault
  }
  return undefined
}

const PROTO = "__proto__"

/**
 * The schema as Ajv gets it: what validates and nothing else, so that no annotation or literal is taken for a keyword. Ajv
 * leaves a property `__proto__` out everywhere but in patterns, so it becomes one.
 */
const validating = (schema: Json): JsonObject | boolean => {
  if (!isJsonObject(schema)) return schema === true
  const out: Array<readonly [string, Json]> = []
  const byPattern: Array<readonly [string, Json]> = []
  for (const [keyword, content] of Object.entries(schema)) {
    if (simple.has(keyword)) out.push([keyword, content])
    else if (schemas.has(keyword)) out.push([keyword, validating(content)])
    else if (schemaLists.has(keyword) && Array.isArray(content)) out.push([keyword, content.map(validating)])
    else if (schemaMaps.has(keyword) && isJsonObject(content)) {
      const isPatterns = keyword === "patternProperties"
      const plain: Array<readonly [string, Json]> = []
      for (const [name, item] of Object.entries(content)) {
        if (name === PROTO) byPattern.push([isPatterns ? `(?:${PROTO})` : `^${PROTO}$`, validating(item)])
        else if (isPatterns) byPattern.push([name, validating(item)])
        else plain.push([name, validating(item)])
      }
      if (!isPatterns) out.push([keyword, Object.fromEntries(plain)])
    }
  }
  if (byPattern.length > 0) out.push(["patternProperties", Object.fromEntries(byPattern)])
  return Object.fromEntries(out)
}
