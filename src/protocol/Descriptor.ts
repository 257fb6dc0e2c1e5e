/**
 * Client-tool descriptors: exactly `name`, `description`, `input_schema` and optional `timeout_ms`.
 *
 * client-tools, Negotiate once, Bounds and schemas; base-protocol section 6, Registry.
 */
import { Buffer } from "node:buffer"
import * as Result from "effect/Result"
import * as CompactJson from "./CompactJson.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import * as JsonPointer from "./JsonPointer.ts"
import { ClientToolLimits } from "./Limits.ts"
import { type Check, decodeClosed, faultAt, integerBetween, type ParamsFault, type Shape } from "./Params.ts"
import * as SchemaSubset from "./SchemaSubset.ts"

/** A descriptor with its default timeout filled in; members in this order wherever it is serialized. */
export type EffectiveDescriptor = {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
  readonly timeout_ms: number
}

// `client__` and 1 to 56 letters, digits or underscores: 64 ASCII bytes at most.
const namePattern = /^client__[A-Za-z0-9_]{1,56}$/
const control = /(?![\n\t])\p{Cc}/u

/** True for a name that a client tool may have. */
export const isClientToolName = (name: string): boolean => namePattern.test(name)

const name: Check<string> = (value, path) =>
  typeof value === "string" && isClientToolName(value)
    ? undefined
    : faultAt(path, "must be client__ and 1 to 56 letters, digits or underscores")

const description: Check<string> = (value, path) => {
  if (typeof value !== "string") return faultAt(path, "must be a string")
  if (value.trim() === "") return faultAt(path, "must not be blank")
  if (!value.isWellFormed()) return faultAt(path, "must hold no lone surrogate")
  if (control.test(value)) return faultAt(path, "must hold no control character but LF and tab")
  if (Buffer.byteLength(value) > ClientToolLimits.description_bytes) {
    return faultAt(path, `must be at most ${ClientToolLimits.description_bytes} bytes`)
  }
  return undefined
}

type Descriptor = {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
  readonly timeout_ms?: number
}

const shape: Shape<Descriptor> = {
  required: { name, description, input_schema: SchemaSubset.check },
  optional: { timeout_ms: integerBetween(ClientToolLimits.min_timeout_ms, ClientToolLimits.max_timeout_ms) }
}

/** Checks one descriptor and fills its default timeout in. `path` points at it. */
export const decodeDescriptor = (value: Json, path: string): Result.Result<EffectiveDescriptor, ParamsFault> => {
  if (!isJsonObject(value)) return Result.fail(faultAt(path, "a descriptor must be an object"))
  return Result.map(decodeClosed(value, shape, path), (given) => ({
    name: given.name,
    description: given.description,
    input_schema: given.input_schema,
    timeout_ms: given.timeout_ms ?? ClientToolLimits.default_timeout_ms
  }))
}

/**
 * Checks a whole registry, in order: an array, its count, every descriptor, unique names, `registry_bytes` of the effective
 * descriptors. `path` points at the array.
 */
export const decodeRegistry = (
  value: Json,
  path = ""
): Result.Result<ReadonlyArray<EffectiveDescriptor>, ParamsFault> => {
  if (!Array.isArray(value)) return Result.fail(faultAt(path, "must be an array of descriptors"))
  if (value.length > ClientToolLimits.tools) {
    return Result.fail(faultAt(path, `must have at most ${ClientToolLimits.tools} descriptors`))
  }
  const descriptors: Array<EffectiveDescriptor> = []
  const names = new Set<string>()
  for (const [index, item] of value.entries()) {
    const at = JsonPointer.join(path, index)
    const decoded = decodeDescriptor(item, at)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    const descriptor = decoded.success
    if (names.has(descriptor.name)) return Result.fail(faultAt(`${at}/name`, "this name is registered twice"))
    names.add(descriptor.name)
    descriptors.push(descriptor)
  }
  if (CompactJson.byteLength(descriptors) > ClientToolLimits.registry_bytes) {
    return Result.fail(
      faultAt(path, `must be at most ${ClientToolLimits.registry_bytes} bytes with its timeouts filled in`)
    )
  }
  return Result.succeed(descriptors)
}
