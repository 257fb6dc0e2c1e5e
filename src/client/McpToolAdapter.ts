/**
 * Client tools from what an MCP server lists: schemas and names made into what is allowed here, and of a whole server as
 * many as one registry holds. Nothing is dropped in silence. client-tools, Bounds and schemas.
 */
import * as Result from "effect/Result"
import { byteLength } from "../protocol/CompactJson.ts"
import { decodeDescriptor, type EffectiveDescriptor } from "../protocol/Descriptor.ts"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import type { ParamsFault } from "../protocol/Params.ts"
import { registeredName } from "./Registry.ts"

/** A tool as `tools/list` of an MCP server gives it; other members are ignored. */
export interface McpTool {
  readonly name: string
  readonly description?: string
  readonly title?: string
  readonly inputSchema: JsonObject
}

/** A tool that can be registered, and the name by which its server knows it. */
export interface AdaptedTool {
  readonly mcpName: string
  readonly descriptor: EffectiveDescriptor
}

/** A tool that cannot be registered, and why. */
export interface LeftOut {
  /** The name by which its server knows it. */
  readonly mcpName: string
  /** For a person; without values. */
  readonly reason: string
  /** A JSON Pointer into the descriptor, where one place is at fault. */
  readonly path?: string
}

/** What became of a server's list: every tool is in one of the two. */
export interface AdaptedServer {
  /** A valid registry, in the order that the server lists its tools. */
  readonly tools: ReadonlyArray<AdaptedTool>
  readonly leftOut: ReadonlyArray<LeftOut>
}

/** How a server's tools are named and timed. */
export interface AdaptOptions {
  /** Put before every name, with `__`: `files` makes `read` into `client__files__read`. */
  readonly prefix?: string
  /** 1000 to 300000 milliseconds; default 30000. */
  readonly timeoutMs?: number
}

/** `client__` and the name, every character that is not allowed turned into `_`. */
export const mappedName = (name: string, prefix?: string): string =>
  registeredName((prefix === undefined ? name : `${prefix}__${name}`).replaceAll(/[^A-Za-z0-9_]/g, "_"))

/** One tool. `$schema` goes, local references are written out; a schema that contains itself is refused with its place. */
export const adaptTool = (tool: McpTool, options: AdaptOptions = {}): Result.Result<AdaptedTool, LeftOut> => {
  const leftOut = ({ message, path }: ParamsFault) =>
    Result.fail({ mcpName: tool.name, reason: message, ...(path === undefined ? {} : { path }) })
  const inlined = inline(tool.inputSchema)
  if (Result.isFailure(inlined)) return leftOut(inlined.failure)
  const description =
    [tool.description, tool.title].find((text) => text !== undefined && text.trim() !== "") ?? tool.name
  const decoded = decodeDescriptor(
    {
      name: mappedName(tool.name, options.prefix),
      description: description.replaceAll("\r\n", "\n"),
      input_schema: inlined.success,
      ...(options.timeoutMs === undefined ? {} : { timeout_ms: options.timeoutMs })
    },
    ""
  )
  if (Result.isFailure(decoded)) return leftOut(decoded.failure)
  return Result.succeed({ mcpName: tool.name, descriptor: decoded.success })
}

/**
 * A whole server. The rule: in the order listed, every tool that is valid by itself, whose mapped name no other tool of the
 * server has too (of two that collide, neither is taken), while at most 32 tools and 32768 bytes are reached; one that
 * does not fit is passed over, and smaller ones after it are still taken.
 */
export const adaptServer = (listed: ReadonlyArray<McpTool>, options: AdaptOptions = {}): AdaptedServer => {
  const names = new Map<string, number>()
  for (const { name } of listed) {
    const mapped = mappedName(name, options.prefix)
    names.set(mapped, (names.get(mapped) ?? 0) + 1)
  }
  const tools: Array<AdaptedTool> = []
  const leftOut: Array<LeftOut> = []
  // The brackets of the array; every tool brings itself and, after the first, a comma.
  let bytes = 2
  for (const tool of listed) {
    const out = (reason: string) => leftOut.push({ mcpName: tool.name, reason })
    const mapped = mappedName(tool.name, options.prefix)
    if ((names.get(mapped) ?? 0) > 1) {
      out(`more than one of the server's tools would be named ${mapped}`)
      continue
    }
    const adapted = adaptTool(tool, options)
    if (Result.isFailure(adapted)) {
      leftOut.push(adapted.failure)
      continue
    }
    const more = byteLength({ ...adapted.success.descriptor }) + (tools.length === 0 ? 0 : 1)
    if (tools.length >= ClientToolLimits.tools) out(`a registry holds at most ${ClientToolLimits.tools} tools`)
    else if (bytes + more > ClientToolLimits.registry_bytes) {
      out(`with its ${more} bytes the registry would exceed ${ClientToolLimits.registry_bytes}`)
    } else {
      tools.push(adapted.success)
      bytes += more
    }
  }
  return { tools, leftOut }
}

