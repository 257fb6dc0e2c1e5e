/** `session.create`, `session.open`, `session.list`, `history.page`. base-protocol section 4. */
import { Context, Effect, Exit, Scope } from "effect"
import { Models } from "../../agent/model/Models.ts"
import { uuid } from "../../platform/Ids.ts"
import type { JsonObject } from "../../protocol/Json.ts"
import { type SessionHandle, SessionStore } from "../../store/SessionStore.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { type Backend, ready } from "./backend.ts"
import { method } from "./decoded.ts"
import { attached, busy } from "./refuse.ts"

/** Replaces the attached session and releases the lock of the one before; only ever called when the new one is whole. */
const attach = (state: ConnectionState, handle: SessionHandle, scope: Scope.Closeable) =>
  Effect.suspend(() => {
    const before = state.session
    state.session = { handle, scope }
    return before ? Scope.close(before.scope, Exit.void) : Effect.void
  })

/** Makes a session in a scope of its own; a failed attempt leaves nothing behind. */
const inOwnScope = <E>(make: Effect.Effect<SessionHandle, E, Scope.Scope>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const handle = yield* restore(Scope.provide(make, scope)).pipe(
        Effect.onError(() => Scope.close(scope, Exit.void))
      )
      return { handle, scope }
    })
  )

export const create = (state: ConnectionState) =>
  method("session.create", "session", (_, respond) =>
    Effect.gen(function* () {
      if (busy(state, respond)) return
      const store = Context.get(ready(state), SessionStore)
      const sessionId = yield* uuid
      const { handle, scope } = yield* inOwnScope(store.create({ sessionId, workspace: state.workspace }))
      yield* attach(state, handle, scope)
      respond.success({ session_id: sessionId, durable: false, history_revision: yield* handle.revision })
    })
  )

/** A reopened session goes on with the model it was left with, where the catalogue still has it. */
const restoreSelection = (state: ConnectionState, backend: Backend, handle: SessionHandle) =>
  Effect.gen(function* () {
    const saved = yield* handle.selection
    const current = state.selection
    if (saved === null || (current?.provider === saved.provider && current.model === saved.model)) return
    const { catalog } = Context.get(backend, Models)
    if (!catalog.some((entry) => entry.provider === saved.provider && entry.model === saved.model)) return
    state.selection = { provider: saved.provider, model: saved.model, revision: yield* uuid }
  })

export const open = (state: ConnectionState) =>
  method("session.open", "session", ({ session_id }, respond) =>
    Effect.gen(function* () {
      if (busy(state, respond)) return
      const backend = ready(state)
      const current = state.session
      if (current?.handle.sessionId === session_id && (yield* current.handle.durable)) {
        // It is attached and locked by us already: opening it again changes nothing.
        return respond.success(yield* openResult(current.handle))
      }
      const store = Context.get(backend, SessionStore)
      const { handle, scope } = yield* inOwnScope(store.open({ sessionId: session_id, workspace: state.workspace }))
      yield* attach(state, handle, scope)
      yield* restoreSelection(state, backend, handle)
      respond.success(yield* openResult(handle))
    }).pipe(
      Effect.catchTags({
        SessionUnavailable: (error) => Effect.sync(() => respond.failure(error.code, error.message, "/session_id")),
        PersistenceFailed: (error) => Effect.sync(() => respond.failure("persistence_failed", error.message))
      })
    )
  )

const openResult = (handle: SessionHandle): Effect.Effect<JsonObject> =>
  Effect.gen(function* () {
    return {
      session_id: handle.sessionId,
      durable: true,
      history_revision: yield* handle.revision,
      title: yield* handle.title
    }
  })

export const list = (state: ConnectionState) =>
  method("session.list", "session", (params, respond) =>
    Effect.gen(function* () {
      const found = yield* Context.get(ready(state), SessionStore).list({
        workspace: state.workspace,
        revision: params.revision,
        cursor: params.cursor,
        limit: params.limit
      })
      respond.success({
        entries: found.entries.map((entry) => ({ ...entry })),
        revision: found.revision,
        cursor: found.cursor,
        complete: found.complete
      })
    }).pipe(
      Effect.catchTags({
        StaleRevision: (error) => Effect.sync(() => respond.failure("stale_revision", error.message, "/revision")),
        PersistenceFailed: (error) => Effect.sync(() => respond.failure("persistence_failed", error.message))
      })
    )
  )

export const historyPage = (state: ConnectionState) =>
  method("history.page", "session", (params, respond) =>
    Effect.gen(function* () {
      const session = attached(state, params.session_id, respond)
      if (session === undefined || busy(state, respond)) return
      const page = yield* session.handle.page({
        revision: params.revision,
        cursor: params.cursor,
        limit: params.limit,
        cards: state.admission?.cards === true
      })
      respond.success({
        session_id: session.handle.sessionId,
        revision: page.revision,
        entries: page.entries.map((entry) => ({ ...entry })),
        cursor: page.cursor,
        complete: page.complete
      })
    }).pipe(
      Effect.catchTags({
        StaleRevision: (error) => Effect.sync(() => respond.failure("stale_revision", error.message, "/revision")),
        PersistenceFailed: (error) => Effect.sync(() => respond.failure("persistence_failed", error.message))
      })
    )
  )
