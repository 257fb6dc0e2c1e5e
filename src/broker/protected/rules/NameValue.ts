/**
 * `name=value` and `name: value` for secret names, as configuration files, command lines, headers, URLs, source code and
 * JSON inside text write them.
 *
 * base-protocol section 6, Redaction. Written as a scanner, not as a pattern: from each separator it looks back at the
 * name and forward at the value, and never looks at a stretch of text twice in either direction.
 */
import { isHeaderName, isSecretName } from "../SecretNames.ts"
import type { Report, Rule } from "../Spans.ts"
import { blockEnd, closingBracket, isQuote, isSpace, quotedEnd, unquotedEnd } from "../Values.ts"

/** Spaces between name, separator and value. Aligned columns are wide; text is not. */
const MAX_SPACES = 64

const isNameCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === 0x2d ||
  code === 0x2e

interface Name {
  readonly name: string
  readonly start: number
}

/**
 * The name that ends just before `at`, over the rest of an operator (`?=`, `.=`, `!=`), spaces, and what closes a name:
 * `"name" :`, `env['NAME'] =`.
 */
const nameBefore = (text: string, at: number, floor: number): Name | undefined => {
  let end = at
  while (end > floor && end > at - 2 && "?:+|~!.".includes(text.charAt(end - 1))) end -= 1
  end = skipBack(text, end, floor, isSpace, MAX_SPACES)
  end = skipBack(text, end, floor, isCloser, 4)
  const start = skipBack(text, end, floor, isNameCharacter, end - floor)
  if (start === end) return undefined
  const name = text.slice(start, end)
  return typeNames.has(name) ? (typedName(text, start, floor) ?? { name, start }) : { name, start }
}

/** Types that stand between a name and its value: `var token string = "…"`. */
const typeNames: ReadonlySet<string> = new Set(["string", "String", "str", "byte", "bytes", "char", "text", "NSString"])

const typedName = (text: string, typeStart: number, floor: number): Name | undefined => {
  const end = skipBack(text, typeStart, floor, isSpace, MAX_SPACES)
  const start = skipBack(text, end, floor, isNameCharacter, end - floor)
  return start === end || end === typeStart ? undefined : { name: text.slice(start, end), start }
}

const isCloser = (code: number): boolean =>
  isQuote(code) || code === 0x5d || code === 0x5c || code === 0x29 || code === 0x2a

const skipBack = (text: string, from: number, floor: number, is: (code: number) => boolean, most: number): number => {
  const stop = Math.max(floor, from - most)
  let at = from
  while (at > stop && is(text.charCodeAt(at - 1))) at -= 1
  return at
}

/** Reports the value that begins at or after `from`; gives where to go on. */
const value = (text: string, from: number, header: boolean, opener: number, report: Report): number => {
  let start = from
  const limit = Math.min(text.length, from + MAX_SPACES)
  while (start < limit && isSpace(text.charCodeAt(start))) start += 1
  const block = blockEnd(text, start)
  if (block !== undefined) {
    report(block.start, block.end)
    return block.end
  }
  const quoted = quotedEnd(text, start)
  if (quoted !== undefined) {
    report(quoted.start, quoted.end)
    return quoted.next
  }
  const first = text.charCodeAt(start)
  if (first === 0x7b || first === 0x5b) {
    const end = closingBracket(text, start)
    report(start, end)
    return end
  }
  const end = header ? lineEnd(text, start, opener) : unquotedEnd(text, start)
  report(start, end)
  return end
}

/** To the end of the line, or to the quote that stood before the name (`-H "Authorization: Token …"`). */
const lineEnd = (text: string, from: number, opener: number): number => {
  let at = from
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x0d || code === 0 || code === opener) break
    // A line inside a string of source code or JSON ends with its escape.
    if (code === 0x5c && (text.charAt(at + 1) === "n" || text.charAt(at + 1) === "r")) break
  }
  return at
}

const separator = /[=:]/g

/** Redacts the values of secret names. Empty values stay as they are. */
export const nameValue: Rule = (text, report) => {
  let floor = 0
  separator.lastIndex = 0
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const at = match.index
    const code = text.charCodeAt(at)
    const found = nameBefore(text, at, floor)
    let next = at + 1
    while (next < text.length && next < at + 4 && "=>:~".includes(text.charAt(next))) next += 1
    if (found === undefined || !isSecretName(found.name) || isAddress(text, at)) {
      floor = next
      separator.lastIndex = next
      continue
    }
    const before = found.start > 0 ? text.charCodeAt(found.start - 1) : 0
    const header = code === 0x3a && next === at + 1 && isHeaderName(found.name)
    const end = value(text, next, header, isQuote(before) ? before : -1, report)
    floor = code === 0x3a ? typed(text, end, report) : end
    separator.lastIndex = floor
  }
}

/** `token://` is the scheme of an address, not a name. */
const isAddress = (text: string, at: number): boolean => text.startsWith("://", at)

/** `password: string = "…"`: what stood behind the colon was a type, and the value follows. */
const typed = (text: string, from: number, report: Report): number => {
  let at = from
  const limit = Math.min(text.length, from + MAX_SPACES)
  while (at < limit && isSpace(text.charCodeAt(at))) at += 1
  if (text.charAt(at) !== "=" || text.charAt(at + 1) === "=" || text.charAt(at + 1) === ">") return from
  return value(text, at + 1, false, -1, report)
}
