/**
 * Methods: their params, decoded exactly. Results are in `MethodResult`.
 *
 * base-protocol section 4.
 */

import { Buffer } from "node:buffer"
import * as Result from "effect/Result"
import { baseCapabilities } from "./Capability.ts"
import * as CompactJson from "./CompactJson.ts"
import type { Json, JsonObject } from "./Json.ts"
import { Limits, MODEL_NAME_BYTES } from "./Limits.ts"
import {
  anyJson,
  boolean,
  type Check,
  decodeClosed,
  faultAt,
  id,
  integerBetween,
  type ParamsFault,
  type Shape
} from "./Params.ts"
import { type ToolResultParams, toolResultShape } from "./ToolResult.ts"

/** Params without members. */
export type Empty = Record<never, never>

/** `limit` of a page, 1 to 100. */
export type Paging = { readonly cursor?: string; readonly limit?: number }

/** The params of every method, by its name. */
export interface MethodParams {
  /** The closed shape only; `Initialize.preflight` checks what the members hold. */
  readonly initialize: { readonly required_capabilities: Json; readonly client_tools?: Json }
  readonly status: Empty
  readonly shutdown: Empty
  readonly "session.create": Empty
  readonly "session.open": { readonly session_id: string }
  /** `revision` and `cursor`: both or neither. */
  readonly "session.list": Paging & { readonly revision?: string }
  readonly "model.catalog": Empty
  readonly "selection.set": {
    readonly session_id: string
    readonly selection_revision: string
    readonly provider: string
    readonly model: string
  }
  readonly "history.page": Paging & { readonly session_id: string; readonly revision: string }
  readonly "turn.start": { readonly session_id: string; readonly prompt: string }
  readonly "turn.cancel": { readonly session_id: string; readonly run_id: string }
  readonly "approval.answer": {
    readonly session_id: string
    readonly run_id: string
    readonly approval_id: string
    readonly allow: boolean
  }
  readonly "client.tool.result": ToolResultParams
}

/** A method that this agent knows. */
export type MethodName = keyof MethodParams

/** Decoded params: absent paging members are filled in. */
export interface DecodedParams extends Omit<MethodParams, "session.list" | "history.page"> {
  readonly "session.list": {
    readonly revision: string | null
    readonly cursor: string | null
    readonly limit: number
  }
  readonly "history.page": {
    readonly session_id: string
    readonly revision: string
    readonly cursor: string | null
    readonly limit: number
  }
}

/** The decoded params of the method `Name`. */
export type ParamsOf<Name extends MethodName> = DecodedParams[Name]

/** Every method, in the order of sections 3 and 4. */
export const methodNames = [...baseCapabilities, "client.tool.result"] as const satisfies ReadonlyArray<MethodName>

/** Whether a request's `method` is one that this agent knows; any other is `unsupported_method`. */
export const isMethodName = (name: string): name is MethodName => methodNames.some((one) => one === name)

const limit = integerBetween(1, Limits.page_entries)

/** Nonblank: something is left after `String.prototype.trim`. */
const prompt: Check<string> = (value, path) => {
  if (typeof value !== "string") return faultAt(path, "must be a string")
  if (Buffer.byteLength(value) > Limits.prompt_bytes) {
    return faultAt(path, `must be at most ${Limits.prompt_bytes} bytes of UTF-8`)
  }
  return value.trim() === "" ? faultAt(path, "must not be blank") : undefined
}

const modelName: Check<string> = (value, path) =>
  typeof value === "string" && CompactJson.textBytes(value) <= MODEL_NAME_BYTES
    ? undefined
    : faultAt(path, `must be a string of at most ${MODEL_NAME_BYTES} bytes`)

const empty: Shape<Empty> = { required: {} }

type Decode<A> = (params: JsonObject) => Result.Result<A, ParamsFault>

const closed =
  <A>(shape: Shape<A>): Decode<A> =>
  (params) =>
    decodeClosed(params, shape)

const sessionListShape: Shape<MethodParams["session.list"]> = {
  required: {},
  optional: { revision: id, cursor: id, limit }
}

const sessionList: Decode<ParamsOf<"session.list">> = (params) =>
  Result.flatMap(
    decodeClosed(params, sessionListShape),
    ({ revision = null, cursor = null, limit = Limits.page_entries }) => {
      if ((revision === null) === (cursor === null)) return Result.succeed({ revision, cursor, limit })
      return Result.fail(faultAt(revision === null ? "/cursor" : "/revision", "revision and cursor come together"))
    }
  )

const historyPageShape: Shape<MethodParams["history.page"]> = {
  required: { session_id: id, revision: id },
  optional: { cursor: id, limit }
}

const historyPage: Decode<ParamsOf<"history.page">> = (params) =>
  Result.map(
    decodeClosed(params, historyPageShape),
    ({ session_id, revision, cursor = null, limit = Limits.page_entries }) => ({ session_id, revision, cursor, limit })
  )

const decoders: { readonly [Name in MethodName]: Decode<ParamsOf<Name>> } = {
  initialize: closed({ required: { required_capabilities: anyJson }, optional: { client_tools: anyJson } }),
  status: closed(empty),
  shutdown: closed(empty),
  "session.create": closed(empty),
  "session.open": closed({ required: { session_id: id } }),
  "session.list": sessionList,
  "model.catalog": closed(empty),
  "selection.set": closed({
    required: { session_id: id, selection_revision: id, provider: modelName, model: modelName }
  }),
  "history.page": historyPage,
  "turn.start": closed({ required: { session_id: id, prompt } }),
  "turn.cancel": closed({ required: { session_id: id, run_id: id } }),
  "approval.answer": closed({ required: { session_id: id, run_id: id, approval_id: id, allow: boolean } }),
  "client.tool.result": closed(toolResultShape)
}

/** Step 9 of the order of checks: closed params, every member of its type; what may be absent is filled in. */
export const decodeParams = <Name extends MethodName>(
  method: Name,
  params: JsonObject
): Result.Result<ParamsOf<Name>, ParamsFault> => {
  const decode: Decode<ParamsOf<Name>> = decoders[method]
  return decode(params)
}
