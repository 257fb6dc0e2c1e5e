/**
 * Values of secret names where no `=` or `:` stands between them: elements of XML, flags of command lines, two string
 * arguments of a call, a name and a value as two members; and values of names that say "key" or "pass" without being one of the names of the spec, if the
 * value looks random.
 *
 * Beyond base-protocol section 6, Redaction, which names `name=value` and `name: value` only.
 */
import { isSecretName } from "../SecretNames.ts"
import type { Report, Rule } from "../Spans.ts"
import { looksRandom, quotedEnd, unquotedEnd } from "../Values.ts"

const element = /<([A-Za-z_][\w.:-]{0,127})(?:\s[^<>\0]{0,256})?>([^<>\0]{1,8192})<\//g

/** `<password>…</password>` */
const elements: Rule = (text, report) => {
  for (const match of text.matchAll(element)) {
    const [all, name = "", content = ""] = match
    if (!isSecretName(localName(name))) continue
    const start = match.index + all.length - 2 - content.length
    const from = start + (content.length - content.trimStart().length)
    report(from, from + content.trim().length)
  }
}

/** `ns:password` is `password` of some namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

const flag = /(?<![\w-])--?([A-Za-z][\w.-]{0,63})[ \t]{1,8}(?![-<$\s])/g

/** `--password …`, `-ClientSecret '…'` */
const flags: Rule = (text, report) => {
  for (const match of text.matchAll(flag)) {
    const [all, name = ""] = match
    if (isSecretName(name)) reportValue(text, match.index + all.length, report, isWord)
  }
}

/** A word of prose behind a flag: `use --token to sign in`. */
const isWord = (value: string): boolean => /^[A-Za-z]?[a-z]{0,6}[.,:;]?$/.test(value)

const twoStrings = /["'`](?:--?)?([A-Za-z_][\w.-]{0,127})["'`]\s{0,8},\s{0,16}["'`]([^\s"'`]{8,1024})["'`]/g

/** `setProperty("API_TOKEN", "…")`; lists of names have no digits in them. */
const pairsOfStrings: Rule = (text, report) => {
  for (const match of text.matchAll(twoStrings)) {
    const [all, name = "", value = ""] = match
    const end = match.index + all.length - 1
    if (isSecretName(name) && /\d/.test(value)) report(end - value.length, end)
  }
}

const nameAndValue =
  /(?<![A-Za-z0-9])(?:key|name)["']?\s{0,4}[=:]\s{0,4}["']?([A-Za-z_][\w.-]{0,127})["']?\s{0,4}[,;]?\s{0,64}["']?value["']?\s{0,4}[=:][ \t]{0,4}/gi

/** `<add key="Password" value="…"/>`, `{"name": "DB_PASSWORD", "value": "…"}`, and the two lines that YAML makes of it. */
const namesWithValues: Rule = (text, report) => {
  for (const match of text.matchAll(nameAndValue)) {
    const [all, name = ""] = match
    if (isSecretName(name)) reportValue(text, match.index + all.length, report, () => false)
  }
}

const keyLike =
  /(?<![A-Za-z0-9])(?:(?:secret|sign|signing|signature|encryption|crypto|master|shared|service|role|account|storage|auth|deploy|hmac|jwt|client|admin|root)[_.-]?key|pass|passphrase|login)["'`\]]{0,2}[ \t]{0,8}(?:=>|[:?]{0,3}=|:)[ \t]{0,8}["'`]?([A-Za-z0-9_+/=.-]{20,512})/gi

/** `secret_key = …` */
const likelyKeys: Rule = (text, report) => {
  for (const match of text.matchAll(keyLike)) {
    const [all, value = ""] = match
    const end = match.index + all.length
    if (looksRandom(value)) report(end - value.length, end)
  }
}

const reportValue = (text: string, at: number, report: Report, except: (bare: string) => boolean): void => {
  const quoted = quotedEnd(text, at)
  const end = quoted?.end ?? unquotedEnd(text, at)
  if (quoted !== undefined || !except(text.slice(at, end))) report(quoted?.start ?? at, end)
}

export const namedText: Rule = (text, report) => {
  for (const rule of [elements, flags, pairsOfStrings, namesWithValues, likelyKeys]) rule(text, report)
}
