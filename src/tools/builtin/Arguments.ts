/**
 * The arguments of a built-in tool, described once: as the JSON Schema that the model sees and as the check of what it
 * sends. Closed and exact: nothing is coerced, no member is passed over. base-protocol section 6 (`tool_invalid_arguments`).
 */
import { Effect } from "effect"
import type { JsonObject } from "../../protocol/Json.ts"
import { boolean, type Check, decodeClosed, faultAt, integerBetween, type Shape } from "../../protocol/Params.ts"
import { ToolFailure } from "../Tool.ts"

/** The check of one member, with its JSON Schema. */
interface Field<out A> extends Check<A> {
  readonly schema: JsonObject
}

const field = <A>(schema: JsonObject, check: Check<A>): Field<A> => Object.assign(check.bind(undefined), { schema })

/** A shape whose every check has a schema. */
type Described<T> = Shape<T> & {
  readonly required: { readonly [name: string]: Field<unknown> }
  readonly optional?: { readonly [name: string]: Field<unknown> }
}

/** A string. `filled`: not empty. A NUL can be in no path and no command, so it is refused unless `anyCharacter`. */
export const text = (
  description: string,
  options: { readonly filled?: boolean; readonly anyCharacter?: boolean } = {}
): Field<string> =>
  field({ type: "string", description, ...(options.filled ? { minLength: 1 } : {}) }, (value, path) => {
    if (typeof value !== "string") return faultAt(path, "must be a string")
    if (options.filled && value === "") return faultAt(path, "must not be empty")
    if (!options.anyCharacter && value.includes("\0")) return faultAt(path, "must not contain a NUL character")
    return undefined
  })

export const integer = (description: string, least: number, most: number): Field<number> =>
  field({ type: "integer", description, minimum: least, maximum: most }, integerBetween(least, most))

export const flag = (description: string): Field<boolean> => field({ type: "boolean", description }, boolean)

/** A call with arguments that break their schema; the message has a pointer and no value. */
export const invalidArguments = (message: string, pointer = ""): ToolFailure =>
  new ToolFailure({
    code: "tool_invalid_arguments",
    message: `invalid arguments${pointer === "" ? "" : ` at ${pointer}`}: ${message}`
  })

export interface Arguments<A> {
  readonly inputSchema: JsonObject
  readonly decode: (args: JsonObject) => Effect.Effect<A, ToolFailure>
}

const schemas = (fields: { readonly [name: string]: Field<unknown> } = {}): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))

/** `T`: what the tool takes; each of its members needs a field of its own type. */
export const defineArguments = <T>(described: Described<T>): Arguments<T> => ({
  inputSchema: {
    type: "object",
    properties: { ...schemas(described.required), ...schemas(described.optional) },
    required: Object.keys(described.required),
    additionalProperties: false
  },
  decode: (args) =>
    Effect.mapError(Effect.fromResult(decodeClosed<T>(args, described)), (fault) =>
      invalidArguments(fault.message, fault.path)
    )
})
