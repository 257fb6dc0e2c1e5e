/**
 * Values of secret names where no `=` or `:` stands between them: elements of XML, flags of command lines, two string
 * arguments of a call; and values of names that say "key" or "pass" without being one of the names of the spec, if the
 * value looks random.
 *
 * Beyond base-protocol section 6, Redaction, which names `name=value` and `name: value` only.
 */
import { isSecretName } from "../SecretNames.ts"
import type { Report, Rule } from "../Spans.ts"
import { looksRandom, quotedEnd, unquotedEnd } from "../Values.ts"

const element = /<([A-Za-z_][\w.:-]{0,127})(?:\s[^<>\0]{0,256})?>([^<>\0]{1,8192})<\//g
const flag = /(?<![\w-])--?([A-Za-z][\w.-]{0,63})[ \t]{1,8}(?![-<$\s])/g
const twoStrings = /["'`](?:--?)?([A-Za-z_][\w.-]{0,127})["'`]\s{0,8},\s{0,16}["'`]([^\s"'`]{8,1024})["'`]/g
const keyLike =
  /(?<![A-Za-z0-9])(?:(?:secret|sign|signing|signature|encryption|crypto|master|shared|service|role|account|storage|auth|deploy|hmac|jwt|client|admin|root)[_.-]?key|pass|passphrase|login)["'`\]]{0,2}[ \t]{0,8}(?:=>|[:?]{0,3}=|:)[ \t]{0,8}["'`]?([A-Za-z0-9_+/=.-]{20,512})/gi

export const namedText: Rule = (text, report) => {
  for (const match of text.matchAll(element)) {
    const [all, name = "", content = ""] = match
    if (isSecretName(localName(name)))
      trimmed(text, match.index + all.length - 2 - content.length, content.length, report)
  }
  for (const match of text.matchAll(flag)) {
    const [all, name = ""] = match
    if (!isSecretName(name)) continue
    const at = match.index + all.length
    const quoted = quotedEnd(text, at)
    if (quoted !== undefined) report(quoted.start, quoted.end)
    else {
      const end = unquotedEnd(text, at)
      if (!isWord(text.slice(at, end))) report(at, end)
    }
  }
  for (const match of text.matchAll(twoStrings)) {
    const [all, name = "", value = ""] = match
    if (isSecretName(name) && /\d/.test(value)) end(match.index + all.length - 1, value.length, report)
  }
  for (const match of text.matchAll(keyLike)) {
    const [all, value = ""] = match
    if (looksRandom(value)) end(match.index + all.length, value.length, report)
  }
}

const end = (at: number, length: number, report: Report): void => report(at - length, at)

/** `ns:password` is `password` of some namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

const trimmed = (text: string, start: number, length: number, report: Report): void => {
  const content = text.slice(start, start + length)
  const from = start + (content.length - content.trimStart().length)
  report(from, from + content.trim().length)
}

/** A word of prose behind a flag: `use --token to sign in`. */
const isWord = (value: string): boolean => /^[A-Za-z]?[a-z]{0,6}[.,:;]?$/.test(value)
