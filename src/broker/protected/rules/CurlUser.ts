/** `curl -u user:password`, as scanners of source code know it (gitleaks). Beyond base-protocol section 6, Redaction. */
import type { Rule } from "../Spans.ts"
import { quotedEnd, unquotedEnd } from "../Values.ts"

const flag = /(?<=\s)(?:-u|--user)(?:=|[ \t]{1,8})/g

/** How far before the flag `curl` may stand. */
const REACH = 512

/** `user:password` and other words that stand for themselves, and what a shell or a template puts in place. */
const placeholder = /^[$<{[:]|:[$<{[]|^(?:user(?:name)?|login|name):(?:pass(?:word)?|token|secret|key)$/i

export const curlUser: Rule = (text, report) => {
  for (const match of text.matchAll(flag)) {
    if (!isCurl(text, match.index)) continue
    const start = match.index + match[0].length
    const quoted = quotedEnd(text, start)
    const end = quoted?.end ?? partlyQuotedEnd(text, start)
    const credentials = text.slice(quoted?.start ?? start, end)
    if (!credentials.includes(":") || placeholder.test(credentials)) continue
    report(quoted?.start ?? start, end)
  }
}

/** On the same command line: line ends behind a backslash go on. */
const isCurl = (text: string, at: number): boolean => {
  const before = text.slice(Math.max(0, at - REACH), at)
  const line = before.slice(lineStart(before))
  return /\bcurl\b/.test(line)
}

const lineStart = (text: string): number => {
  for (let at = text.lastIndexOf("\n"); at !== -1; at = text.lastIndexOf("\n", at - 1)) {
    if (at === 0 || !/\\\r?$/.test(text.slice(Math.max(0, at - 2), at))) return at + 1
  }
  return 0
}

/** `user:'password'`: the quote opens inside the word. */
const partlyQuotedEnd = (text: string, start: number): number => {
  const end = unquotedEnd(text, start)
  const quoted = text.charAt(end - 1) === ":" ? quotedEnd(text, end) : undefined
  return quoted?.end ?? end
}
