/**
 * Userinfo in URLs: what stands between `scheme://` and the last `@` of the authority.
 *
 * base-protocol section 6, Redaction.
 */
import type { Rule } from "../Spans.ts"

/** A character that cannot stand in an authority, however badly its password was escaped. */
const isStop = (code: number): boolean =>
  code <= 0x20 ||
  code === 0x22 || // "
  code === 0x27 || // '
  code === 0x2f || // /
  code === 0x3c || // <
  code === 0x3e || // >
  code === 0x5c || // \
  code === 0x60 // `

/** Something other than a port behind the first colon: a password, which may hold an unescaped `?` or `#`. */
const password = /:(?!\d{0,5}$)/

export const urlUserinfo: Rule = (text, report) => {
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at)) {
    const start = at + 3
    at = start
    if (!/[A-Za-z0-9]/.test(text.charAt(start - 4))) continue
    let query = -1
    while (at < text.length && !isStop(text.charCodeAt(at))) {
      if (query === -1 && "?#".includes(text.charAt(at))) query = at
      at += 1
    }
    const authority = text.slice(start, query === -1 ? at : query)
    const last = authority.lastIndexOf("@")
    if (last > 0) report(start, start + last)
    else if (query !== -1 && last === -1 && password.test(authority)) {
      const behind = text.slice(query, at).lastIndexOf("@")
      if (behind > 0) report(start, query + behind)
    }
  }
}
