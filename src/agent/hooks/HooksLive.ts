/**
 * Hooks as the settings name them, run as child processes.
 *
 * base-protocol section 6, Hooks; product section 2 (what a hook reads and prints).
 */
import { Effect, Layer, Result } from "effect"
import { ProtectedResults, type ProtectedResultsShape } from "../../broker/ProtectedResult.ts"
import { Children } from "../../platform/Children.ts"
import { truncateText } from "../../protocol/CompactJson.ts"
import type { Json, JsonObject } from "../../protocol/Json.ts"
import { type HookSettings, Settings } from "../../settings/Settings.ts"
import { type AgentIdentity, ToolFailure } from "../../tools/Tool.ts"
import { matchesAny } from "../Pattern.ts"
import { type Decision, decodeOutput } from "./HookOutput.ts"
import { Hooks } from "./Hooks.ts"
import { HookFault, runHook } from "./runHook.ts"

/** Compact bytes of a hook's reason that the model is given. */
const REASON_BYTES = 1024

export const HooksLive: Layer.Layer<Hooks, never, Settings | Children | ProtectedResults> = Layer.effect(
  Hooks,
  Effect.gen(function* () {
    const { hooks } = yield* Settings
    const children = yield* Children
    const protectedResults = yield* ProtectedResults
    const run = (hook: HookSettings, input: JsonObject): Effect.Effect<Uint8Array, HookFault> =>
      Effect.provideService(runHook(hook, input), Children, children)

    const decide = (hook: HookSettings, input: JsonObject): Effect.Effect<Decision, HookFault> =>
      Effect.flatMap(run(hook, input), (output) => {
        const decoded = decodeOutput(output)
        return Result.isSuccess(decoded) ? Effect.succeed(decoded.success) : new HookFault({ reason: decoded.failure })
      })

    const denied = (reason: string): Effect.Effect<never, ToolFailure> =>
      Effect.flatMap(
        protectedResults.maskText(truncateText(reason, REASON_BYTES)),
        (text) =>
          new ToolFailure({
            code: "hook_denied",
            message: text === "" ? "denied by a hook" : `denied by a hook: ${text}`
          })
      )

    return Hooks.of({
      before: (call) =>
        Effect.gen(function* () {
          let current = call.arguments
          for (const [index, hook] of named(hooks.before_tool, call.tool)) {
            const decision = yield* decide(hook, { hook: "before_tool", ...input(call, current) }).pipe(
              Effect.catch((fault) => failed(hook, `before_tool/${index}`, fault))
            )
            if (decision._tag === "Deny") return yield* denied(decision.reason)
            current = decision.arguments ?? current
          }
          return current
        }),
      after: (call) =>
        Effect.gen(function* () {
          const matching = named(hooks.after_tool, call.tool)
          if (matching.length === 0) return
          const copy = {
            hook: "after_tool",
            ...input(call, yield* redacted(protectedResults, call.arguments)),
            status: call.status,
            result: yield* redacted(protectedResults, call.result)
          }
          for (const [index, hook] of matching) {
            // Nothing that an observer does, or fails to do, changes the result.
            yield* Effect.catch(run(hook, copy), (fault) => warn(`after_tool/${index}`, fault))
          }
        })
    })
  })
)

/** The hooks whose patterns name the tool, with their places in the settings; no patterns name every tool. */
const named = (hooks: ReadonlyArray<HookSettings>, tool: string): ReadonlyArray<readonly [number, HookSettings]> =>
  [...hooks.entries()].filter(([, { tools }]) => tools.length === 0 || matchesAny(tools, tool))

/** What every hook reads, in the order of the specification. */
const input = (call: AgentIdentity & { readonly tool: string }, args: Json): JsonObject => ({
  session_id: call.sessionId,
  run_id: call.runId,
  tool: call.tool,
  arguments: args,
  task_id: call.taskId,
  subagent_id: call.subagentId
})

/** `block` ends the call, `warn` goes on with the arguments as they were. */
const failed = (hook: HookSettings, place: string, fault: HookFault): Effect.Effect<Decision, ToolFailure> =>
  hook.on_failure === "block"
    ? new ToolFailure({ code: "hook_failed", message: `a hook failed: ${fault.reason}` })
    : Effect.as(warn(place, fault), { _tag: "Allow" })

/** By its place in the settings: commands may hold what no log may. */
const warn = (place: string, { reason }: HookFault): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("a hook failed"), { hook: place, reason })

/** A redacted copy; what cannot be scanned in its time is left out whole. */
const redacted = (service: ProtectedResultsShape, value: Json): Effect.Effect<Json> =>
  service.protect({ text: "", structured: value }, Number.MAX_SAFE_INTEGER).pipe(
    Effect.map(({ structured }) => structured ?? null),
    Effect.orElseSucceed((): Json => "[redacted]")
  )
