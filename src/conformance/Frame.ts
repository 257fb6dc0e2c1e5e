/** What came from a backend, as cases see it: typed, numbered in the order of arrival, and with its text and time. */
import * as Result from "effect/Result"
import type { ServerFrame } from "../protocol/DecodeServerFrame.ts"
import { decodeEventData, type EventData, type EventName, isEventName, type JsonObject } from "../protocol/index.ts"

interface Received {
  /** Place among the frames of its process, from 0. */
  readonly index: number
  /** `performance.now()` when it was read. */
  readonly at: number
  /** The line as it came, without its LF. */
  readonly text: string
}

export interface WireError {
  readonly code: string
  readonly message: string
  readonly path?: string
}

/** A response: exactly one of `result` and `error`. */
export interface Answer extends Received {
  readonly id: string | null
  readonly result?: JsonObject
  readonly error?: WireError
  readonly event?: undefined
  readonly data?: undefined
}

/** An event; `data` has the members of its type, and any further ones the backend sent. */
export interface EventFrame<Name extends EventName = EventName> extends Received {
  readonly event: Name
  readonly instance_id: string
  readonly sequence: number
  readonly data: EventData[Name]
  readonly id?: undefined
  readonly result?: undefined
  readonly error?: undefined
}

export type Frame = Answer | EventFrame

const eventOf = <Name extends EventName>(
  event: Name,
  frame: ServerFrame & { readonly _tag: "Event" },
  received: Received
): EventFrame<Name> | undefined => {
  const data = decodeEventData(event, frame.data)
  if (Result.isFailure(data)) return undefined
  return { ...received, event, instance_id: frame.instance_id, sequence: frame.sequence, data: data.success }
}

/** Undefined for an event that is unknown or whose data has another shape: `OutputLine` has told of it. */
export const frameOf = (frame: ServerFrame, received: Received): Frame | undefined => {
  switch (frame._tag) {
    case "Success":
      return { ...received, id: frame.id, result: frame.result }
    case "Failure":
      return { ...received, id: frame.id, error: frame.error }
    case "Event":
      return isEventName(frame.event) ? eventOf(frame.event, frame, received) : undefined
  }
}

/** Whether a frame is an event of this name. */
export const isEvent =
  <Name extends EventName>(name: Name) =>
  (frame: Frame): frame is EventFrame<Name> =>
    frame.event === name
