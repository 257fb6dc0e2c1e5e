/**
 * Envelopes, each encoded in one place. Every encoder gives one compact JSON object without its LF.
 *
 * base-protocol section 2.
 */
import { Buffer } from "node:buffer"
import * as CompactJson from "./CompactJson.ts"
import type { EventName } from "./Event.ts"
import type { JsonObject } from "./Json.ts"
import { ERROR_MESSAGE_BYTES, ERROR_PATH_BYTES } from "./Limits.ts"

export { type DecodedLine, decodeRequest } from "./DecodeRequest.ts"
export { decodeServerFrame, type FrameFault, type ServerFrame } from "./DecodeServerFrame.ts"

/** The error member of an error envelope. `path` is a JSON Pointer into params, or into the settings for `configuration_*`. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly path?: string
}

/** A request. `id` is well-formed (`isId`) and used once in a connection. */
export const request = (frame: { readonly id: string; readonly method: string; readonly params: JsonObject }): string =>
  CompactJson.stringify({ version: 1, id: frame.id, method: frame.method, params: frame.params })

/** The success envelope that answers the request `id`. */
export const success = (id: string, result: JsonObject): string => CompactJson.stringify({ version: 1, id, result })

/** Bounds `message` to 256 bytes on a character boundary and leaves out a path that is longer than 256 bytes. */
export const failure = (id: string | null, error: ErrorBody): string => {
  const message = CompactJson.truncateText(error.message, ERROR_MESSAGE_BYTES)
  const { path } = error
  const hasPath = path !== undefined && Buffer.byteLength(path) <= ERROR_PATH_BYTES
  return CompactJson.stringify({
    version: 1,
    id,
    error: hasPath ? { code: error.code, message, path } : { code: error.code, message }
  })
}

/** `sequence` counts 1, 2, 3 … without a gap on the wire: it is the writer's to give. */
export const event = (frame: {
  readonly event: EventName
  readonly instance_id: string
  readonly sequence: number
  readonly data: JsonObject
}): string =>
  CompactJson.stringify({
    version: 1,
    event: frame.event,
    instance_id: frame.instance_id,
    sequence: frame.sequence,
    data: frame.data
  })
