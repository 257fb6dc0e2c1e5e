/**
 * JSON as base-protocol section 1 takes it: RFC 8259 in UTF-8 without a byte order mark, and also no duplicate keys, no
 * lone surrogates, no numbers that would be rounded or overflow. Keys such as `__proto__` are data.
 */
import * as Result from "effect/Result"
import type { Json } from "./Json.ts"
import { type BrokenRules, type JsonRule, scan } from "./JsonScan.ts"

/** `syntax` is the grammar; the others are in `JsonScan`. */
export type { JsonRule } from "./JsonScan.ts"

/** A broken rule. `path` is a JSON Pointer at the member, `""` for the whole text; `message` holds no value. */
export interface JsonFault {
  readonly rule: "syntax" | JsonRule
  readonly path: string
  readonly message: string
}

const messages: Readonly<Record<JsonFault["rule"], string>> = {
  syntax: "not JSON",
  duplicate_key: "duplicate key",
  depth: "nested too deeply",
  lone_surrogate: "lone surrogate",
  number: "a number that does not survive as a double"
}

const fault = (rule: JsonFault["rule"], path: string): JsonFault => ({ rule, path, message: messages[rule] })

/** The first of the broken rules, in document order; with `among`, the first of those. */
export const firstFault = (broken: BrokenRules, among?: ReadonlyArray<JsonRule>): JsonFault | undefined => {
  for (const [rule, path] of broken) {
    if (among === undefined || among.includes(rule)) return fault(rule, path)
  }
  return undefined
}

/** The grammar alone: JSON.parse without its message, which would repeat the text. */
export const parseSyntax = (text: string): Result.Result<Json, JsonFault> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(fault("syntax", ""))
  }
}

/**
 * Parses by every rule of section 1. `maxDepth` bounds the nesting of containers, the root being depth 1; without it any
 * depth is taken (a model's arguments are measured afterwards: beyond the frame they are `client_tool_payload_limit`).
 */
export const parse = (text: string, options?: { readonly maxDepth?: number }): Result.Result<Json, JsonFault> => {
  const parsed = parseSyntax(text)
  if (Result.isFailure(parsed)) return parsed
  const broken = firstFault(scan(text, options?.maxDepth ?? Number.POSITIVE_INFINITY).outside)
  return broken ? Result.fail(broken) : parsed
}

// `ignoreBOM` keeps a byte order mark in the text, where the grammar refuses it.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of strictly valid UTF-8; `undefined` for anything else, never a replacement character. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
