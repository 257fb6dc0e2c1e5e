/**
 * PEM private-key blocks, whole, with real or escaped line ends; a block without its end as far as its lines go.
 *
 * base-protocol section 6, Redaction.
 */
import { BETWEEN, type Rule } from "../Spans.ts"

const begin = /-{3,5} ?BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)? ?-{3,5}/g
const end = /-{3,5} ?END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)? ?-{3,5}/g

/** Lines of a block that was cut off: base64 of some length, headers such as `Proc-Type: 4,ENCRYPTED`, quotes and joins of source code. */
const body =
  /(?:[\s"'`+,>#*]|\\[nrt\\"])*(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]{0,128}|[A-Za-z0-9+/=_-]{16,})/y

export const privateKeys: Rule = (text, report) => {
  begin.lastIndex = 0
  const ends = endsOf(text)
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const start = match.index
    let at = start + match[0].length
    const close = ends(at)
    if (close !== undefined) at = close
    else {
      body.lastIndex = at
      while (body.test(text)) at = body.lastIndex
    }
    report(start, at)
    begin.lastIndex = at
  }
}

/** Behind the end line that follows `at` in the same string. Asked in rising order, so that each end is looked for once. */
const endsOf = (text: string): ((at: number) => number | undefined) => {
  let found: { readonly start: number; readonly next: number } | undefined
  let none = false
  return (at) => {
    while (!none && (found === undefined || found.start < at)) {
      end.lastIndex = at
      const match = end.exec(text)
      if (match === null) none = true
      else found = { start: match.index, next: match.index + match[0].length }
    }
    if (none || found === undefined) return undefined
    const stop = text.indexOf(BETWEEN, at)
    return stop === -1 || stop > found.start ? found.next : undefined
  }
}
