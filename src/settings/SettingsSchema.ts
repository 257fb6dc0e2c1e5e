/**
 * The form of a settings file. The decoder and the JSON Schema that the package ships are both made of this one value, so
 * they cannot drift apart.
 *
 * product section 2, Settings. Every key is optional in a file: the two files complete each other, and what is missing
 * has a default (Merge.ts). What a key needs beyond its form is checked on the merged settings (Check.ts).
 */
import { Schema } from "effect"
import { textBytes } from "../protocol/CompactJson.ts"
import { MODEL_NAME_BYTES } from "../protocol/Limits.ts"

/** The largest `turn_steps`. */
export const MAX_TURN_STEPS = 10_000
/** The longest time limit of a hook, in milliseconds. */
export const MAX_HOOK_MS = 600_000

// Patterns have the flag `u`: without it the JSON Schema would not show them.

/** Text that goes to the operating system: not empty, and without NUL, which would end it early. */
const Word = Schema.String.check(Schema.isPattern(/^[^\0]+$/u)).annotate({
  expected: "text that is not empty"
})

/** A provider's or model's name. The bound counts compact serialized bytes (base-protocol section 4). */
const Name = Schema.String.check(
  Schema.isPattern(/^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u),
  Schema.makeFilter((name) => textBytes(name) <= MODEL_NAME_BYTES, {
    expected: `a name of at most ${MODEL_NAME_BYTES} bytes`
  })
)

const Variable = Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/u)).annotate({
  expected: "the name of an environment variable"
})

const Patterns = Schema.Array(Word)

const Millis = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_HOOK_MS }))

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000_000 }))

const field = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

const Model = Schema.Struct({
  id: Name,
  context_tokens: field(Count, "Tokens of its context (default 128000)"),
  max_output_tokens: field(Count, "Most tokens of one response (default 8192)"),
  temperature: field(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 2 })), "Sampling temperature"),
  reasoning_effort: field(Word, "Passed to the provider as it is")
})

const Provider = Schema.Struct({
  kind: field(
    Schema.Literals(["openai", "anthropic", "offline"]),
    "openai: Chat Completions (OpenAI, llama.cpp, Ollama, vLLM and others); anthropic: Messages API; offline: the embedded model"
  ),
  base_url: field(Word, "Address of the API (openai, anthropic)"),
  api_key_env: field(Variable, "Name of the environment variable that holds the key; the key itself never stands here"),
  insecure: field(Schema.Boolean, "Allows a key to travel over http to another host than this one"),
  models: field(Schema.Array(Schema.Union([Name, Model])), "What it offers: ids, or objects with limits"),
  script: field(Word, "Steps of the offline model, relative to this file")
})

const Approval = Schema.Literals(["ask", "allow", "deny"])

const Hook = Schema.Struct({
  command: Schema.NonEmptyArray(Word).annotate({
    description: "The command and its arguments; a relative command is relative to this file"
  }),
  tools: field(Patterns, "Patterns over tool names, * for any run of characters (default: every tool)"),
  timeout_ms: field(Millis, "Milliseconds (default 5000)"),
  on_failure: field(Schema.Literals(["warn", "block"]), "Whether a call goes on when the hook fails (default warn)")
})

const McpServer = Schema.Struct({
  command: field(Word, "The command; a relative path is relative to this file"),
  args: field(Schema.Array(Schema.String.check(Schema.isPattern(/^[^\0]*$/u))), "Its arguments"),
  env: field(
    Schema.Record(Word, Schema.String.check(Schema.isPattern(/^[^\0]*$/u))),
    "Added to its environment, from which the variables of all api_key_env are taken away"
  ),
  required: field(Schema.Boolean, "Whether initialize fails when it cannot be started (default true)")
})

const Agent = Schema.Struct({
  instructions: field(Schema.String, "What a subagent with this profile is told"),
  tools: field(Patterns, "Patterns over the tools it keeps of its parent's (default: all)")
})

export const SettingsFileSchema = Schema.Struct({
  $schema: field(Schema.String, "Where editors find this schema"),
  schema_version: field(Schema.Literal(2), "The version of this format"),
  model: field(
    Schema.Struct({ provider: Schema.optionalKey(Name), model: Schema.optionalKey(Name) }),
    "The model at start (default offline/offline)"
  ),
  providers: field(Schema.Record(Name, Provider), "Where models are asked, by name"),
  capabilities: field(
    Schema.Struct({
      tools: Schema.optionalKey(
        Schema.Struct({
          disabled: field(Patterns, "Tools excluded from direct calls"),
          code_mode: Schema.optionalKey(
            Schema.Struct({
              enabled: field(Schema.Boolean, "Whether there is Code Mode (default true)"),
              compact_direct_tools: field(Schema.Boolean, "Whether the direct catalogue is compact (default false)"),
              disabled: field(Patterns, "Tools excluded from Code Mode")
            })
          )
        })
      )
    }),
    "What tools there are"
  ),
  approvals: field(
    Schema.Struct({
      bash: field(Approval, "Shell commands (default ask)"),
      write: field(Approval, "Writes inside the workspace (default allow)")
    }),
    "What asks before it runs"
  ),
  hooks: field(
    Schema.Struct({
      before_tool: field(Schema.Array(Hook), "May allow, deny, or replace the arguments"),
      after_tool: field(Schema.Array(Hook), "Observe")
    }),
    "Commands around every tool call"
  ),
  mcp: field(
    Schema.Struct({
      servers: field(
        Schema.Record(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,24}$/u)), McpServer),
        "By name"
      )
    }),
    "MCP servers, started over stdio"
  ),
  agents: field(Schema.Record(Name, Agent), "Profiles for subagents, by name"),
  limits: field(
    Schema.Struct({
      turn_steps: field(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_TURN_STEPS })),
        "Model responses in one run (default 50)"
      )
    }),
    "Bounds"
  )
}).annotate({
  title: "Settings of magi-code",
  description: "$MC_HOME/settings.json, or .magi-code/settings.json of a workspace"
})

/** One settings file, decoded. */
export type SettingsFile = typeof SettingsFileSchema.Type

/** The JSON Schema that the package ships at `schema/settings.schema.json` (draft 2020-12). */
export const settingsJsonSchema = (): object => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...Schema.toJsonSchemaDocument(SettingsFileSchema, { onExcessProperty: "error" }).schema
})
