/**
 * An agent as a child process, and the ladder that closes it: at 0 EOF on its stdin, at 1600 ms SIGTERM, at 1800 SIGKILL
 * to the whole process group and then whatever carries the child's mark, at 2000 the end. One absolute budget; an agent
 * that goes earlier is not waited for. product sections 4 and 5.
 */
import * as Effect from "effect/Effect"
import type { Budget } from "../platform/Bounded.ts"
import { uuid } from "../platform/Ids.ts"
import type { Environment } from "../platform/Marks.ts"
import { ownBackend } from "../platform/OwnBackend.ts"
import * as ChildTransport from "../transport/ChildTransport.ts"
import { AgentNotStarted } from "./AgentErrors.ts"
import type { AgentEnd, AgentLink } from "./AgentLink.ts"

const SIGTERM_AT_MS = 1600
const SIGKILL_AT_MS = 1800
const END_AT_MS = 2000

/** How the agent's process is started. */
export interface AgentCommand {
  /** The command and its arguments; default: the agent of this package, on the Node of this process (`ownBackend`). */
  readonly words?: readonly [string, ...ReadonlyArray<string>]
  /** The workspace; default: this process's directory. */
  readonly cwd?: string
  /** Added to this process's environment. */
  readonly env?: Environment
  /** Sees the agent's stderr as it comes; without it only the tail is kept. */
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** Starts the agent. The caller closes it (`close`), in every case. */
export const open = Effect.fnUntraced(function* (command: AgentCommand) {
  const words = command.words ?? ownBackend()
  if (words === undefined)
    return yield* new AgentNotStarted({ command: "magi-code serve --stdio", reason: "not_built" })
  const [program, ...args] = words
  const mark = `client-${yield* uuid}`
  const child = yield* ChildTransport.open({
    command: program,
    args,
    mark,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
    ...(command.env === undefined ? {} : { env: command.env }),
    ...(command.onStderr === undefined ? {} : { onStderr: command.onStderr })
  }).pipe(Effect.mapError((error) => new AgentNotStarted({ command: program, reason: error.reason })))
  return linkOf(child)
})

const linkOf = (child: ChildTransport.ChildTransportShape): AgentLink => ({
  read: child.read,
  write: child.write,
  end: Effect.sync(child.end),
  dropInput: Effect.sync(child.dropInput),
  exited: Effect.asVoid(child.exit),
  describeEnd: (millis) =>
    Effect.map(Effect.timeoutOption(child.closed, millis), (): AgentEnd => {
      const end = child.endNow()
      return { exitCode: end?.code ?? null, signal: end?.signal ?? null, stderrTail: child.stderrTail() }
    }),
  close: (budget) => closeWithin(child, budget)
})

const closeWithin = (child: ChildTransport.ChildTransportShape, budget: Budget): Effect.Effect<void> =>
  Effect.gen(function* () {
    const waitUntil = (millis: number) =>
      Effect.flatMap(budget.left(millis), (left) => Effect.timeoutOption(Effect.interruptible(child.exit), left))
    yield* waitUntil(SIGTERM_AT_MS)
    if (child.endNow() === undefined) {
      child.signal("SIGTERM")
      yield* waitUntil(SIGKILL_AT_MS)
    }
    // Also after a good end: what the agent left in its group, or started with its mark, goes with it.
    child.signal("SIGKILL")
    yield* Effect.flatMap(budget.left(END_AT_MS), (left) => child.sweep(left))
    yield* waitUntil(END_AT_MS)
  }).pipe(Effect.ensuring(Effect.sync(child.release)))
