/**
 * The children of an agent, one after another: which is in use, who uses it, and how it is replaced. docs/library.md,
 * Recycling, has the rules.
 *
 * One owner, this closure; its state changes in synchronous steps. A child has two states for those who use it: the gate is
 * open (requests go to the present child and are counted) or closed (requests wait). A recycle closes it, waits until nobody
 * is inside, replaces the child, and opens it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { SessionCreated, SessionOpened } from "../protocol/MethodResult.ts"
import type { AgentChild, AgentOpenError } from "./AgentChild.ts"
import { RecycleFailed } from "./AgentErrors.ts"
import type { TransportLost } from "./TransportLost.ts"

/** What a recycle led to. */
export interface Recycled {
  /**
   * The session that is attached now: the same as before, opened again (`durable`: true), or a new one where nothing was
   * stored of the one before (`durable`: false). `null`: none was attached.
   */
  readonly session: SessionOpened | SessionCreated | null
}

/** The children of one agent. */
export interface Children {
  /** The child in use. */
  readonly current: () => AgentChild
  /** Uses the child; while it is being replaced, waits. */
  readonly use: <A, E, R>(use: (child: AgentChild) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly recycle: Effect.Effect<Recycled, RecycleFailed>
  readonly lost: Effect.Effect<never, TransportLost>
}

/** How long requests under way may take before they are given up with the child that does not answer them. */
const DRAIN_MS = 2000

interface Generation {
  readonly child: AgentChild
  readonly scope: Scope.Closeable
  /** Done when another is in use. */
  readonly replaced: Deferred.Deferred<void>
}

/** Opens the first child. All of them, and a recycle under way, end with the current scope, together. */
export const make = Effect.fnUntraced(function* (
  open: Effect.Effect<AgentChild, AgentOpenError, Scope.Scope>,
  renewable: boolean
) {
  // In parallel: while one replaces the other there are two, and both are gone within the same two seconds.
  const owner = yield* Effect.acquireRelease(Scope.make("parallel"), (scope, exit) => Scope.close(scope, exit))
  const spawn = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(owner)
      const child = yield* restore(Scope.provide(open, scope)).pipe(
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
      return { child, scope, replaced: Deferred.makeUnsafe<void>() } satisfies Generation
    })
  )

  let current: Generation = yield* spawn
  let gate: Deferred.Deferred<void> | undefined
  let inside = 0
  let empty: Deferred.Deferred<void> | undefined
  let ongoing: Deferred.Deferred<Recycled, RecycleFailed> | undefined

  const openGate = Effect.sync(() => {
    if (gate !== undefined) Deferred.doneUnsafe(gate, Exit.void)
    gate = undefined
  })
  const leave = Effect.sync(() => {
    inside -= 1
    if (inside === 0 && empty !== undefined) Deferred.doneUnsafe(empty, Exit.void)
  })
  const use: Children["use"] = (body) =>
    Effect.uninterruptibleMask((restore) => {
      const enter: ReturnType<typeof body> = Effect.suspend(() => {
        if (gate !== undefined) return Effect.andThen(restore(Deferred.await(gate)), enter)
        inside += 1
        return Effect.ensuring(restore(body(current.child)), leave)
      })
      return enter
    })
  /** Waits until nobody is inside; those who still are after two seconds lose the child under their feet. */
  const drain = Effect.suspend(() => {
    if (inside === 0) return Effect.void
    empty = Deferred.makeUnsafe<void>()
    return Effect.timeoutOption(Deferred.await(empty), DRAIN_MS)
  })

  const replace = Effect.gen(function* () {
    const before = current
    const refuse = (reason: RecycleFailed["reason"], cause?: RecycleFailed["cause"], inUse = true) =>
      new RecycleFailed({ reason, inUse, ...(cause === undefined ? {} : { cause }) })
    if (!(yield* before.child.handover.over)) return yield* refuse("run_active")
    gate = Deferred.makeUnsafe<void>()
    yield* drain
    // Whoever was inside may have started one.
    if (!before.child.handover.isOver()) return yield* refuse("run_active")
    const fresh = yield* Effect.mapError(spawn, (cause) => refuse("not_opened", cause))
    const session = yield* move(before, fresh.child, refuse).pipe(
      Effect.onError((cause) => Effect.andThen(openGate, Scope.close(fresh.scope, Exit.failCause(cause))))
    )
    current = fresh
    Deferred.doneUnsafe(before.replaced, Exit.void)
    yield* openGate
    yield* Scope.close(before.scope, Exit.void)
    return { session } satisfies Recycled
  }).pipe(Effect.ensuring(openGate))

  const recycle = Effect.suspend(() => {
    if (!renewable) return Effect.fail(new RecycleFailed({ reason: "no_link", inUse: true }))
    if (ongoing !== undefined) return Deferred.await(ongoing)
    if (owner.state._tag === "Closed") return Effect.fail(closed)
    const done = Deferred.makeUnsafe<Recycled, RecycleFailed>()
    ongoing = done
    const told = Effect.onExit(Effect.interruptible(replace), (exit) =>
      Effect.sync(() => {
        ongoing = undefined
        Deferred.doneUnsafe(done, Exit.hasInterrupts(exit) ? Exit.fail(closed) : exit)
      })
    )
    // Its own fiber, with the children: a child that is half there is nobody's to forget.
    return Effect.andThen(Effect.forkIn(told, owner, { startImmediately: true }), Deferred.await(done))
  })

  const lost: Effect.Effect<never, TransportLost> = Effect.suspend(() => {
    const { child, replaced } = current
    return Effect.andThen(Effect.raceFirst(child.lost, Deferred.await(replaced)), lost)
  })
  return { current: () => current.child, use, recycle, lost } satisfies Children
})

const closed = new RecycleFailed({ reason: "closed", inUse: false })

type Refuse = (reason: RecycleFailed["reason"], cause?: RecycleFailed["cause"], inUse?: boolean) => RecycleFailed

/** Opens in the new child what the one before has attached. That one keeps it, or gets it back, if it fails. */
const move = (before: Generation, fresh: AgentChild, refuse: Refuse) =>
  Effect.gen(function* () {
    const { handover } = before.child
    const told = yield* Effect.option(handover.status)
    if (told._tag === "None") return yield* takeOver(before, fresh, refuse)
    const { durable, run_id, session_id } = told.value
    if (run_id !== null) return yield* refuse("run_active")
    if (session_id === null) return null
    const failed = Effect.mapError((cause: NonNullable<RecycleFailed["cause"]>) => refuse("session", cause))
    if (!durable) return yield* failed(fresh.handover.create)
    // Its lock is the process's: the session cannot be opened before it is let go.
    yield* failed(handover.release)
    return yield* failed(
      Effect.tapError(fresh.handover.open(session_id), () => Effect.ignore(handover.open(session_id)))
    )
  })

/** The child before is lost, has no ids left or does not answer: it is closed first, and what is known of it must do. */
const takeOver = (before: Generation, fresh: AgentChild, refuse: Refuse) =>
  Effect.gen(function* () {
    yield* Scope.close(before.scope, Exit.void)
    const session = before.child.handover.attached()
    if (session === undefined) return null
    const { create, open } = fresh.handover
    const opened = session.stored
      ? Effect.catchIf(
          open(session.sessionId),
          // It was lost before anything was saved.
          (error) => error._tag === "RequestFailed" && error.code === "session_not_found",
          () => create
        )
      : create
    return yield* Effect.mapError(opened, (cause) => refuse("session", cause, false))
  })
