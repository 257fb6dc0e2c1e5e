/**
 * From a line to its one response: the order of checks, and the order in which requests take effect.
 *
 * Requests take effect in the order read. A reply's verdict is awaited here before the next line is looked at, so that a
 * `turn.cancel` read after a `client.tool.result` comes after its verdict. Methods that need the store run in a lane of
 * their own, one after the other: the dispatcher waits for each, but never longer than `LANE_PATIENCE_MS`, so that a
 * stalled disk holds up neither cancellation, deadlines, `status` nor closing.
 *
 * base-protocol sections 2 (order of checks) and 3 (readiness).
 */
import { Cause, Effect, Exit, Fiber, type Scope, Semaphore } from "effect"
import * as Envelope from "../protocol/Envelope.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { Limits } from "../protocol/Limits.ts"
import type { OrderedWriterShape } from "../transport/OrderedWriter.ts"
import type { ConnectionState } from "./ConnectionState.ts"
import type { Method } from "./methods/Method.ts"
import { type Respond, respondTo } from "./Respond.ts"

/** How long a line waits for the store's answer to a line before it. Milliseconds. */
export const LANE_PATIENCE_MS = 250

export interface DispatcherShape {
  /** Takes one line without its LF. Ends when the next one may be looked at. */
  readonly dispatch: (line: Uint8Array) => Effect.Effect<void>
}

export const make = (options: {
  readonly state: ConnectionState
  readonly writer: Pick<OrderedWriterShape, "placeResponse">
  /** By name. `client.tool.result` is there from the beginning; it is unsupported until it is negotiated. */
  readonly methods: ReadonlyMap<string, Method>
}): Effect.Effect<DispatcherShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { state, writer } = options
    const scope = yield* Effect.scope
    const lane = Semaphore.makeUnsafe(1)

    const supports = (name: string) =>
      name === "client.tool.result" ? state.admission?.clientTools != null : options.methods.has(name)

    /** Every request is answered once: also when closing interrupts it, and when its method has a defect. */
    const guarded = (method: Method, params: JsonObject, respond: Respond): Effect.Effect<void> =>
      method.run(params, respond).pipe(
        Effect.onExit((exit) => {
          if (Exit.isSuccess(exit)) return Effect.void
          if (Cause.hasInterruptsOnly(exit.cause)) {
            return Effect.sync(() => respond.failure("shutting_down", "the agent is closing"))
          }
          respond.failure("internal_error", "the request failed inside the agent; see its log")
          return Effect.logError(`${method.name} failed`, exit.cause)
        }),
        Effect.ignoreCause
      )

    const execute = (method: Method, params: JsonObject, respond: Respond) =>
      method.lane === "immediate"
        ? guarded(method, params, respond)
        : Effect.forkIn(lane.withPermit(guarded(method, params, respond)), scope, { startImmediately: true }).pipe(
            Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.await(fiber), LANE_PATIENCE_MS)),
            Effect.asVoid
          )

    const dispatch = (line: Uint8Array): Effect.Effect<void> =>
      Effect.suspend(() => {
        const decoded = Envelope.decodeRequest(line)
        const respond = respondTo(writer, decoded.id)
        const verdict = state.requestIds.spend(decoded.id)
        const refuse = (...failure: Parameters<Respond["failure"]>) => Effect.sync(() => respond.failure(...failure))
        if (verdict === "request_limit") {
          return refuse(verdict, `all ${Limits.request_ids} request ids of this process are used; start a new one`)
        }
        if (decoded._tag === "Malformed") return refuse(decoded.code, decoded.message)
        if (verdict === "duplicate_id") return refuse(verdict, "this request id was used before")
        if (state.lifecycle.state === "closing") return refuse("shutting_down", "the agent is closing")
        const method = options.methods.get(decoded.method)
        if (method === undefined || !supports(decoded.method)) {
          return refuse("unsupported_method", "no such method, or not negotiated")
        }
        const refusal = state.lifecycle.refusal(decoded.method)
        if (refusal !== undefined) return refuse(refusal, readiness[refusal] ?? "not possible in this state")
        if (decoded.fault) return refuse("invalid_params", decoded.fault.message, decoded.fault.path)
        return execute(method, decoded.params, respond)
      })

    return { dispatch }
  })

const readiness: Partial<Record<string, string>> = {
  not_initialized: "send initialize first",
  initializing: "initialize is still under way",
  already_initialized: "initialize was sent before; start a new process to register other tools",
  not_ready: "start-up failed; only status and shutdown are possible"
}
