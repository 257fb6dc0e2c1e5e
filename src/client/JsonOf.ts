/**
 * JSON of what a handler returned, as `JSON.stringify` would write it, but strict: what JSON cannot say is an error, not
 * silence. `undefined` members are left out, `toJSON` is honoured, class instances are taken by their own enumerable
 * members. product section 5, Replies.
 */
import * as Result from "effect/Result"
import type { Json } from "../protocol/Json.ts"
import * as JsonPointer from "../protocol/JsonPointer.ts"
import { ClientToolLimits, Limits } from "../protocol/Limits.ts"

/** Why a value is not JSON, and where in it. */
export interface NotJson {
  readonly message: string
  readonly path: string
}

/**
 * One level more than any result can have in its frame; the frame itself is measured with the reply. Nothing recurses
 * further.
 */
const MOST_DEPTH = Limits.json_depth - 1
/** Characters and values after which counting stops: far more than fits. */
const MOST_SIZE = 4 * ClientToolLimits.result_bytes

/** The JSON of a value, `undefined` where there is none, or why it is no JSON. */
export type JsonOf = Result.Result<Json | undefined, NotJson>

/** `undefined` stays what it is at the root: there is no value. */
export const jsonOf = (value: unknown): JsonOf => {
  try {
    return Result.succeed(new Conversion().convert(value, "", "", 0))
  } catch (error) {
    return Result.fail(
      error instanceof Refusal
        ? { message: error.message, path: error.path }
        : { message: "a getter or toJSON of the value failed", path: "" }
    )
  }
}

class Refusal extends Error {
  readonly path: string

  constructor(message: string, path: string) {
    super(message)
    this.path = path
  }
}

class Conversion {
  /** Containers on the way from the root: meeting one again is a cycle. */
  readonly #above = new Set<object>()
  #size = 0

  convert(given: unknown, key: string, path: string, depth: number): Json | undefined {
    const value = unboxed(honourToJson(given, key))
    switch (typeof value) {
      case "undefined":
        return undefined
      case "boolean":
        this.#count(1, path)
        return value
      case "string":
        this.#count(value.length, path)
        if (!value.isWellFormed()) throw new Refusal("a lone surrogate", path)
        return value
      case "number":
        this.#count(1, path)
        if (!Number.isFinite(value)) throw new Refusal(`${value} is not a number of JSON`, path)
        return value
      case "object":
        this.#count(1, path)
        return value === null ? null : this.#container(value, path, depth + 1)
    }
    throw new Refusal(`a ${typeof value} is not JSON`, path)
  }

  #container(value: object, path: string, depth: number): Json {
    if (this.#above.has(value)) throw new Refusal("a cycle", path)
    if (depth > MOST_DEPTH) throw new Refusal(`more than ${MOST_DEPTH} levels deep`, path)
    if (value instanceof Map || value instanceof Set) {
      throw new Refusal(`a ${value instanceof Map ? "Map" : "Set"} is not JSON`, path)
    }
    this.#above.add(value)
    const json = Array.isArray(value) ? this.#array(value, path, depth) : this.#object(value, path, depth)
    this.#above.delete(value)
    return json
  }

  #array(items: ReadonlyArray<unknown>, path: string, depth: number): Json {
    const out: Array<Json> = []
    for (let index = 0; index < items.length; index++) {
      const at = JsonPointer.join(path, index)
      const item = this.convert(items[index], String(index), at, depth)
      if (item === undefined) throw new Refusal("undefined in an array", at)
      out.push(item)
    }
    return out
  }

  #object(value: object, path: string, depth: number): Json {
    const members: Array<readonly [string, Json]> = []
    for (const key of Object.keys(value)) {
      const at = JsonPointer.join(path, key)
      if (!key.isWellFormed()) throw new Refusal("a lone surrogate in a key", path)
      const member = this.convert(Reflect.get(value, key), key, at, depth)
      if (member === undefined) continue
      this.#count(key.length, at)
      members.push([key, member])
    }
    return Object.fromEntries(members)
  }

  #count(size: number, path: string): void {
    this.#size += size
    if (this.#size > MOST_SIZE) throw new Refusal(`more than ${ClientToolLimits.result_bytes} bytes`, path)
  }
}

const honourToJson = (value: unknown, key: string): unknown => {
  if ((typeof value !== "object" || value === null) && typeof value !== "bigint") return value
  const toJson: unknown = Reflect.get(Object(value), "toJSON", value)
  return typeof toJson === "function" ? toJson.call(value, key) : value
}

const unboxed = (value: unknown): unknown =>
  value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt
    ? value.valueOf()
    : value
