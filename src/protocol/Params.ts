/**
 * Exact decoders of objects: members, types, and a pointer at the member that is wrong. Hand-written, since the pointer,
 * the order of the rules and messages without values are what the protocol asks for.
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

/** A fault at the member that `path` points to. The whole of params is no member: its pointer is left out. */
export const faultAt = (path: string, message: string): ParamsFault => (path === "" ? { message } : { message, path })

/** Checks one value; `undefined` when it is an `A`. */
export interface Check<out A = Json> {
  (value: Json, path: string): ParamsFault | undefined
  /** Never there: it ties the check to the type that it checks. */
  readonly checked?: A
}

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T]
type RequiredKeys<T> = Exclude<keyof T, OptionalKeys<T>>

/** The members of a `T`, each with the check of its own type: a member of the type without a check does not compile. */
export type Shape<T> = {
  readonly required: { readonly [K in RequiredKeys<T>]: Check<T[K]> }
} & ([OptionalKeys<T>] extends [never]
  ? { readonly optional?: never }
  : { readonly optional: { readonly [K in OptionalKeys<T>]-?: Check<Exclude<T[K], undefined>> } })

type Checks = Readonly<Record<string, Check<unknown>>>
interface AnyShape {
  readonly required: Checks
  readonly optional?: Checks
}

const checkMembers = (value: JsonObject, { required, optional = {} }: AnyShape, path: string) => {
  for (const key of Object.keys(required)) {
    if (!Object.hasOwn(value, key)) return faultAt(path, `${key} is required`)
  }
  for (const [key, check] of [...Object.entries(required), ...Object.entries(optional)]) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    const fault = member === undefined ? undefined : check(member, JsonPointer.join(path, key))
    if (fault) return fault
  }
  return undefined
}

const checkUnknown = (value: JsonObject, { required, optional = {} }: AnyShape, path: string) => {
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(required, key) && !Object.hasOwn(optional, key))
  return unknown === undefined ? undefined : faultAt(JsonPointer.join(path, unknown), "unknown member")
}

const decode = <T>(value: JsonObject, fault: ParamsFault | undefined): Result.Result<T, ParamsFault> =>
  // The one cast of the decoders: `Shape<T>` holds a check for every member of T, and all of them have passed.
  fault ? Result.fail(fault) : Result.succeed(value as T)

/** A closed object: unknown members are refused first, then missing ones, then values in the order of the shape. */
export const decodeClosed = <T>(value: JsonObject, shape: Shape<T>, path = ""): Result.Result<T, ParamsFault> =>
  decode(value, checkUnknown(value, shape, path) ?? checkMembers(value, shape, path))

/** An open object: unknown members are passed over (product section 5, frames from the agent). */
export const decodeOpen = <T>(value: JsonObject, shape: Shape<T>, path = ""): Result.Result<T, ParamsFault> =>
  decode(value, checkMembers(value, shape, path))

/** A nested open object. */
export const open =
  <T>(shape: Shape<T>): Check<T> =>
  (value, path) =>
    isJsonObject(value) ? checkMembers(value, shape, path) : faultAt(path, "must be an object")

export const anyJson: Check = () => undefined

export const string: Check<string> = (value, path) =>
  typeof value === "string" ? undefined : faultAt(path, "must be a string")

export const boolean: Check<boolean> = (value, path) =>
  typeof value === "boolean" ? undefined : faultAt(path, "must be true or false")

export const object: Check<JsonObject> = (value, path) =>
  isJsonObject(value) ? undefined : faultAt(path, "must be an object")

/** An id, revision or cursor string. */
export const id: Check<string> = (value, path) =>
  typeof value === "string" && isId(value) ? undefined : faultAt(path, "must be 1 to 128 of A-Z a-z 0-9 . _ : -")

export const integerBetween =
  (least: number, most: number): Check<number> =>
  (value, path) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
      ? undefined
      : faultAt(path, `must be an integer from ${least} to ${most}`)

/** A count that JavaScript holds exactly. */
export const count = integerBetween(0, Number.MAX_SAFE_INTEGER)

export const oneOf =
  <const A extends string>(...values: ReadonlyArray<A>): Check<A> =>
  (value, path) =>
    values.some((one) => one === value) ? undefined : faultAt(path, `must be ${values.join(" or ")}`)

export const literal =
  <const A extends number | boolean>(wanted: A): Check<A> =>
  (value, path) =>
    value === wanted ? undefined : faultAt(path, `must be ${wanted}`)

export const nullable =
  <A>(check: Check<A>): Check<A | null> =>
  (value, path) =>
    value === null ? undefined : check(value, path)

export const arrayOf =
  <A>(check: Check<A>): Check<ReadonlyArray<A>> =>
  (value, path) => {
    if (!Array.isArray(value)) return faultAt(path, "must be an array")
    for (const [index, item] of value.entries()) {
      const fault = check(item, JsonPointer.join(path, index))
      if (fault) return fault
    }
    return undefined
  }
