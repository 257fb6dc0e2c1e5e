/** Which tools of a server the agent offers, and under which names. product section 2 (MCP), base-protocol section 7. */
import { byteLength, depth } from "../../protocol/CompactJson.ts"
import type { JsonObject } from "../../protocol/Json.ts"

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

export interface NamedTool extends ListedTool {
  /** `mcp__server__tool`. */
  readonly fullName: string
}

/** What every provider takes as the name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/
/** What one server may put into every request to the model. */
const TOOLS = 128
const SCHEMA_BYTES = 32 * 1024
const SCHEMA_DEPTH = 64

/** `skipped` says for a person which tools are left out and why; a name is shown without what could not be read. */
export const namedTools = (
  server: string,
  listed: ReadonlyArray<ListedTool>
): { readonly tools: ReadonlyArray<NamedTool>; readonly skipped: ReadonlyArray<string> } => {
  const tools = new Map<string, NamedTool>()
  const skipped: Array<string> = []
  for (const tool of listed) {
    const fullName = `mcp__${server}__${tool.name}`
    const why = !NAME.test(fullName)
      ? "a name that models do not take (64 letters, digits, _ and - at most)"
      : tools.has(fullName)
        ? "a name that it lists twice"
        : byteLength(tool.inputSchema) > SCHEMA_BYTES || depth(tool.inputSchema) > SCHEMA_DEPTH
          ? `a schema of more than ${SCHEMA_BYTES} bytes or ${SCHEMA_DEPTH} levels`
          : tools.size >= TOOLS
            ? `more tools than the ${TOOLS} that are taken`
            : undefined
    if (why === undefined) tools.set(fullName, { ...tool, fullName })
    else skipped.push(`MCP server "${server}": a tool is left out, ${why}: ${JSON.stringify(tool.name.slice(0, 80))}`)
  }
  return { tools: [...tools.values()], skipped }
}
