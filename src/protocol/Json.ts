/**
 * JSON as a type. Keys such as `__proto__` are ordinary data: build objects with `Object.defineProperty`-safe
 * code (`JSON.parse`, `Object.fromEntries`, spread), never by plain assignment of an unknown key.
 *
 * base-protocol section 1.
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object, with any keys. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** True for a JSON object: not null, not an array. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
