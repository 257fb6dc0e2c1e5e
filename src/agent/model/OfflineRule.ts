/**
 * The plain rule of the offline model: the tool whose words match the prompt best, called with the quoted parts of the
 * prompt. product section 3, the third way.
 */
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"

export interface RuleTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
}

export interface RuleCall {
  readonly name: string
  readonly arguments: JsonObject
}

// Words that match everything say nothing of a tool.
const common = new Set(
  (
    "a an and are as at be by can client do for from has have i if in into is it its me mine my not of on or please so that " +
    "the them then there this to up us was we what when which will with you your"
  ).split(" ")
)

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== "" && !common.has(word))
  )

// A single quote inside a word is an apostrophe.
const quoted = /"([^"]*)"|“([^”]*)”|`([^`]*)`|(?<![\p{L}\p{N}])'([^']*)'(?![\p{L}\p{N}])/gu

/** The quoted parts of a prompt, in order. */
export const quotedParts = (prompt: string): ReadonlyArray<string> =>
  [...prompt.matchAll(quoted)].map((match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? "")

/**
 * The tool that shares most words with the prompt. Of several it is the one that has fewest words, as more of them are about
 * the prompt, then the first. `undefined` when none shares any.
 */
const bestTool = (prompt: string, tools: ReadonlyArray<RuleTool>): RuleTool | undefined => {
  const asked = wordsOf(prompt)
  let best: { readonly tool: RuleTool; readonly shared: number; readonly words: number } | undefined
  for (const tool of tools) {
    const own = wordsOf(`${tool.name} ${tool.description}`)
    const shared = [...own].filter((word) => asked.has(word)).length
    const better =
      best === undefined ? shared > 0 : shared > best.shared || (shared === best.shared && own.size < best.words)
    if (better) best = { tool, shared, words: own.size }
  }
  return best?.tool
}

const typeOf = (schema: JsonObject): Json | undefined =>
  Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"]

const isString = (schema: Json | undefined): schema is JsonObject => isJsonObject(schema) && typeOf(schema) === "string"

const numberOf = (value: Json | undefined, otherwise: number): number => (typeof value === "number" ? value : otherwise)

const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const lowest = (schema: JsonObject, step: number): number => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum } = schema
  const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum + step : numberOf(minimum, 0)
  const below = typeof exclusiveMaximum === "number" ? exclusiveMaximum - step : numberOf(maximum, above)
  return Math.max(numberOf(minimum, above), above) > below ? below : above
}

/** A value that a schema most likely takes: what it names itself, else the smallest of its type. */
const defaultOf = (schema: Json | undefined, depth = 0): Json => {
  if (!isJsonObject(schema) || depth > 8) return null
  if (schema["default"] !== undefined) return schema["default"]
  if (schema["const"] !== undefined) return schema["const"]
  const named = listOf(schema["enum"])[0] ?? listOf(schema["examples"])[0]
  if (named !== undefined) return named
  const alternative = listOf(schema["anyOf"])[0] ?? listOf(schema["oneOf"])[0] ?? listOf(schema["allOf"])[0]
  const type = typeOf(schema)
  if (type === undefined && alternative !== undefined) return defaultOf(alternative, depth + 1)
  switch (type) {
    case "string":
      return "x".repeat(Math.min(numberOf(schema["minLength"], 0), 1024))
    case "integer":
      return Math.ceil(lowest(schema, 1))
    case "number":
      return lowest(schema, 1)
    case "boolean":
      return false
    case "array":
      return Array.from({ length: Math.min(numberOf(schema["minItems"], 0), 64) }, () =>
        defaultOf(schema["items"], depth + 1)
      )
    case "object":
      return requiredOf(schema, depth)
    default:
      return type === "null" ? null : {}
  }
}

const propertiesOf = (schema: JsonObject): JsonObject =>
  isJsonObject(schema["properties"]) ? schema["properties"] : {}

const requiredOf = (schema: JsonObject, depth: number): JsonObject => {
  const properties = propertiesOf(schema)
  const names = listOf(schema["required"]).filter((name) => typeof name === "string")
  return Object.fromEntries(
    names.map((name) => [name, defaultOf(Object.hasOwn(properties, name) ? properties[name] : undefined, depth + 1)])
  )
}

const takes = (schema: JsonObject, text: string): boolean =>
  schema["enum"] === undefined || listOf(schema["enum"]).includes(text)

/** String properties get the quoted parts in order; what else is required gets a default. */
const argumentsOf = (schema: JsonObject, parts: ReadonlyArray<string>): JsonObject => {
  const left = [...parts]
  const filled: Array<readonly [string, Json]> = []
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const part = left[0]
    if (part === undefined || !isString(property) || !takes(property, part)) continue
    filled.push([name, part])
    left.shift()
  }
  const required = requiredOf(schema, 0)
  const open = Object.entries(required).filter(([name]) => !filled.some(([known]) => known === name))
  return Object.fromEntries([...filled, ...open])
}

/** The call that the rule makes for a prompt; `undefined` without a match. */
export const callFor = (prompt: string, tools: ReadonlyArray<RuleTool>): RuleCall | undefined => {
  const tool = bestTool(prompt, tools)
  return tool && { name: tool.name, arguments: argumentsOf(tool.schema, quotedParts(prompt)) }
}

/** What it says when no tool matches. */
export const listOfTools = (tools: ReadonlyArray<RuleTool>): string =>
  tools.length === 0
    ? "No tool matches, and there are none."
    : `No tool matches. These are the tools:\n${tools.map((tool) => `- ${tool.name}: ${tool.description}`).join("\n")}`
