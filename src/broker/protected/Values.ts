/** How far a value reaches that is written in a text: quoted, bracketed or bare. All in time linear in what is passed over. */

import { REDACTED } from "./Spans.ts"

export const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** `"`, `'` and the backtick. */
export const isQuote = (code: number): boolean => code === 0x22 || code === 0x27 || code === 0x60

/** What ends a bare value for certain: white space, quotes, `<`, and the mark between two strings. */
const isHardStop = (code: number): boolean =>
  code <= 0x20 || isQuote(code) || code === 0x3c || code === 0xa0 || code === 0x2028 || code === 0x2029

/** What ends a bare value where a separator is meant: `a=1;b=2`, `f(a=1)`, `{a=1}`. A password may hold them too. */
const softStops = ",;&)]}>|"

/** Where the bare value that begins at `start` ends. */
export const unquotedEnd = (text: string, start: number): number => {
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isHardStop(code)) break
    // What is redacted already stays whole, so that a protected text is its own protected form.
    if (code === 0x5b && text.startsWith(REDACTED, at)) {
      at += REDACTED.length
      continue
    }
    if (softStops.includes(text.charAt(at))) {
      const after = skipSoftStops(text, at)
      if (after >= text.length || isHardStop(text.charCodeAt(after)) || after - at >= 8 || beginsPair(text, after))
        break
      at = after
    } else at += 1
  }
  return at
}

const skipSoftStops = (text: string, from: number): number => {
  let at = from
  while (at < text.length && at < from + 8 && softStops.includes(text.charAt(at))) at += 1
  return at
}

const pair = /["'\\]{0,2}[\w.-]{1,64}["'\\]{0,2}[=:]/y

const beginsPair = (text: string, at: number): boolean => {
  pair.lastIndex = at
  return pair.test(text)
}

export interface Quoted {
  /** First character of the value. */
  readonly start: number
  readonly end: number
  /** Behind the closing quote. */
  readonly next: number
}

const opening = /(?:[bBrRuUfF]{1,2}|[@$])?(\\{0,4})("""|'''|["'`])/y

/**
 * The quoted value that begins at `at`: with a prefix (`b"…"`), escaped quotes (JSON inside a string), or three quotes.
 * An open quote reaches to the end of its line. `undefined`: there is no quote.
 */
export const quotedEnd = (text: string, at: number): Quoted | undefined => {
  opening.lastIndex = at
  const found = opening.exec(text)
  if (found === null) return undefined
  const [all, escapes = "", quote = ""] = found
  const start = at + all.length
  const multiline = quote.length === 3 || quote === "`"
  const closer = quote.charCodeAt(0)
  for (let i = start; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 0 || (!multiline && (code === 0x0a || code === 0x0d))) return { start, end: i, next: i }
    if (escapes !== "" && text.startsWith(escapes + quote, i))
      return { start, end: i, next: i + escapes.length + quote.length }
    if (code === 0x5c && escapes === "" && text.charCodeAt(i + 1) !== 0) i += 1
    else if (code === closer && escapes === "" && text.startsWith(quote, i))
      return { start, end: i, next: i + quote.length }
  }
  return { start, end: text.length, next: text.length }
}

const blockMark = /[|>][+-]?\d?[ \t]*\r?\n/y

/**
 * The block of text that YAML hangs below `name: |`: the lines that follow with more white space before them than the
 * line of the name has. `undefined`: there is no such mark at `at`.
 */
export const blockEnd = (text: string, at: number): { readonly start: number; readonly end: number } | undefined => {
  blockMark.lastIndex = at
  if (!blockMark.test(text)) return undefined
  const start = blockMark.lastIndex
  const own = indent(text, text.lastIndexOf("\n", at) + 1)
  let end = start
  let next = start
  while (next < text.length && text.charCodeAt(next) !== 0) {
    const line = text.indexOf("\n", next)
    const stop = line === -1 ? text.length : line
    const blank = text.slice(next, stop).trim() === ""
    if (!blank && indent(text, next) <= own) break
    if (!blank) end = stop
    next = stop + 1
  }
  return end === start ? undefined : { start: start + indent(text, start), end }
}

const indent = (text: string, at: number): number => {
  let end = at
  while (isSpace(text.charCodeAt(end))) end += 1
  return end - at
}

/** Behind the bracket that closes the one at `at`, brackets inside strings aside; the end of the text if none does. */
export const closingBracket = (text: string, at: number): number => {
  let depth = 0
  let quote = 0
  for (let i = at; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 0) return i
    if (quote !== 0) {
      if (code === 0x5c && text.charCodeAt(i + 1) !== 0) i += 1
      else if (code === quote) quote = 0
    } else if (code === 0x22) quote = code
    else if (code === 0x7b || code === 0x5b) depth += 1
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1
      if (depth === 0) return i + 1
    }
  }
  return text.length
}

/**
 * A value that nobody would write by hand: digits and letters mixed, many different characters, no words with separators
 * between them, no UUID, date, version or path.
 */
export const looksRandom = (value: string): boolean => {
  const digits = value.replace(/\D/g, "").length
  if (digits < 3 || digits === value.length || !/[A-Za-z]/.test(value)) return false
  if (
    uuid.test(value) ||
    /^[a-z]{2,16}(?:[._/-][a-z]{2,16}){2}/i.test(value) ||
    (value.includes("/") && value.includes("."))
  )
    return false
  return entropy(value) >= 3
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Shannon entropy in bits a character. */
const entropy = (value: string): number => {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}
