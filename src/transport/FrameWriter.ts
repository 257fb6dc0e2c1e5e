/**
 * The one ordered, bounded writer of a process (base-protocol section 3, Output).
 */
import { Context, type Effect } from "effect"
import type { EventName } from "../protocol/Event.ts"
import type { JsonObject } from "../protocol/Json.ts"

export type OutputEvent = {
  readonly event: EventName
  /** Members in the order of the spec. */
  readonly data: JsonObject
  /** Droppable events are discarded while 24 or more frames are queued. */
  readonly droppable?: boolean
}

/** What became of a frame that asked for its place. */
export type Place =
  /** It has its place in the order. `admitted` ends when it is one of the 32 queued frames: producers wait for it. */
  | { readonly _tag: "Placed"; readonly admitted: Effect.Effect<void> }
  /** A droppable event, and 24 or more frames are queued. */
  | { readonly _tag: "Dropped" }
  /** Beyond 65536 bytes with its LF, or deeper than 32. Nothing was taken, no sequence number used. */
  | { readonly _tag: "TooLarge" }
  /** The transport has failed or the writer is closed: nothing more is written anywhere. */
  | { readonly _tag: "Closed" }

export interface FrameWriterShape {
  /** Gives an event its sequence number and its place, synchronously. */
  readonly placeEvent: (event: OutputEvent) => Place
  /** `placeEvent`, then waits until it is admitted. A closed writer is silent: output is skipped (section 3). */
  readonly event: (event: OutputEvent) => Effect.Effect<Place["_tag"]>
}

/** The events side of the writer: what the agent and the broker may do with it. Responses belong to the server alone. */
export class EventWriter extends Context.Service<EventWriter, FrameWriterShape>()("magi-code/transport/EventWriter") {}
