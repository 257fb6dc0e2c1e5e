/**
 * What the content of an MCP result says as one text, wherever it is shown: text blocks joined by LF, every other block named
 * in its place. Pure. base-protocol section 7; product section 2 (MCP) and 4.
 */
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"

/** What names a block that is not shown. */
const nameOf = (block: JsonObject): string => {
  const resource = block["resource"]
  const name = block["uri"] ?? (isJsonObject(resource) ? resource["uri"] : undefined) ?? block["mimeType"]
  return typeof name === "string" ? `: ${name.slice(0, 200)}` : ""
}

const textOf = (block: Json): string => {
  if (!isJsonObject(block)) return "[block not shown]"
  if (block["type"] === "text" && typeof block["text"] === "string") return block["text"]
  const type = typeof block["type"] === "string" ? `${block["type"].slice(0, 40)} ` : ""
  return `[${type}block not shown${nameOf(block)}]`
}

/** The text of the blocks. */
export const textOfContent = (content: ReadonlyArray<Json>): string => content.map(textOf).join("\n")
