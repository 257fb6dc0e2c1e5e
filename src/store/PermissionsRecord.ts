/**
 * The saved permissions of a delegated session as text, and what is made of a text that is not what was saved.
 * base-protocol section 7: a missing member or no record gives no client tool, a damaged record what `inspect` gets.
 */
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import type { DelegatedPermissions, PermittedTool } from "./DelegatedPermissions.ts"

/** The stored text of a permissions record. */
export const encodePermissions = (permissions: DelegatedPermissions): string => JSON.stringify(permissions)

/** A tool saved without a fingerprint is one that no client tool can match. `undefined`: damaged. */
const permittedTool = (value: Json): PermittedTool | undefined => {
  if (!isJsonObject(value)) return undefined
  const name = value["name"]
  const fingerprint = value["fingerprint"] ?? null
  if (typeof name !== "string" || (fingerprint !== null && typeof fingerprint !== "string")) return undefined
  return { name, fingerprint }
}

const permittedTools = (value: Json | undefined): ReadonlyArray<PermittedTool> | undefined => {
  if (!Array.isArray(value)) return undefined
  const tools: Array<PermittedTool> = []
  for (const item of value) {
    const tool = permittedTool(item)
    if (tool === undefined) return undefined
    tools.push(tool)
  }
  return tools
}

const decode = (record: JsonObject): DelegatedPermissions | "damaged" | "absent" => {
  const { version, mode, depth } = record
  const profile = record["profile"] ?? null
  if (version !== 1 || (mode !== "standard" && mode !== "inspect")) return "damaged"
  if (profile !== null && typeof profile !== "string") return "damaged"
  if (typeof depth !== "number" || !Number.isInteger(depth) || depth < 0) return "damaged"
  // A list that was never saved grants no client tool. An `inspect` session must not gain by its absence.
  if (!("direct" in record && "code_mode" in record)) return mode === "inspect" ? "damaged" : "absent"
  const direct = permittedTools(record["direct"])
  const code_mode = permittedTools(record["code_mode"])
  return direct === undefined || code_mode === undefined
    ? "damaged"
    : { version, mode, profile, depth, direct, code_mode }
}

/** Reads a stored text; `null` is a delegated session that never saved one. */
export const decodePermissions = (text: string | null): DelegatedPermissions | "damaged" | "absent" => {
  if (text === null) return "absent"
  try {
    const value: Json = JSON.parse(text)
    return isJsonObject(value) ? decode(value) : "damaged"
  } catch {
    return "damaged"
  }
}
