/**
 * What MCP servers really send, in the form that the client of effect/ai takes.
 *
 * That client speaks one revision and is strict: one tool with an odd description would cost a whole server, and a
 * server of an older revision could not be used at all, though its tools are called in the same way. Values of the
 * content stay as they are. product section 2 (MCP), base-protocol section 7.
 */
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { textOfContent } from "../../protocol/McpContent.ts"

/** The revision this client asks for. */
export const PROTOCOL_VERSION = "2025-11-25"

/** Revisions whose initialize, tools/list and tools/call are the same for us. */
const knownVersions = new Set(["2024-11-05", "2025-03-26", "2025-06-18", PROTOCOL_VERSION])

/** A server of a known older revision is taken as one of ours. */
export const adaptInitialize = (result: JsonObject): JsonObject =>
  typeof result["protocolVersion"] === "string" && knownVersions.has(result["protocolVersion"])
    ? { ...result, protocolVersion: PROTOCOL_VERSION }
    : result

const adaptTool = (tool: Json): JsonObject | undefined => {
  if (!isJsonObject(tool) || typeof tool["name"] !== "string") return undefined
  const schema = tool["inputSchema"]
  if (!isJsonObject(schema)) return undefined
  const type = schema["type"] ?? "object"
  if (type !== "object") return undefined
  const execution = tool["execution"]
  return {
    name: tool["name"],
    ...(typeof tool["description"] === "string" ? { description: tool["description"] } : {}),
    ...(isJsonObject(execution) ? { execution } : {}),
    inputSchema: { ...schema, type }
  }
}

/** One page of tools; `dropped` counts those that are no tools, and the rest of what servers say of a tool is left out. */
export const adaptToolList = (result: JsonObject): { readonly result: JsonObject; readonly dropped: number } => {
  const listed = result["tools"]
  if (!Array.isArray(listed)) return { result, dropped: 0 }
  const tools = listed.map(adaptTool).filter((tool) => tool !== undefined)
  return { result: { ...result, tools }, dropped: listed.length - tools.length }
}

/**
 * The result of a call as one text and a value: text blocks joined by LF, other blocks named in their places. The value
 * travels in an object of its own, because any JSON may be one. What is no result at all is left for the client to refuse.
 */
export const adaptCallResult = (result: JsonObject): JsonObject => {
  const content = result["content"] ?? (Object.hasOwn(result, "structuredContent") ? [] : undefined)
  if (!Array.isArray(content)) return result
  return {
    content: [{ type: "text", text: textOfContent(content) }],
    ...(Object.hasOwn(result, "structuredContent")
      ? { structuredContent: { value: result["structuredContent"] ?? null } }
      : {}),
    ...(result["isError"] === true ? { isError: true } : {})
  }
}
