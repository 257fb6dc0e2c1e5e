/**
 * The events of one run, up to its `run.finished` and not one further. base-protocol section 5.
 */
import { Effect } from "effect"
import type { EventData, EventName } from "../protocol/Event.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { FrameWriterShape, Place } from "../transport/FrameWriter.ts"

/** The data of a run event without the identity that every one begins with. */
export type RunEventData<Name extends EventName> = Omit<EventData[Name], "session_id" | "run_id"> & JsonObject

export interface RunEventsShape {
  /**
   * Gives an event its place synchronously; the effect given back waits until the writer admits it. After the end of the
   * run, which only abandoned work outlives, nothing is placed any more.
   */
  readonly place: <Name extends EventName>(
    event: Name,
    data: RunEventData<Name>,
    options?: { readonly droppable: true }
  ) => Effect.Effect<void>
  /** `place`, then waits until it is admitted. */
  readonly emit: <Name extends EventName>(
    event: Name,
    data: RunEventData<Name>,
    options?: { readonly droppable: true }
  ) => Effect.Effect<void>
  /** Places `run.finished` and closes. Exactly once: later calls do nothing. */
  readonly finish: (data: RunEventData<"run.finished">) => Effect.Effect<void>
}

const admission = (place: Place): Effect.Effect<void> => (place._tag === "Placed" ? place.admitted : Effect.void)

export const make = (options: {
  readonly writer: Pick<FrameWriterShape, "placeEvent">
  readonly sessionId: string
  readonly runId: string
}): RunEventsShape => {
  const identity = { session_id: options.sessionId, run_id: options.runId }
  let open = true
  const place: RunEventsShape["place"] = (event, data, more) =>
    open ? admission(options.writer.placeEvent({ event, data: { ...identity, ...data }, ...more })) : Effect.void
  return {
    place,
    emit: (event, data, more) => Effect.suspend(() => place(event, data, more)),
    finish: (data) => {
      const placed = place("run.finished", data)
      open = false
      return placed
    }
  }
}
