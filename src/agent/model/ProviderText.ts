/**
 * Text on its way to and from a provider. What a provider would refuse (a lone surrogate, a name outside its rules) is
 * mended on the way out, so that it can never make a session unusable; what a provider says of an error is cleaned on the
 * way in, so that no key and no control character gets into a message.
 */
import { isJsonObject, type Json } from "../../protocol/Json.ts"

/** Puts text together from pieces that may be cut inside a surrogate pair. A half that stays alone becomes U+FFFD. */
export class TextJoiner {
  private held = ""

  /** The text that is complete with this piece. */
  push(piece: string): string {
    const text = this.held + piece
    const last = text.charCodeAt(text.length - 1)
    const cut = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
    this.held = text.slice(cut)
    return text.slice(0, cut).toWellFormed()
  }

  /** What was held back. */
  end(): string {
    const text = this.held.toWellFormed()
    this.held = ""
    return text
  }
}

/** The value with every string well-formed, keys included; the same value where nothing had to be mended. */
export const wellFormed = (value: Json): Json => {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== "object" || value === null) return value
  if (isJsonObject(value)) {
    let changed = false
    const members = Object.entries(value).map(([key, member]): [string, Json] => {
      const mended = wellFormed(member)
      if (mended !== member || !key.isWellFormed()) changed = true
      return [key.toWellFormed(), mended]
    })
    return changed ? Object.fromEntries(members) : value
  }
  const items = value.map(wellFormed)
  return items.some((item, at) => item !== value[at]) ? items : value
}

const unprintable = /[\p{Cc}\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]+/gu
const KEY_PART = 8

/** True when the text repeats a recognizable part of the key. */
const repeatsKey = (text: string, key: string): boolean => {
  const part = Math.min(KEY_PART, key.length)
  for (let at = 0; at + part <= key.length; at++) {
    if (text.includes(key.slice(at, at + part))) return true
  }
  return false
}

/** A provider's own words, on one line, at most `length` characters; without them where they repeat part of the key. */
export const providerWords = (text: string, key: string | null, length: number): string => {
  const words = text.toWellFormed().replace(unprintable, " ").replace(/ {2,}/g, " ").trim()
  if (key !== null && key !== "" && repeatsKey(words, key)) return "(its message repeats the key and is left out)"
  return words.length > length ? `${words.slice(0, length).toWellFormed()}…` : words
}
