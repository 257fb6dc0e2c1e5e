/** The store's worker as a scoped resource: started when something is first asked of it, ended in bounded time. */
import { Effect, Function, type Scope } from "effect"
import { bounded } from "../platform/Bounded.ts"
import { StoreFault } from "./StoreFault.ts"
import type { Answer, Replies, ReplyOf, StoreRequest } from "./StoreMessages.ts"
import { WorkerLink } from "./WorkerLink.ts"

/** How long a closing waits for a file to be closed, or for the whole worker to finish what it is doing. */
const CLOSE_MS = 400
/** How long the end of the worker itself may take after that, where the disk did not answer. */
const TERMINATE_MS = 200
/** And where it did: the worker has closed every file, and waits for nothing but its turn on a busy machine. */
const TERMINATE_IDLE_MS = 800

export interface StoreThread {
  /** The running worker: a new one if there is none yet, or if the last one died. */
  readonly link: () => WorkerLink
}

/** What arrived, before it is known to answer what was asked. */
interface AnyReply {
  readonly op: string
  readonly value: unknown
}

const answers = <Op extends keyof Replies>(op: Op, reply: AnyReply): reply is ReplyOf<Op> => reply.op === op

/**
 * Asks the worker and waits for its answer, of which `done` makes the result and `failed` the error. The waiting can be
 * interrupted at any time; the worker carries the request out all the same, and `done` sees the answer even then, in the
 * same step in which it arrives. They are no `map` behind the waiting, because every append would pay for that.
 */
export const ask = <R extends StoreRequest, A, E>(
  link: WorkerLink,
  request: R,
  done: (value: Replies[R["op"]]) => A,
  failed: (fault: StoreFault) => E
): Effect.Effect<A, E> =>
  Effect.callback((resume) => {
    link.send(request, (answer: Answer) => {
      if (!answer.ok) {
        resume(Effect.fail(failed(new StoreFault(answer.kind, answer.message))))
        return
      }
      const reply: AnyReply = answer.reply
      if (answers<R["op"]>(request.op, reply)) resume(Effect.succeed(done(reply.value)))
      else resume(Effect.die(new Error(`the store answered ${request.op} with ${reply.op}`)))
    })
  })

/** Asks for something that releases, and waits for it only as long as a closing may. */
export const release = (link: WorkerLink, request: StoreRequest): Effect.Effect<void> =>
  Effect.gen(function* () {
    const done = yield* bounded(
      Effect.ignore(ask(link, request, Function.identity, Function.identity)),
      link.stalled ? 0 : CLOSE_MS
    )
    if (!done) link.gaveUp()
  })

const end = (link: WorkerLink): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* release(link, { op: "stop" })
    const done = yield* bounded(
      Effect.promise(() => link.terminate()),
      link.stalled ? TERMINATE_MS : TERMINATE_IDLE_MS
    )
    if (!done) yield* Effect.logWarning("the store's worker did not end in time")
  })

/**
 * The worker of one home. Closing the scope ends it: at once if the disk answers (on a machine that is too busy, within
 * 1200 ms), and within 600 ms if it does not.
 */
export const makeStoreThread = (options: {
  readonly home: string
  readonly worker: URL
}): Effect.Effect<StoreThread, never, Scope.Scope> => {
  let current: WorkerLink | undefined
  const link = (): WorkerLink => {
    if (current === undefined || current.ended) current = new WorkerLink(options.worker, options.home)
    return current
  }
  return Effect.as(
    Effect.addFinalizer(() => Effect.suspend(() => (current === undefined ? Effect.void : end(current)))),
    { link }
  )
}
