/** JSON values as cases build and compare them. */
import { isJsonObject, type Json, type JsonObject } from "../protocol/index.ts"

/** Whether two values are the same, ignoring the order of members. */
export const same = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b) || a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = new Map<string, unknown>(Object.entries(a))
  const right = new Map<string, unknown>(Object.entries(b))
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)))
}

/** `depth` arrays in one another: 1 is `[]`. As text, since it may be deeper than anything takes. */
export const nested = (depth: number, core = ""): string => "[".repeat(depth) + core + "]".repeat(depth)

/** UTF-8 bytes of the compact form. */
export const compactBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

/** Compact bytes of a string without its quotes. */
export const textBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** The member of a value that may be an object: `at(value, "a", 0, "b")`; undefined where there is none. */
export const at = (value: Json | undefined, ...path: ReadonlyArray<string | number>): Json | undefined => {
  let here = value
  for (const step of path) {
    if (Array.isArray(here) && typeof step === "number") here = here[step]
    else if (isJsonObject(here) && typeof step === "string" && Object.hasOwn(here, step)) here = here[step]
    else return undefined
  }
  return here
}

/** A text shortened for a report. */
export const short = (text: string, size = 260): string =>
  text.length > size ? `${text.slice(0, size)}… (${text.length})` : text

/** Any value as text for a report. */
export const shown = (value: unknown, size = 260): string => short(JSON.stringify(value) ?? "undefined", size)

export type { Json, JsonObject }
