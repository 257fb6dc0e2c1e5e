/**
 * The durable session store: SQLite, one file a session, in one worker thread. docs/operations.md tells where things lie.
 *
 * A session's file is made by its first append, so nothing is touched before the protocol has admitted a client. The
 * lease of its single writer is the operating system's lock on the file: a process that is killed leaves it free.
 */
import { Clock, Effect, Function, Layer, type Scope } from "effect"
import { workerUrl } from "../platform/workerUrl.ts"
import { decodePermissions, encodePermissions } from "./PermissionsRecord.ts"
import { revisionsOf } from "./Revision.ts"
import {
  type DelegatedState,
  PersistenceFailed,
  type SessionHandle,
  SessionStore,
  type SessionStoreShape,
  SessionUnavailable
} from "./SessionStore.ts"
import { makeHandle, type SessionState, stale } from "./SqliteSession.ts"
import type { StoreFault } from "./StoreFault.ts"
import type { OpenedSession } from "./StoreMessages.ts"
import { ask, makeStoreThread, release, type StoreThread } from "./StoreThread.ts"

/** Where the durable store lies. */
export interface SqliteStoreOptions {
  /** `MC_HOME`. Made, with mode 0700, at the first write. */
  readonly home: string
  /** The worker's module, where it is not the one that ships (tests). */
  readonly worker?: URL
}

const unavailable = (fault: StoreFault): SessionUnavailable | PersistenceFailed => {
  switch (fault.kind) {
    case "session_not_found":
    case "session_busy":
    case "session_invalid":
    case "workspace_mismatch":
      return new SessionUnavailable({ code: fault.kind, message: fault.message })
    default:
      return new PersistenceFailed({ message: fault.message })
  }
}

const delegatedState = (opened: OpenedSession): DelegatedState =>
  opened.delegated ? { _tag: "Delegated", permissions: decodePermissions(opened.permissions) } : { _tag: "TopLevel" }

const makeStore = (thread: StoreThread): SessionStoreShape => {
  const states = new Map<string, SessionState>()

  /** Counts a handle in, and out again when its scope closes: the worker then gives up its hold on the file. */
  const scoped = (sessionId: string, state: SessionState): Effect.Effect<void, never, Scope.Scope> => {
    state.handles += 1
    states.set(sessionId, state)
    return Effect.addFinalizer(() =>
      Effect.suspend(() => {
        state.handles -= 1
        if (state.handles === 0) states.delete(sessionId)
        return state.link === undefined ? Effect.void : release(state.link, { op: "close", session: sessionId })
      })
    )
  }

  const create: SessionStoreShape["create"] = Effect.fnUntraced(function* ({ sessionId, workspace, delegated }) {
    const createdAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const permissions = delegated === undefined ? null : encodePermissions(delegated)
    const state: SessionState = {
      link: undefined,
      create: { workspace, createdAt, title: null, delegated: delegated !== undefined, permissions },
      revision: revisionsOf(sessionId)(0),
      title: null,
      selection: null,
      handles: 0
    }
    yield* scoped(sessionId, state)
    const kind: DelegatedState =
      delegated === undefined ? { _tag: "TopLevel" } : { _tag: "Delegated", permissions: delegated }
    return makeHandle(sessionId, kind, state, thread.link)
  })

  const open = ({
    sessionId,
    workspace
  }: {
    readonly sessionId: string
    readonly workspace: string
  }): Effect.Effect<SessionHandle, SessionUnavailable | PersistenceFailed, Scope.Scope> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const link = thread.link()
        // Whoever interrupts the waiting does not get the session: then it is closed as soon as it has been opened.
        let arrived = false
        let abandoned = false
        const giveBack = (): void => link.send({ op: "close", session: sessionId }, () => {})
        const opened = yield* restore(
          ask(
            link,
            { op: "open", session: sessionId, workspace },
            (answer) => {
              arrived = true
              if (abandoned) giveBack()
              return answer
            },
            unavailable
          )
        ).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              abandoned = true
              if (arrived) giveBack()
            })
          )
        )
        const known = states.get(sessionId)
        const state: SessionState =
          known !== undefined && known.link === link
            ? known
            : {
                link,
                create: null,
                revision: opened.revision,
                title: opened.title,
                selection: opened.selection,
                handles: 0
              }
        yield* scoped(sessionId, state)
        return makeHandle(sessionId, delegatedState(opened), state, thread.link)
      })
    )

  return {
    create,
    open,
    list: ({ workspace, revision, cursor, limit }) =>
      Effect.suspend(() =>
        ask(thread.link(), { op: "list", workspace, revision, cursor, limit }, Function.identity, stale)
      )
  }
}

/** The store of one home. The worker starts at first use; closing the scope ends it within 600 ms. */
const layer = (options: SqliteStoreOptions): Layer.Layer<SessionStore> =>
  Layer.effect(
    SessionStore,
    Effect.map(
      makeStoreThread({ home: options.home, worker: options.worker ?? workerUrl("storeWorker", import.meta.url) }),
      (thread) => SessionStore.of(makeStore(thread))
    )
  )

/** The durable store: `SqliteSessionStore.layer({ home })`. */
export const SqliteSessionStore = { layer } as const
