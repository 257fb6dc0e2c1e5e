/**
 * The values of the authorization schemes `Bearer` and `Basic`, wherever they stand.
 *
 * base-protocol section 6, Redaction. Both words are English words too: `basic` is followed by a credential only if what
 * follows does not read like a word, `bearer` unless a noun of the scheme follows.
 */
import type { Rule } from "../Spans.ts"

/** RFC 9110 token68 with what real tokens add to it. The scheme's name begins a word; white space or its URL form follows. */
const scheme =
  /(?<![\p{L}\p{N}_])(bearer|basic)(?:[ \t]{1,16}|%20|\+|:[ \t]{0,16})["']?([A-Za-z0-9._~+/|:!*=-]{1,16384})/giu

const nouns =
  /^(?:token|tokens|auth|authentication|authorization|credential|credentials|scheme|schemes|header|headers|format|realm|type|of|is|or|and|and\/or|in|as|for|the|a|to|with|was|has|not|key|keys|value)[.:=!]*$/i

/** `Basic` as a word of prose is followed by one: letters only, capital or not. */
const word = /^[A-Za-z]?[a-z]*[.:!*/-]*(?:[A-Za-z]?[a-z]*)[.:!*/=-]*$/

export const authorization: Rule = (text, report) => {
  for (const match of text.matchAll(scheme)) {
    const [all, name = "", credential = ""] = match
    if (nouns.test(credential)) continue
    if (name.toLowerCase() === "basic" && isProse(name, credential)) continue
    const end = match.index + all.length
    report(end - credential.length, end)
  }
}

/** Basic credentials are base64 of `user:password`; what decodes to that is one even if it looks like a word. */
const isProse = (name: string, credential: string): boolean => {
  if (
    credential.length >= 4 &&
    Buffer.from(credential, "base64").includes(0x3a) &&
    /^[A-Za-z0-9+/_=-]+$/.test(credential)
  ) {
    const decoded = Buffer.from(credential, "base64").toString("latin1")
    if (/^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)) return false
  }
  if (name === "BASIC" && /^[A-Z]+$/.test(credential)) return true
  return word.test(credential)
}
