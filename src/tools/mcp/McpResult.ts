/** A result of an MCP tool within what goes to the model: 32 KiB. product section 2 (MCP). */
import { byteLength, stringify } from "../../protocol/CompactJson.ts"
import type { Json } from "../../protocol/Json.ts"
import { headOf, OUTPUT_BYTES } from "../builtin/BoundedText.ts"
import type { ToolOutput } from "../Tool.ts"

const RESULT_BYTES = 32 * 1024
const NOTE_BYTES = 160

/**
 * The result as it is where it fits. Otherwise as much of its text as fits, with a note of what is left out: of a value
 * that is too large nothing can be cut without making another of it, so it is left out whole, and where there is no
 * text, the beginning of its JSON is shown as text.
 */
export const boundedResult = (text: string, structured: Json | undefined): ToolOutput => {
  const textSize = Buffer.byteLength(text)
  const valueSize = structured === undefined ? 0 : byteLength(structured)
  if (textSize + valueSize <= RESULT_BYTES) return { text, ...(structured === undefined ? {} : { structured }) }
  const keepsValue = structured !== undefined && valueSize <= OUTPUT_BYTES / 2
  const shown = text === "" && structured !== undefined ? stringify(structured) : text
  const left = OUTPUT_BYTES - NOTE_BYTES - (keepsValue ? valueSize : 0)
  const notes = [
    ...(Buffer.byteLength(shown) > left ? [`only the beginning of ${Buffer.byteLength(shown)} bytes is shown`] : []),
    ...(structured !== undefined && !keepsValue ? [`a structured value of ${valueSize} bytes is left out`] : [])
  ]
  return { text: `${headOf(shown, left)}\n[${notes.join("; ")}]`, ...(keepsValue ? { structured } : {}) }
}
