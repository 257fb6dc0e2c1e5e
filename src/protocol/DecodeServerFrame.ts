/** Decoding of a line from the agent. base-protocol section 2; product section 5, frames from the agent. */
import * as Result from "effect/Result"
import { isId } from "./Ids.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { type JsonRule, scan } from "./JsonScan.ts"
import { Limits } from "./Limits.ts"
import * as StrictJson from "./StrictJson.ts"

/** A frame from the agent: the answer to a request, or an event. `id` null: the request had none that could be read. */
export type ServerFrame =
  | { readonly _tag: "Success"; readonly id: string; readonly result: JsonObject }
  | {
      readonly _tag: "Failure"
      readonly id: string | null
      readonly error: { readonly code: string; readonly message: string; readonly path?: string }
    }
  | {
      readonly _tag: "Event"
      readonly event: string
      readonly instance_id: string
      readonly sequence: number
      readonly data: JsonObject
      /**
       * `client.tool.call` only: its arguments hold a duplicate key or a number that does not survive. `path` points into
       * the arguments, and `data.arguments` is `{}`.
       */
      readonly fault?: StrictJson.JsonFault
    }

/** Why a frame is unclean, which is transport loss. Bounded, and without a value of the frame. */
export interface FrameFault {
  readonly message: string
}

type Decoded = Result.Result<ServerFrame, FrameFault>

const unclean = (message: string): Decoded => Result.fail({ message })

const CALL = "client.tool.call"
const argumentsPath = ["data", "arguments"]
/** Faults of a call's arguments that are answered with an error reply; any other is loss. */
const answered: ReadonlyArray<JsonRule> = ["duplicate_key", "number"]

const has = (frame: JsonObject, required: ReadonlyArray<string>, optional: ReadonlyArray<string> = []): boolean =>
  required.every((key) => Object.hasOwn(frame, key)) &&
  Object.keys(frame).every((key) => required.includes(key) || optional.includes(key))

const decodeFailure = (id: Json | undefined, error: Json | undefined): Decoded => {
  if (id !== null && (typeof id !== "string" || !isId(id))) return unclean("an error envelope has an ill-formed id")
  if (!isJsonObject(error) || !has(error, ["code", "message"], ["path"])) {
    return unclean("an error envelope must have exactly code, message and maybe path in its error")
  }
  const { code, message, path } = error
  if (typeof code !== "string" || typeof message !== "string") return unclean("an error's code and message are strings")
  if (path === undefined) return Result.succeed({ _tag: "Failure", id, error: { code, message } })
  if (typeof path !== "string") return unclean("an error's path is a string")
  return Result.succeed({ _tag: "Failure", id, error: { code, message, path } })
}

const decodeEvent = (frame: JsonObject, argumentsFault: StrictJson.JsonFault | undefined): Decoded => {
  const { event, instance_id, sequence, data } = frame
  if (typeof event !== "string") return unclean("an event's name is a string")
  if (typeof instance_id !== "string" || !isId(instance_id)) return unclean("an event has an ill-formed instance_id")
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence) || sequence < 1) {
    return unclean("an event's sequence is an integer from 1")
  }
  if (!isJsonObject(data)) return unclean("an event's data is an object")
  if (argumentsFault === undefined) return Result.succeed({ _tag: "Event", event, instance_id, sequence, data })
  if (event !== CALL) return unclean(`an event breaks a rule of JSON: ${argumentsFault.message}`)
  const path = argumentsFault.path.slice(`/${argumentsPath.join("/")}`.length)
  return Result.succeed({
    _tag: "Event",
    event,
    instance_id,
    sequence,
    data: { ...data, arguments: {} },
    fault: { ...argumentsFault, path }
  })
}

/** Decodes one line without its LF. Whether `sequence` has a gap, and what `data` holds, are the caller's to check. */
export const decodeServerFrame = (line: Uint8Array): Decoded => {
  const text = StrictJson.decodeUtf8(line)
  if (text === undefined) return unclean("a line is not UTF-8")
  const parsed = StrictJson.parseSyntax(text)
  if (Result.isFailure(parsed)) return unclean("a line is not JSON")
  const frame = parsed.success
  if (!isJsonObject(frame)) return unclean("a line is not a JSON object")
  const found = scan(text, Limits.json_depth, argumentsPath)
  const loss = StrictJson.firstFault(found.outside) ?? StrictJson.firstFault(found.inside, ["depth", "lone_surrogate"])
  if (loss) return unclean(`a frame breaks a rule of JSON: ${loss.message}`)
  if (!Object.hasOwn(frame, "version") || frame["version"] !== 1) return unclean("a frame is not of version 1")
  if (has(frame, ["version", "id", "result"])) {
    const { id, result } = frame
    if (typeof id !== "string" || !isId(id)) return unclean("a success envelope has an ill-formed id")
    return isJsonObject(result)
      ? Result.succeed({ _tag: "Success", id, result })
      : unclean("a success envelope's result is an object")
  }
  if (has(frame, ["version", "id", "error"])) return decodeFailure(frame["id"], frame["error"])
  if (has(frame, ["version", "event", "instance_id", "sequence", "data"])) {
    return decodeEvent(frame, StrictJson.firstFault(found.inside, answered))
  }
  return unclean("a frame is none of the known envelopes")
}
