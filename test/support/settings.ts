/** Effective settings as they are without any file. */
import type { EffectiveSettings } from "../../src/settings/Settings.ts"

export const settings: EffectiveSettings = {
  home: "/nowhere",
  workspace: "/workspace",
  model: { provider: "offline", model: "offline" },
  providers: new Map(),
  capabilities: { disabled: [], code_mode: { enabled: true, compact_direct_tools: false, disabled: [] } },
  approvals: { bash: "ask", write: "allow" },
  hooks: { before_tool: [], after_tool: [] },
  mcp: [],
  agents: new Map(),
  limits: { turn_steps: 50 },
  secretEnv: new Set(),
  secretValues: [],
  guardedPaths: []
}
