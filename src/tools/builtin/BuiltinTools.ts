/** The built-in tools but `subagents` and `code_mode`, which need the agent itself. product section 2. */
import type { ChildrenShape } from "../../platform/Children.ts"
import type { EffectiveSettings } from "../../settings/Settings.ts"
import type { AgentTool } from "../Tool.ts"
import { bash } from "./Bash.ts"
import { edit } from "./Edit.ts"
import { find } from "./Find.ts"
import { grep } from "./Grep.ts"
import { listFiles } from "./ListFiles.ts"
import { read } from "./Read.ts"
import * as Workbench from "./Workbench.ts"
import { write } from "./Write.ts"

/** In catalogue order. One set per backend: the tools of one set share the locks of the files they write. */
export const builtinTools = (options: {
  readonly settings: EffectiveSettings
  readonly children: ChildrenShape
}): ReadonlyArray<AgentTool> => {
  const bench = Workbench.make(options.settings, options.children)
  return [read, listFiles, find, grep, write, edit, bash].map((tool) => tool(bench))
}
