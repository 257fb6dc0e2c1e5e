/**
 * Tokens that are known by what stands in their middle: that is looked for first, and the token is the run of characters
 * around it. Beginning at the front would try every word of the text.
 *
 * base-protocol section 6, Redaction.
 */
import type { Rule } from "../Spans.ts"

interface InfixToken {
  readonly provider: string
  readonly source: string
  readonly infix: string
  /** The characters around it. */
  readonly alphabet: RegExp
  readonly token: RegExp
}

export const infixTokens: ReadonlyArray<InfixToken> = [
  {
    provider: "OpenAI",
    source: "gitleaks",
    infix: "T3BlbkFJ",
    alphabet: /[A-Za-z0-9_-]/,
    token: /^sk-[A-Za-z0-9_-]{16,128}T3BlbkFJ[A-Za-z0-9_-]{16,128}$/
  },
  {
    provider: "MaxMind",
    source: "gitleaks",
    infix: "_mmk",
    alphabet: /[A-Za-z0-9_]/,
    token: /^[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk$/
  },
  {
    provider: "Terraform Cloud",
    source: "gitleaks",
    infix: ".atlasv1.",
    alphabet: /[A-Za-z0-9_=.-]/,
    token: /^[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}$/
  },
  {
    provider: "Azure AD client secret",
    source: "gitleaks",
    infix: "Q~",
    alphabet: /[A-Za-z0-9_~.-]/,
    token: /^[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}$/
  }
]

/** Longer than every token: how far to each side the run is followed. */
const REACH = 256

export const infixes: Rule = (text, report) => {
  for (const { alphabet, infix, token } of infixTokens) {
    let from = 0
    for (let at = text.indexOf(infix); at !== -1; at = text.indexOf(infix, from)) {
      let start = at
      while (start > from && start > at - REACH && alphabet.test(text.charAt(start - 1))) start -= 1
      let end = at + infix.length
      while (end < text.length && end < at + REACH && alphabet.test(text.charAt(end))) end += 1
      if (token.test(text.slice(start, end))) report(start, end)
      from = end
    }
  }
}