/** Schemas written out at most, far more than 8192 bytes hold: where references multiply, inlining stops here. */
const MOST_SCHEMAS = 4096
const literals = new Set(["enum", "const", "default", "examples", "required", "type"])
const maps = new Set(["properties", "patternProperties"])
const MOST_DEPTH = 64

class NotInlinable extends Error {
  readonly path: string

  constructor(message: string, path: string) {
    super(message)
    this.path = path
  }
}

const inline = (root: JsonObject): Result.Result<JsonObject, ParamsFault> => {
  let count = 0
  const schema = (given: Json, path: string, within: ReadonlyArray<string>, depth: number): Json => {
    if (!isJsonObject(given)) return given
    count += 1
    if (count > MOST_SCHEMAS || depth > MOST_DEPTH) {
      throw new NotInlinable("the schema is too large with its references written out", path)
    }
    const own: Record<string, Json> = Object.create(null)
    for (const [keyword, content] of Object.entries(given)) {
      // Definitions are written out where they are used, and need not be kept.
      if (keyword === "$ref" || keyword === "$schema" || keyword === "$defs" || keyword === "definitions") continue
      own[keyword] = contentOf(keyword, content, JsonPointer.join(path, keyword), within, depth + 1)
    }
    const reference = given["$ref"]
    if (reference === undefined) return { ...own }
    if (typeof reference !== "string" || !reference.startsWith("#")) {
      throw new NotInlinable("a reference that is not local", JsonPointer.join(path, "$ref"))
    }
    if (within.includes(reference)) {
      throw new NotInlinable("a schema that contains itself cannot be written out", JsonPointer.join(path, "$ref"))
    }
    const target = resolve(root, reference)
    if (target === undefined) throw new NotInlinable("an unknown reference", JsonPointer.join(path, "$ref"))
    const inlined = schema(target, path, [...within, reference], depth)
    if (Object.keys(own).length === 0) return inlined
    const joins = isJsonObject(inlined) && Object.keys(own).every((keyword) => !Object.hasOwn(inlined, keyword))
    return joins
      ? { ...inlined, ...own }
      : { ...own, allOf: [inlined, ...(Array.isArray(own["allOf"]) ? own["allOf"] : [])] }
  }
  const contentOf = (
    keyword: string,
    content: Json,
    at: string,
    within: ReadonlyArray<string>,
    depth: number
  ): Json => {
    if (literals.has(keyword)) return content
    if (Array.isArray(content)) return content.map((one, i) => schema(one, JsonPointer.join(at, i), within, depth))
    if (!isJsonObject(content)) return content
    if (!maps.has(keyword)) return schema(content, at, within, depth)
    const entries = Object.entries(content)
    return Object.fromEntries(entries.map(([n, one]) => [n, schema(one, JsonPointer.join(at, n), within, depth)]))
  }
  try {
    const inlined = schema(root, "", ["#"], 0)
    // MCP means an object, also where a server does not say so.
    return Result.succeed(isJsonObject(inlined) ? { type: "object", ...inlined } : { type: "object" })
  } catch (error) {
    if (!(error instanceof NotInlinable)) throw error
    return Result.fail({ message: error.message, path: `/input_schema${error.path}` })
  }
}

/** What a local reference (`#/$defs/x`, a JSON Pointer in a URI fragment) points at. */
const resolve = (root: Json, reference: string): Json | undefined => {
  let at: Json | undefined = root
  let pointer: string
  try {
    pointer = decodeURIComponent(reference.slice(1))
  } catch {
    return undefined
  }
  if (pointer !== "" && !pointer.startsWith("/")) return undefined
  for (const segment of pointer.split("/").slice(1)) {
    const key = segment.replaceAll("~1", "/").replaceAll("~0", "~")
    if (Array.isArray(at)) at = at[Number(key)]
    else if (isJsonObject(at) && Object.hasOwn(at, key)) at = at[key]
    else return undefined
  }
  return at
}
