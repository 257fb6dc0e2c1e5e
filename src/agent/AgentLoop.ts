/**
 * The turn of one agent: ask the model, make its calls, ask again, until a response has no calls.
 *
 * The calls of one response run concurrently; the model gets their results in call order. Every response and every call
 * is on disk before the next request (base-protocol section 5, required appends).
 */
import { Deferred, Effect } from "effect"
import { uuid } from "../platform/Ids.ts"
import { splitText } from "../protocol/CompactJson.ts"
import { DELTA_BYTES, RECONCILE_BYTES } from "../protocol/Limits.ts"
import type { RecordedCall, SessionRecord } from "../store/SessionRecord.ts"
import type { AgentScope } from "./AgentScope.ts"
import { toolkitOf } from "./Catalog.ts"
import * as FittingRequest from "./FittingRequest.ts"
import type { ModelFailure } from "./model/Models.ts"
import type { ToolPipelineShape } from "./ToolPipeline.ts"

export interface LoopOptions {
  readonly agent: AgentScope
  readonly pipeline: ToolPipelineShape
  readonly system: string
  /** The user records of this turn: the prompt last. */
  readonly input: ReadonlyArray<string>
  /** Runs when the input is on disk, before the model is asked. */
  readonly saved: Effect.Effect<void>
  /**
   * Appends the last response. False: the run was stopped before. Only the root's decides the run, so it is given from
   * outside.
   */
  readonly conclude: (records: ReadonlyArray<SessionRecord>) => Effect.Effect<boolean>
  /** Whether its text is shown while it is streamed: the root agent's is. */
  readonly streams: boolean
}

/** The run is being stopped by its own state; there is nothing left to do but to wait for the interruption. */
const stopped: Effect.Effect<never> = Effect.interrupt

/** Gives the text of the last response. Ends by interruption when the run is stopped. */
export const run = (options: LoopOptions): Effect.Effect<string, ModelFailure> =>
  Effect.gen(function* () {
    const { agent, pipeline } = options
    const { journal } = agent
    const { events, state } = agent.run
    const toolkit = toolkitOf(agent.listed)

    const input: Array<SessionRecord> = []
    for (const text of options.input) input.push({ ...(yield* journal.stamp), kind: "user", text })
    if (!(yield* journal.require(input))) return yield* stopped
    yield* options.saved
    const model = yield* agent.run.model

    /** The whole text in place of what was streamed, in parts, without a gap between them. */
    const reconcile = (messageId: string, text: string) =>
      Effect.suspend(() => {
        if (!options.streams) return Effect.void
        const parts = splitText(text, RECONCILE_BYTES)
        const places = parts.map((part, at) =>
          events.place("message.reconcile", { message_id: messageId, part: at, parts: parts.length, text: part })
        )
        return Effect.all(places, { discard: true })
      })

    for (;;) {
      if (!state.takeStep()) {
        yield* state.halt({
          _tag: "Failed",
          code: "turn_limit",
          message: "the run has had all the model responses it may have"
        })
        return yield* stopped
      }
      const messageId = yield* uuid
      const response = yield* FittingRequest.ask({
        agent,
        model,
        system: options.system,
        toolkit,
        onText: (text) =>
          options.streams && text !== ""
            ? Effect.forEach(
                splitText(text, DELTA_BYTES),
                (part) => events.emit("message.delta", { message_id: messageId, text: part }, { droppable: true }),
                { discard: true }
              )
            : Effect.void
      })
      state.addUsage(response.usage)
      const text = response.text.toWellFormed()
      const calls: Array<RecordedCall> = []
      for (const call of response.calls) calls.push({ ...call, callKey: yield* uuid })
      const record: SessionRecord = { ...(yield* journal.stamp), kind: "assistant", text, calls }

      if (calls.length === 0) {
        // What is on disk is also said: no cancel comes between.
        const done = yield* Effect.uninterruptible(
          Effect.gen(function* () {
            if (!(yield* options.conclude([record]))) return false
            yield* reconcile(messageId, text)
            return true
          })
        )
        return done ? text : yield* stopped
      }
      if (!(yield* journal.require([record]))) return yield* stopped
      if (text !== "") yield* reconcile(messageId, text)
      yield* makeCalls(agent, pipeline, calls)
      if (state.stop) return yield* stopped
    }
  })

/** The calls of one response, all at once. */
const makeCalls = (agent: AgentScope, pipeline: ToolPipelineShape, calls: ReadonlyArray<RecordedCall>) => {
  const places = calls.map((call) => ({ call, recorded: Deferred.makeUnsafe<void>() }))
  return Effect.forEach(
    places,
    ({ call, recorded }, at) => {
      const earlier = Effect.forEach(places.slice(0, at), (one) => Deferred.await(one.recorded), { discard: true })
      return Effect.ensuring(pipeline.call(agent, "direct", call, { earlier }), Deferred.succeed(recorded, undefined))
    },
    { concurrency: "unbounded", discard: true }
  )
}
