/**
 * One response of the model, to a request that fits into its context: what must be left out for that is a recorded step
 * before the request. product section 2 (context sizes, compaction); `model/ContextPlan.ts` decides what goes.
 */
import { Effect } from "effect"
import type { AgentScope } from "./AgentScope.ts"
import type { CatalogToolkit } from "./Catalog.ts"
import * as ModelRequest from "./ModelRequest.ts"
import { plan } from "./model/ContextPlan.ts"
import type { ModelFailure, ModelHandle } from "./model/Models.ts"
import * as Transcript from "./Transcript.ts"

/** Ends by interruption where the compaction could not be recorded: the run is being stopped. */
export const ask = (options: {
  readonly agent: AgentScope
  readonly model: ModelHandle
  readonly system: string
  readonly toolkit: CatalogToolkit
  readonly onText: (text: string) => Effect.Effect<void>
}): Effect.Effect<ModelRequest.ModelResponse, ModelFailure> =>
  Effect.gen(function* () {
    const { agent, model, onText, system, toolkit } = options
    const { journal, listed } = agent

    const makeRoom = (overrun: boolean) =>
      Effect.gen(function* () {
        const planned = plan(journal.records, model, { system, tools: listed, overrun })
        if (planned._tag === "Keep") return
        if (planned._tag === "ContextLimit") return yield* planned.failure
        const record = { ...(yield* journal.stamp), kind: "compaction" as const, ...planned.compaction }
        if (!(yield* journal.require([record]))) return yield* Effect.interrupt
      })
    const request = Effect.suspend(() =>
      ModelRequest.ask({ model, prompt: Transcript.prompt(system, journal.records), toolkit, onText })
    )

    yield* makeRoom(false)
    return yield* Effect.catchIf(
      request,
      (failure) => failure.code === "context_limit",
      // The provider counted more than was estimated. It refuses before any output, so asking once more repeats nothing.
      () => Effect.andThen(makeRoom(true), request)
    )
  })
