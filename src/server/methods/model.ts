/** `model.catalog` and `selection.set`. base-protocol section 4. */
import { Context, Effect } from "effect"
import { Models } from "../../agent/model/Models.ts"
import { uuid } from "../../platform/Ids.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { ready } from "./backend.ts"
import { method } from "./decoded.ts"
import { attached, busy } from "./refuse.ts"

export const catalog = (state: ConnectionState) =>
  method("model.catalog", "immediate", (_, respond) =>
    Effect.sync(() => {
      const models = Context.get(ready(state), Models)
      respond.success({ entries: models.catalog.map((entry) => ({ ...entry })), revision: models.revision })
    })
  )

export const select = (state: ConnectionState) =>
  method("selection.set", "session", ({ session_id, selection_revision, provider, model }, respond) =>
    Effect.gen(function* () {
      const session = attached(state, session_id, respond)
      if (session === undefined || busy(state, respond)) return
      if (state.selection?.revision !== selection_revision) {
        return respond.failure("stale_selection", "the selection was changed meanwhile", "/selection_revision")
      }
      const models = Context.get(ready(state), Models)
      if (!models.catalog.some((entry) => entry.provider === provider && entry.model === model)) {
        return respond.failure("selection_invalid", "the catalogue has no such model", "/model")
      }
      yield* session.handle.setSelection({ provider, model })
      const selection = { provider, model, revision: yield* uuid }
      state.selection = selection
      respond.success({ selection, durable: true })
    }).pipe(
      Effect.catchTag("PersistenceFailed", (error) =>
        Effect.sync(() => respond.failure("persistence_failed", error.message))
      )
    )
  )
