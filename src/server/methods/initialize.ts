/**
 * `initialize`: preflight, admission, start-up, answer. A rejected preflight leaves the state `new` and touches nothing.
 * client-tools (Negotiate once); base-protocol section 3.
 */
import { Cause, Context, Effect, Exit, Layer, Option, type Scope } from "effect"
import { Models } from "../../agent/model/Models.ts"
import { uuid } from "../../platform/Ids.ts"
import { initializeResult, preflight } from "../../protocol/Initialize.ts"
import type { EventWriter } from "../../transport/FrameWriter.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import type { Startup } from "../Startup.ts"
import type { Method } from "./Method.ts"

export const initialize = (options: {
  readonly state: ConnectionState
  readonly startup: Startup
  /** Everything start-up makes lives here; closing closes it. */
  readonly backendScope: Scope.Scope
  /** The start-up fiber lives here, so that closing can interrupt it. */
  readonly fibers: Scope.Scope
  readonly context: Context.Context<EventWriter>
  readonly capabilities: ReadonlyArray<string>
  readonly server: { readonly name: string; readonly version: string }
}): Method => {
  const { state } = options
  return {
    name: "initialize",
    lane: "immediate",
    run: (params, respond) =>
      Effect.suspend(() => {
        const admitted = preflight(params, options.capabilities)
        if (admitted._tag === "Failure") {
          respond.failure(admitted.failure.code, admitted.failure.message, admitted.failure.path)
          return Effect.void
        }
        const admission = admitted.success
        state.lifecycle.admit()
        state.admission = admission
        state.starting = respond
        const { instanceId, workspace } = state
        const build = Effect.gen(function* () {
          const layer = options.startup({ admission, instanceId, workspace })
          const backend = yield* Layer.buildWithScope(layer, options.backendScope)
          const { initial } = Context.get(backend, Models)
          const selection = { ...initial, revision: yield* uuid }
          if (!state.lifecycle.started("ready")) return
          state.backend = backend
          state.selection = selection
          respond.success(
            initializeResult({
              instanceId,
              workspace,
              admission,
              capabilities: options.capabilities,
              server: options.server,
              selection
            })
          )
        }).pipe(
          Effect.provideContext(options.context),
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return Effect.void
            const error = Option.getOrUndefined(Exit.findErrorOption(exit))
            if (!state.lifecycle.started("failed")) return Effect.void
            if (error) {
              respond.failure(error.code, error.message, error.path)
              return Effect.logWarning(`start-up failed: ${error.code}: ${error.message}`)
            }
            respond.failure("internal_error", "start-up failed inside the agent; see its log")
            return Effect.logError("start-up failed", exit.cause)
          }),
          Effect.ignoreCause
        )
        return Effect.asVoid(Effect.forkIn(build, options.fibers, { startImmediately: true }))
      })
  }
}
