/**
 * Provider formats that a prefix and a run of characters do not describe: tokens with an infix, dotted tokens, addresses
 * that are secrets themselves, command lines that carry a password.
 *
 * base-protocol section 6, Redaction. Every pattern is linear: bounded repetitions, or classes that exclude what follows.
 */
import { isPlaceholder } from "../Placeholders.ts"
import type { Rule } from "../Spans.ts"

interface Pattern {
  readonly provider: string
  readonly source: string
  /** The group named `secret` is redacted, or the whole match. */
  readonly pattern: RegExp
  /** How many characters before the match belong to the secret: a pattern that begins with a rare character is fast. */
  readonly before?: number
}

export const tokenPatterns: ReadonlyArray<Pattern> = [
  {
    provider: "JSON Web Token (header, payload, and signature where there is one)",
    source: "gitleaks, detect-secrets",
    pattern:
      /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))ey[A-Za-z0-9_-]{15,8192}={0,2}\.ey[A-Za-z0-9_-]{10,32768}={0,2}(?:\.[A-Za-z0-9_/-]{0,8192}={0,2})?/g
  },
  {
    provider: "JSON Web Token, base64 encoded",
    source: "gitleaks",
    pattern: /(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt]))ZXlK(?:aGJHY2|MGVYQWl|cmFXUW|aGRYUW)[A-Za-z0-9+/=_-]{40,32768}/g
  },
  {
    provider: "Azure storage and service bus keys",
    source: "provider",
    pattern: /(?:AccountKey|SharedAccessKey|EndpointKey)=(?<secret>[A-Za-z0-9+/]{40,100}={0,2})/gi
  },
  {
    provider: "Azure shared access signature",
    source: "provider",
    pattern: /[?&;]sig=(?<secret>[A-Za-z0-9%+/=]{40,100})/g
  },
  {
    provider: "Discord bot token",
    source: "detect-secrets",
    pattern: /(?<![A-Za-z0-9_.-])[MNOA][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])/g
  },
  {
    provider: "Mailchimp API key, Mailgun signing key",
    source: "gitleaks",
    pattern: /(?<=(?<![A-Za-z0-9-])[a-f0-9]{32})-(?:us\d{1,2}(?!\d)|[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-]))/g,
    before: 32
  },
  {
    provider: "Telegram bot",
    source: "gitleaks, detect-secrets",
    pattern: /(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{33,35}(?![A-Za-z0-9_-])/g
  },
  {
    provider: "HashiCorp Vault, older",
    source: "gitleaks",
    pattern:
      /(?<![A-Za-z0-9_.])s\.(?=[A-Za-z]{0,23}\d)(?=[a-z0-9]{0,23}[A-Z])(?=[A-Z0-9]{0,23}[a-z])[A-Za-z0-9]{24}(?![A-Za-z0-9])/g
  },
  {
    provider: "Slack webhook",
    source: "gitleaks",
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9+/]{32,80})/g
  },
  {
    provider: "Microsoft Teams webhook",
    source: "gitleaks",
    pattern: /webhook\.office\.com\/webhookb2\/(?<secret>[A-Za-z0-9@/-]{60,200})/g
  },
  {
    provider: "Discord webhook",
    source: "provider",
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(?<secret>\d{16,20}\/[A-Za-z0-9_-]{50,80})/g
  },
  {
    provider: "Sidekiq (Contributed Systems) gem server",
    source: "gitleaks",
    pattern:
      /BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM\w{0,20}["']?[\s:=>]{1,16}["']?(?<secret>[a-f0-9]{8}:[a-f0-9]{8})/gi
  },
  {
    provider: "Sumo Logic access id",
    source: "gitleaks",
    pattern:
      /\bsumo(?:logic)?[\w.-]{0,16}access[_.-]?id["']?[\s:=>]{1,16}["']?(?<secret>su[A-Za-z0-9]{12})(?![A-Za-z0-9])/gi
  },
  {
    provider: "JFrog",
    source: "gitleaks",
    pattern:
      /\b(?:jfrog|artifactory|bintray|xray)[\w.-]{0,40}["']?[\s:=>,]{1,16}["']?(?<secret>[a-z0-9]{64}|[a-z0-9]{73})(?![a-z0-9])/gi
  },
  {
    provider: "Sourcegraph, older",
    source: "gitleaks",
    pattern: /\bsourcegraph[\w.-]{0,40}["']?[\s:=>,]{1,16}["']?(?<secret>[a-f0-9]{40})(?![a-f0-9])/gi
  }
]

export const patternedTokens: Rule = (text, report) => {
  for (const { before = 0, pattern } of tokenPatterns) {
    for (const match of text.matchAll(pattern)) {
      const secret = match.groups?.["secret"] ?? match[0]
      if (isPlaceholder(secret)) continue
      const start = match.index + match[0].lastIndexOf(secret)
      report(start - before, start + secret.length)
    }
  }
}
