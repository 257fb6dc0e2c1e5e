/** Finds the tokens of `TokenFormats.ts`. base-protocol section 6, Redaction. */
import { isPlaceholder } from "../Placeholders.ts"
import type { Rule } from "../Spans.ts"
import { type Alphabet, type TokenFormat, tokenFormats } from "./TokenFormats.ts"

const characters: { readonly [name in Alphabet]: string } = {
  hex: "A-Fa-f0-9",
  letters: "A-Za-z",
  alnum: "A-Za-z0-9",
  upper: "A-Z0-9",
  word: "A-Za-z0-9_",
  url: "A-Za-z0-9_-",
  dotted: "A-Za-z0-9_.-",
  base64: "A-Za-z0-9+/_=-",
  any: "A-Za-z0-9+/_=.~-"
}

interface Candidate {
  readonly prefix: string
  readonly body: RegExp
  readonly mixed: boolean
  readonly ending: string
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")

/** A body that must end ends where its alphabet does: a longer run of characters is something else. */
const candidates = ({ alphabet, ending = "", max, min, mixed, prefixes }: TokenFormat): ReadonlyArray<Candidate> => {
  const set = `[${characters[alphabet]}]`
  const end = max === undefined ? "" : `(?!${set})`
  return prefixes.map((prefix) => ({
    prefix,
    body: new RegExp(`${escape(prefix)}${set}{${min},${max ?? ""}}${end}`, "y"),
    mixed: mixed === true,
    ending
  }))
}

/** By their first two characters (ASCII); the longest prefix first. */
const byStart: ReadonlyMap<number, ReadonlyArray<Candidate>> = Map.groupBy(
  tokenFormats.flatMap(candidates).sort((a, b) => b.prefix.length - a.prefix.length),
  ({ prefix }) => startKey(prefix.charCodeAt(0), prefix.charCodeAt(1))
)

function startKey(first: number, second: number): number {
  return first * 128 + second
}

/** First characters of prefixes; `_` begins some. */
const mayBegin: ReadonlyArray<boolean> = Array.from({ length: 128 }, (_, code) =>
  [...byStart.keys()].some((key) => Math.floor(key / 128) === code)
)

/** Letters, digits, and what joins a token to the text before it so that it is not one: tokens begin words. */
const isInside = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2b ||
  code === 0x2e

/** An escape of source code or a URL ends before `at`: `\n`, `%3D`. */
const followsEscape = (text: string, at: number): boolean =>
  text.charCodeAt(at - 2) === 0x5c || text.charCodeAt(at - 3) === 0x25

export const tokens: Rule = (text, report) => {
  let before = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const begins = code < 128 && mayBegin[code] === true
    if (begins && (!isInside(before) || followsEscape(text, at))) {
      const end = tokenEnd(text, at, code)
      if (end !== undefined) {
        report(at, end)
        at = end
        before = 0
        continue
      }
    }
    before = code
    at += 1
  }
}

const tokenEnd = (text: string, at: number, code: number): number | undefined => {
  const found = byStart.get(startKey(code, text.charCodeAt(at + 1)))
  if (found === undefined) return undefined
  for (const { body, ending, mixed, prefix } of found) {
    body.lastIndex = at
    if (!text.startsWith(prefix, at) || !body.test(text)) continue
    const token = text.slice(at + prefix.length, body.lastIndex).replace(/\.+$/, "")
    if (!token.endsWith(ending) || (mixed && !(/\d/.test(token) && /[A-Za-z]/.test(token))) || isPlaceholder(token))
      continue
    return at + prefix.length + token.length
  }
  return undefined
}
