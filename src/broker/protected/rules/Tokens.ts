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
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")

/** A body that must end ends where its alphabet does: a longer run of characters is something else. */
const candidates = ({ alphabet, max, min, mixed, prefixes }: TokenFormat): ReadonlyArray<Candidate> => {
  const set = `[${characters[alphabet]}]`
  const end = max === undefined ? "" : `(?!${set})`
  return prefixes.map((prefix) => ({
    prefix,
    body: new RegExp(`${escape(prefix)}${set}{${min},${max ?? ""}}${end}`, "y"),
    mixed: mixed === true
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

const BEGINS = 1
const INSIDE = 2

/**
 * Of each ASCII character: whether a prefix begins with it, and whether it joins what follows to a word. Tokens begin
 * words; `+` stands in base64 and `.` in host names, where what follows is no token either.
 */
const classes: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const begins = [...byStart.keys()].some((key) => Math.floor(key / 128) === code)
  return (begins ? BEGINS : 0) | (/[A-Za-z0-9+.]/.test(String.fromCharCode(code)) ? INSIDE : 0)
})

/** An escape of source code or a URL ends before `at`: `\n`, `%3D`. */
const followsEscape = (text: string, at: number): boolean =>
  text.charCodeAt(at - 2) === 0x5c || text.charCodeAt(at - 3) === 0x25

export const tokens: Rule = (text, report) => {
  let before = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (classes[code] ?? 0) : 0
    if ((kind & BEGINS) !== 0 && ((before & INSIDE) === 0 || followsEscape(text, at))) {
      const end = tokenEnd(text, at, code)
      if (end !== undefined) {
        report(at, end)
        at = end - 1
        before = 0
        continue
      }
    }
    before = kind
  }
}

const tokenEnd = (text: string, at: number, code: number): number | undefined => {
  const found = byStart.get(startKey(code, text.charCodeAt(at + 1)))
  if (found === undefined) return undefined
  for (const { body, mixed, prefix } of found) {
    body.lastIndex = at
    if (!text.startsWith(prefix, at) || !body.test(text)) continue
    const token = text.slice(at + prefix.length, body.lastIndex).replace(/\.+$/, "")
    if ((mixed && !(/\d/.test(token) && /[A-Za-z]/.test(token))) || isPlaceholder(token)) continue
    return at + prefix.length + token.length
  }
  return undefined
}
