/**
 * What JSON.parse lets pass and base-protocol section 1 does not: duplicate keys, too deep nesting, lone surrogates, and
 * numbers that do not survive as a double. One linear pass over text that JSON.parse has accepted already, without
 * recursion, so that 30000 open brackets cost what 30000 characters cost.
 */
import * as JsonPointer from "./JsonPointer.ts"

/** The rules beyond the grammar. */
export type JsonRule = "duplicate_key" | "depth" | "lone_surrogate" | "number"

/** The first place at which each broken rule was broken, in document order: a JSON Pointer from the root. */
export type BrokenRules = ReadonlyMap<JsonRule, string>

export interface Scan {
  /** Everything but what is `inside`. */
  readonly outside: BrokenRules
  /** The value at the member path that the caller named, and all it holds. */
  readonly inside: BrokenRules
  /** Keys that the root object has more than once. */
  readonly repeatedRootKeys: ReadonlySet<string>
}

interface Container {
  /** The keys seen so far; `undefined` for an array. */
  readonly keys: Set<string> | undefined
  /** The key of the current member, or the index of the current item. */
  at: string | number
  expectsKey: boolean
}

const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const UPPER_E = 0x45
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LOWER_E = 0x65
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Index of the quote that ends the string whose first character is at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    at += code === BACKSLASH ? 2 : 1
  }
}

const unescape = (raw: string): string => {
  if (!raw.includes("\\")) return raw
  const value: unknown = JSON.parse(`"${raw}"`)
  return typeof value === "string" ? value : raw
}

// A raw surrogate beside an escaped one makes no character: both forms must be well-formed.
const isWellFormed = (raw: string, value: string): boolean => raw.isWellFormed() && value.isWellFormed()

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

const continuesNumber = (code: number): boolean =>
  isDigit(code) || code === POINT || code === LOWER_E || code === UPPER_E || code === PLUS || code === MINUS

const endOfNumber = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && continuesNumber(text.charCodeAt(at))) at++
  return at
}

/** The digits of the integer that an ECMAScript number form such as `1.5e+21` denotes. */
const integerDigits = (form: string): string => {
  const [mantissa = "", exponent] = form.split("e+")
  if (exponent === undefined) return form
  const [whole = "", fraction = ""] = mantissa.split(".")
  return whole + fraction.padEnd(Number(exponent), "0")
}

/**
 * Whether a number literal survives as an IEEE-754 double: it must not overflow, and an integer literal must denote the
 * same integer as the ECMAScript form of its double. Fractions and exponents are doubles.
 */
export const survives = (literal: string): boolean => {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(literal)) return true
  return integerDigits(String(value)) === literal
}

/** Scans text that JSON.parse accepts. `inside` names the members that lead to the part reported apart. */
export const scan = (text: string, maxDepth: number, inside: ReadonlyArray<string> = []): Scan => {
  const outsideRules = new Map<JsonRule, string>()
  const insideRules = new Map<JsonRule, string>()
  const repeatedRootKeys = new Set<string>()
  const stack: Array<Container> = []

  const isInside = (levels: number) =>
    inside.length > 0 && levels >= inside.length && inside.every((key, level) => stack[level]?.at === key)

  const pointer = (levels: number) => JsonPointer.join("", ...stack.slice(0, levels).map((container) => container.at))

  /** A fault of the value that is being read. */
  const value = (rule: JsonRule) => {
    const rules = isInside(stack.length) ? insideRules : outsideRules
    if (!rules.has(rule)) rules.set(rule, pointer(stack.length))
  }
  /** A fault of the key that is being read: it belongs to the object that holds it, not to the member's value. */
  const key = (rule: JsonRule) => {
    const rules = isInside(stack.length - 1) ? insideRules : outsideRules
    // A key with a lone surrogate cannot stand in a pointer.
    if (!rules.has(rule)) rules.set(rule, pointer(rule === "lone_surrogate" ? stack.length - 1 : stack.length))
  }

  const readKey = (container: Container, keys: Set<string>, raw: string) => {
    const name = unescape(raw)
    container.at = name
    container.expectsKey = false
    if (!isWellFormed(raw, name)) key("lone_surrogate")
    if (!keys.has(name)) {
      keys.add(name)
      return
    }
    key("duplicate_key")
    if (stack.length === 1) repeatedRootKeys.add(name)
  }

  let at = 0
  while (at < text.length) {
    const container = stack[stack.length - 1]
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at + 1)
      const raw = text.slice(at + 1, end)
      if (container?.keys && container.expectsKey) readKey(container, container.keys, raw)
      else if (!isWellFormed(raw, unescape(raw))) value("lone_surrogate")
      at = end + 1
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      if (!survives(text.slice(at, end))) value("number")
      at = end
    } else {
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        if (stack.length >= maxDepth) value("depth")
        const isObject = code === OPEN_OBJECT
        stack.push({ keys: isObject ? new Set() : undefined, at: isObject ? "" : 0, expectsKey: isObject })
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        stack.pop()
      } else if (code === COMMA && container) {
        if (container.keys) container.expectsKey = true
        else if (typeof container.at === "number") container.at += 1
      }
      at += 1
    }
  }
  return { outside: outsideRules, inside: insideRules, repeatedRootKeys }
}
