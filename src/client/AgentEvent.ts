/** Events of the agent with their types. base-protocol section 5; product section 5, frames from the agent. */
import * as Result from "effect/Result"
import { decodeEventData, isEventName } from "../protocol/DecodeEvent.ts"
import type { EventData, EventName } from "../protocol/Event.ts"
import type { JsonObject } from "../protocol/Json.ts"
import type { WireEvent } from "./Connection.ts"

interface Stamp {
  readonly instanceId: string
  /** 1, 2, 3 … of the agent's process. */
  readonly sequence: number
  /** Monotonic nanoseconds at which it was read. */
  readonly at: bigint
}

/** An event of the protocol; discriminated by `event`. Unknown members stay in `data`, untyped. */
export type KnownEvent = {
  readonly [Name in EventName]: Stamp & {
    readonly _tag: "Event"
    readonly event: Name
    readonly data: EventData[Name]
  }
}[EventName]

/** An event that this library does not know, or whose data is not of its type. It is passed over, and can be shown. */
export interface UnknownEvent extends Stamp {
  readonly _tag: "UnknownEvent"
  readonly event: string
  readonly data: JsonObject
}

/** An event of the agent, in the order of its sequence. Pass over an `UnknownEvent`: a newer agent may send it. */
export type AgentEvent = KnownEvent | UnknownEvent

/** Gives an event its type. */
export const read = (wire: WireEvent): AgentEvent => {
  const { at, data, event, instanceId, sequence } = wire
  const stamp = { instanceId, sequence, at }
  if (isEventName(event)) {
    const decoded = decodeEventData(event, data)
    // The decoder ties the data to the name; the compiler does not distribute that over the union.
    if (Result.isSuccess(decoded)) return { _tag: "Event", event, data: decoded.success, ...stamp } as KnownEvent
  }
  return { _tag: "UnknownEvent", event, data, ...stamp }
}
