/**
 * The direct catalogue: which of its permitted tools a model is told of, and how `effect/ai` carries them.
 * base-protocol section 7 (full and compact).
 */
import { Effect } from "effect"
import { Tool, type Toolkit } from "effect/ai"
import type { AgentTool } from "../tools/Tool.ts"
import type { SessionAgent } from "./Permissions.ts"

/**
 * The tools an agent calls directly. Compact hides what Code Mode reaches anyway, so it does not apply to `inspect`
 * agents, which have no Code Mode. What is not listed is not callable either.
 */
export const directCatalog = (
  agent: Pick<SessionAgent, "mode" | "tools">,
  compact: boolean
): ReadonlyArray<AgentTool> =>
  compact && agent.mode === "standard"
    ? agent.tools.direct.filter((tool) => tool.origin === "client" || (tool.origin === "builtin" && tool.compact))
    : agent.tools.direct

const toAiTool = (tool: AgentTool) =>
  Tool.dynamic(tool.name, { description: tool.description, parameters: { ...tool.inputSchema } }).annotate(
    Tool.Strict,
    false
  )

/** A catalogue for `streamText`. */
export type CatalogToolkit = Toolkit.WithHandler<Record<string, ReturnType<typeof toAiTool>>>

/**
 * The catalogue as a toolkit. Schemas reach the provider unchanged. Nothing is ever resolved by `effect/ai`: the runner
 * executes calls itself, so the handler is a defect.
 */
export const toolkitOf = (tools: ReadonlyArray<AgentTool>): CatalogToolkit => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, toAiTool(tool)])),
  handle: () => Effect.die("tool calls go through the tool pipeline")
})
