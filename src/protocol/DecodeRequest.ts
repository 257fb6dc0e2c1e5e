/** Decoding of a request line: the envelope check of the order of checks. base-protocol section 2. */
import { Buffer } from "node:buffer"
import * as Result from "effect/Result"
import { isId } from "./Ids.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { type Scan, scan } from "./JsonScan.ts"
import { Limits, METHOD_BYTES } from "./Limits.ts"
import { faultAt, type ParamsFault } from "./Params.ts"
import * as StrictJson from "./StrictJson.ts"

/** What a line is. `id` is null unless a valid id was read that the envelope holds once. */
export type DecodedLine =
  | {
      readonly _tag: "Malformed"
      readonly id: string | null
      readonly code: "invalid_request" | "unsupported_version"
      readonly message: string
    }
  | {
      readonly _tag: "Request"
      readonly id: string
      readonly method: string
      /** Empty where `fault` is set. */
      readonly params: JsonObject
      /** The envelope is sound, but the inside of params breaks a rule of section 1: `invalid_params` at step 9. */
      readonly fault: ParamsFault | undefined
    }

const malformed = (
  id: string | null,
  message: string,
  code: "invalid_request" | "unsupported_version" = "invalid_request"
): DecodedLine => ({ _tag: "Malformed", id, code, message })

const members = ["version", "id", "method", "params"]
const PARAMS = "params"

const paramsFault = (found: Scan): ParamsFault | undefined => {
  const broken = StrictJson.firstFault(found.inside)
  return broken && faultAt(broken.path.slice(`/${PARAMS}`.length), broken.message)
}

const decodeEnvelope = (frame: JsonObject, found: Scan): DecodedLine => {
  const own = (key: string): Json | undefined => (Object.hasOwn(frame, key) ? frame[key] : undefined)
  const rawId = own("id")
  const id = typeof rawId === "string" && isId(rawId) && !found.repeatedRootKeys.has("id") ? rawId : null
  const broken = StrictJson.firstFault(found.outside)
  if (broken) return malformed(id, `the envelope breaks a rule of JSON: ${broken.message}`)
  // Another version may have another envelope, so nothing else of it is judged.
  const version = own("version")
  if (version !== undefined && version !== 1)
    return malformed(id, "only version 1 is spoken here", "unsupported_version")
  const missing = members.find((key) => !Object.hasOwn(frame, key))
  if (missing !== undefined) return malformed(id, `${missing} is required`)
  if (Object.keys(frame).length > members.length) return malformed(id, "the envelope has an unknown member")
  if (id === null) return malformed(null, "id must be a string of 1 to 128 of A-Z a-z 0-9 . _ : -")
  const method = own("method")
  if (typeof method !== "string" || Buffer.byteLength(method) > METHOD_BYTES) {
    return malformed(id, `method must be a string of at most ${METHOD_BYTES} bytes`)
  }
  const params = own(PARAMS)
  if (!isJsonObject(params)) return malformed(id, "params must be an object")
  const fault = paramsFault(found)
  return { _tag: "Request", id, method, params: fault ? {} : params, fault }
}

/** Decodes one line without its LF. Never throws, and costs time linear in its length. */
export const decodeRequest = (line: Uint8Array): DecodedLine => {
  const text = StrictJson.decodeUtf8(line)
  if (text === undefined) return malformed(null, "the line is not UTF-8")
  const parsed = StrictJson.parseSyntax(text)
  if (Result.isFailure(parsed)) return malformed(null, "the line is not JSON")
  const frame = parsed.success
  if (!isJsonObject(frame)) return malformed(null, "the line is not a JSON object")
  return decodeEnvelope(frame, scan(text, Limits.json_depth, [PARAMS]))
}
