/**
 * Compact JSON: how everything is written and measured. No insignificant whitespace, non-ASCII unescaped.
 *
 * base-protocol section 1 ("compact serialized bytes") and section 4 (bounds on texts).
 */
import { Buffer } from "node:buffer"
import type { Json } from "./Json.ts"

// JSON.stringify escapes a lone surrogate and nothing else in this way; the run of backslashes before the match tells it
// from an escaped backslash followed by plain text.
const escapedSurrogate = /(\\+)ud[89a-f][0-9a-f]{2}/g

/** `JSON.stringify` recurses and gives up some thousands of containers deep; this does not. */
const stringifyDeep = (value: Json): string => {
  let text = ""
  const pending: Array<{ readonly text: string } | { readonly value: Json }> = [{ value }]
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if ("text" in item) {
      text += item.text
    } else if (typeof item.value !== "object" || item.value === null) {
      text += JSON.stringify(item.value)
    } else {
      const isArray = Array.isArray(item.value)
      const members = Object.entries(item.value)
      pending.push({ text: isArray ? "]" : "}" })
      for (const [index, [key, member]] of [...members.entries()].reverse()) {
        const comma = index === 0 ? "" : ","
        pending.push({ value: member }, { text: isArray ? comma : `${comma}${JSON.stringify(key)}:` })
      }
      text += isArray ? "[" : "{"
    }
  }
  return text
}

const stringifyNative = (value: Json): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return stringifyDeep(value)
    throw error
  }
}

/**
 * The compact form, of any depth. A lone surrogate is not JSON here, so it becomes U+FFFD: nothing else can reach the wire. Where a
 * lone surrogate must be refused instead, refuse it before (`isEncodable`, `StrictJson.parse`).
 */
export const stringify = (value: Json): string => {
  const text = stringifyNative(value)
  if (!text.includes("\\ud")) return text
  return text.replace(escapedSurrogate, (match, slashes: string) =>
    slashes.length % 2 === 1 ? `${slashes.slice(1)}\ufffd` : match
  )
}

/** UTF-8 bytes of the compact form. */
export const byteLength = (value: Json): number => Buffer.byteLength(stringify(value))

/** Whether the compact form is the value unchanged: every string and key is well-formed, every number finite. */
export const isEncodable = (value: Json): boolean => {
  const pending: Array<Json> = [value]
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item === "string" && !item.isWellFormed()) return false
    if (typeof item === "number" && !Number.isFinite(item)) return false
    if (typeof item !== "object" || item === null) continue
    if (!Array.isArray(item) && !Object.keys(item).every((key) => key.isWellFormed())) return false
    for (const child of Object.values(item)) pending.push(child)
  }
  return true
}

/** Compact bytes of one character: what the wire needs for it inside a string. */
const characterBytes = (code: number): number => {
  if (code === 0x22 || code === 0x5c) return 2
  if (code < 0x20) return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 2 : 6
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}

/** Compact bytes of a string without its quotes: how the texts of sections 4 and 5 are measured. */
export const textBytes = (text: string): number => {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0
    bytes += characterBytes(code)
    if (code > 0xffff) at++
  }
  return bytes
}

/** Deepest nesting of containers: 0 for a scalar, 1 for `[]`. Takes any depth: it does not recurse. */
export const depth = (value: Json): number => {
  let deepest = 0
  let level: ReadonlyArray<Json> = [value]
  for (;;) {
    const next: Array<Json> = []
    let containers = false
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue
      containers = true
      for (const child of Array.isArray(item) ? item : Object.values(item)) {
        if (typeof child === "object" && child !== null) next.push(child)
      }
    }
    if (!containers) return deepest
    deepest += 1
    level = next
  }
}

/** Where the longest prefix of at most `maxCompactBytes` that begins at `from` ends; never inside a surrogate pair. */
const prefixEnd = (text: string, from: number, maxCompactBytes: number): number => {
  let left = maxCompactBytes
  let at = from
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0
    left -= characterBytes(code)
    if (left < 0) return at
    at += code > 0xffff ? 2 : 1
  }
  return at
}

/**
 * Splits a text into parts of at most `maxCompactBytes` (at least 6, the longest character) on character boundaries. The
 * parts joined are the text, nothing is cut; `[""]` for the empty text.
 */
export const splitText = (text: string, maxCompactBytes: number): Array<string> => {
  const parts: Array<string> = []
  let from = 0
  do {
    const end = prefixEnd(text, from, Math.max(6, maxCompactBytes))
    parts.push(text.slice(from, end))
    from = end
  } while (from < text.length)
  return parts
}

/** The longest prefix of at most `maxCompactBytes`, cut on a character boundary. */
export const truncateText = (text: string, maxCompactBytes: number): string =>
  text.slice(0, prefixEnd(text, 0, maxCompactBytes))
