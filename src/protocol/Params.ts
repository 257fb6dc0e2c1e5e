/**
 * Exact decoders of params: closed objects, types, and a pointer at the member that is wrong. Hand-written, since the
 * pointer, the order of the rules and messages without values are what the protocol asks for.
 *
 * base-protocol sections 2 (`error.message`, `error.path`) and 4.
 */
import * as Result from "effect/Result"
import { isId } from "./Ids.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import * as JsonPointer from "./JsonPointer.ts"

/** A rule that params broke. `message` names the rule and never a value; `path` points into params. */
export interface ParamsFault {
  readonly message: string
  readonly path?: string
}

/** A fault at the member that `path` points to. */
export const faultAt = (path: string, message: string): ParamsFault => (path === "" ? { message } : { message, path })

/** Checks one value; `undefined` when it is as it should be. */
export type Check = (value: Json, path: string) => ParamsFault | undefined

/** The members of a closed object; `optional` ones may be absent, and never null unless their check says so. */
export interface Shape {
  readonly required: Readonly<Record<string, Check>>
  readonly optional?: Readonly<Record<string, Check>>
}

/** Unknown members first, then missing ones, then the values in the order of the shape. */
export const checkClosed = (params: JsonObject, shape: Shape, path = ""): ParamsFault | undefined => {
  const optional = shape.optional ?? {}
  for (const key of Object.keys(params)) {
    if (!Object.hasOwn(shape.required, key) && !Object.hasOwn(optional, key)) {
      return faultAt(JsonPointer.join(path, key), "unknown member")
    }
  }
  for (const key of Object.keys(shape.required)) {
    if (!Object.hasOwn(params, key)) return faultAt(path, `${key} is required`)
  }
  for (const [key, check] of [...Object.entries(shape.required), ...Object.entries(optional)]) {
    const value = Object.hasOwn(params, key) ? params[key] : undefined
    const fault = value === undefined ? undefined : check(value, JsonPointer.join(path, key))
    if (fault) return fault
  }
  return undefined
}

/** Succeeds with `make()` where there is no fault. */
export const decoded = <A>(fault: ParamsFault | undefined, make: () => A): Result.Result<A, ParamsFault> =>
  fault ? Result.fail(fault) : Result.succeed(make())

export const anyJson: Check = () => undefined

export const string: Check = (value, path) =>
  typeof value === "string" ? undefined : faultAt(path, "must be a string")

export const nullableString: Check = (value, path) =>
  value === null || typeof value === "string" ? undefined : faultAt(path, "must be a string or null")

export const boolean: Check = (value, path) =>
  typeof value === "boolean" ? undefined : faultAt(path, "must be true or false")

export const object: Check = (value, path) => (isJsonObject(value) ? undefined : faultAt(path, "must be an object"))

/** An id, revision or cursor string. */
export const id: Check = (value, path) =>
  typeof value === "string" && isId(value) ? undefined : faultAt(path, "must be 1 to 128 of A-Z a-z 0-9 . _ : -")

export const integerBetween =
  (least: number, most: number): Check =>
  (value, path) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
      ? undefined
      : faultAt(path, `must be an integer from ${least} to ${most}`)

export const oneOf =
  (...values: ReadonlyArray<string>): Check =>
  (value, path) =>
    typeof value === "string" && values.includes(value) ? undefined : faultAt(path, `must be ${values.join(" or ")}`)
