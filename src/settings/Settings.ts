/**
 * The effective settings: home file, workspace file over it, trust applied, defaults filled in (product section 2).
 * How they are read, merged and checked is in this folder's other files.
 */
import { Context, type Redacted } from "effect"

/** A model of a provider, its bounds in tokens. What is absent is not sent. */
export interface ModelSettings {
  readonly id: string
  readonly context_tokens: number
  readonly max_output_tokens: number
  readonly temperature?: number
  readonly reasoning_effort?: string
}

/** A provider of models. docs/models.md. */
export interface ProviderSettings {
  readonly kind: "openai" | "anthropic" | "offline"
  readonly base_url: string | null
  readonly api_key_env: string | null
  /** The value of `api_key_env` in the environment; `null` when there is none. */
  readonly api_key: Redacted.Redacted<string> | null
  readonly insecure: boolean
  readonly models: ReadonlyArray<ModelSettings>
  /** Offline provider: the absolute path of its script. */
  readonly script: string | null
}

/** Whether the agent's own tools of a kind are asked about, allowed or denied. */
export type Approval = "ask" | "allow" | "deny"

/** A command that is run before or after tools. docs/tools.md; times in milliseconds. */
export interface HookSettings {
  /** The first word resolved against its settings file where it is relative and names a file. */
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  /** Glob patterns over tool names; empty means every tool. */
  readonly tools: ReadonlyArray<string>
  readonly timeout_ms: number
  readonly on_failure: "warn" | "block"
}

/** An MCP server that the agent starts; with `required`, its failure ends the start-up. */
export interface McpServerSettings {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: { readonly [name: string]: string }
  readonly cwd: string
  readonly required: boolean
}

/** A profile that `subagents` may name. docs/subagents.md. */
export interface AgentProfile {
  readonly instructions: string
  /** Patterns over tool names; `null`: no restriction. */
  readonly tools: ReadonlyArray<string> | null
}

/** All settings with their defaults filled in. schema/settings.schema.json describes the files. */
export interface EffectiveSettings {
  /** `$MC_HOME`, absolute. */
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  readonly model: { readonly provider: string; readonly model: string }
  readonly providers: ReadonlyMap<string, ProviderSettings>
  readonly capabilities: {
    /** Patterns of tools excluded from direct calls. */
    readonly disabled: ReadonlyArray<string>
    readonly code_mode: {
      readonly enabled: boolean
      readonly compact_direct_tools: boolean
      /** Patterns of tools excluded from Code Mode. */
      readonly disabled: ReadonlyArray<string>
    }
  }
  readonly approvals: { readonly bash: Approval; readonly write: Approval }
  readonly hooks: {
    readonly before_tool: ReadonlyArray<HookSettings>
    readonly after_tool: ReadonlyArray<HookSettings>
  }
  readonly mcp: ReadonlyArray<McpServerSettings>
  readonly agents: ReadonlyMap<string, AgentProfile>
  readonly limits: { readonly turn_steps: number }
  /** Names of all environment variables that any `api_key_env` names: child processes never get them. */
  readonly secretEnv: ReadonlySet<string>
  /** The live key values, for literal redaction. */
  readonly secretValues: ReadonlyArray<Redacted.Redacted<string>>
  /** Absolute real paths of executables and workspace files that hooks or MCP servers name: writing to them always asks. */
  readonly guardedPaths: ReadonlyArray<string>
}

/** The effective settings of a backend. */
export class Settings extends Context.Service<Settings, EffectiveSettings>()("magi-code/settings/Settings") {}
