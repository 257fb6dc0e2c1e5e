/** A workspace and a home in a temporary folder, and the built-in tools on them with real child processes. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Context, Effect, Layer } from "effect"
import { Children } from "../../../src/platform/Children.ts"
import type { JsonObject } from "../../../src/protocol/Json.ts"
import type { EffectiveSettings } from "../../../src/settings/Settings.ts"
import { builtinTools } from "../../../src/tools/builtin/BuiltinTools.ts"
import type { AgentTool, ApprovalNeed, ToolContext, ToolFailure, ToolOutput } from "../../../src/tools/Tool.ts"
import { settings } from "../../support/settings.ts"

export const settingsOf = (
  workspace: string,
  home: string,
  more: Partial<EffectiveSettings> = {}
): EffectiveSettings => ({
  ...settings,
  home,
  workspace,
  approvals: { bash: "allow", write: "allow" },
  ...more
})

export const contextOf = (mode: ToolContext["mode"] = "standard"): ToolContext => ({
  sessionId: "session",
  runId: "run",
  taskId: null,
  subagentId: null,
  callKey: "call",
  activityId: "activity",
  surface: "direct",
  mode,
  progress: () => Effect.void,
  started: Effect.void,
  published: () => {},
  observed: () => {}
})

/** What became of a call. */
export interface Outcome {
  readonly approval: ApprovalNeed | null
  readonly output?: ToolOutput
  readonly failure?: ToolFailure
}

interface CallOptions {
  readonly mode?: ToolContext["mode"]
  /** Done between the approval and the execution. */
  readonly meanwhile?: () => void
}

export interface Bench {
  readonly root: string
  readonly workspace: string
  readonly home: string
  readonly tools: ReadonlyArray<AgentTool>
  /** Writes a file of the workspace. */
  readonly write: (path: string, content: string | Uint8Array) => string
  readonly call: (name: string, args: JsonObject, options?: CallOptions) => Effect.Effect<Outcome>
}

/** Makes the call as the pipeline does: prepared, approved, executed in one scope. */
export const callTool = (tool: AgentTool, args: JsonObject, options: CallOptions = {}): Effect.Effect<Outcome> =>
  Effect.scoped(
    Effect.gen(function* () {
      let approval: ApprovalNeed | null = null
      const result = yield* Effect.result(
        Effect.gen(function* () {
          const prepared = yield* tool.prepare(args, contextOf(options.mode))
          approval = prepared.approval
          options.meanwhile?.()
          return yield* prepared.execute
        })
      )
      return result._tag === "Success" ? { approval, output: result.success } : { approval, failure: result.failure }
    })
  )

export const makeBench = (more: Partial<EffectiveSettings> = {}) =>
  Effect.gen(function* () {
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "mc-tools-")))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const workspace = join(root, "work")
    const home = join(root, "home")
    mkdirSync(workspace)
    mkdirSync(home)
    const layer = Children.layer({ mark: `tools-${root.replaceAll("/", ".")}`, home, secretEnv: new Set(["THE_KEY"]) })
    const children = Context.get(yield* Layer.build(layer), Children)
    const tools = builtinTools({ settings: settingsOf(workspace, home, more), children })
    const bench: Bench = {
      root,
      workspace,
      home,
      tools,
      write: (path, content) => {
        const file = join(workspace, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, content)
        return file
      },
      call: (name, args, options) => {
        const tool = tools.find((one) => one.name === name)
        return tool === undefined ? Effect.die(new Error(`no tool ${name}`)) : callTool(tool, args, options)
      }
    }
    return bench
  })
