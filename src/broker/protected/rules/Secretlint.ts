/**
 * Provider token formats as secretlint's recommended preset knows them.
 *
 * base-protocol section 6, Redaction. The preset's rules are run by this small runner and not by `@secretlint/core`,
 * which is made for one pass over files: its profiler keeps some fifty marks of every run for ever, it takes a leading
 * byte order mark away so that all positions shift by one, and the preset's comment filter lets the text itself say
 * `secretlint-disable`, which hands an attacker the switch.
 */
import { rules } from "@secretlint/secretlint-rule-preset-recommend"
import { isPlaceholder } from "../Placeholders.ts"
import type { Span } from "../Spans.ts"

/**
 * Rules that are not run: the one that turns others off from inside the text, and those that mask a whole address where
 * its userinfo alone is the secret (`UrlUserinfo.ts` finds the same ones and leaves the host to be read).
 */
const leftOut: ReadonlySet<string> = new Set([
  "@secretlint/secretlint-rule-filter-comments",
  "@secretlint/secretlint-rule-basicauth",
  "@secretlint/secretlint-rule-database-connection-string"
])

/** This rule takes `xoxo-indieweb-1` for a token. Real ones hold a group of eight characters or more with a digit in it. */
const SLACK = "@secretlint/secretlint-rule-slack"
const slackToken = /^https:|-(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{8}/

type Creator = (typeof rules)[number]
type Handler = ReturnType<Creator["create"]>
type Source = Parameters<NonNullable<Handler["file"]>>[0]

/** Finds the secrets of one text. Rejects when a rule breaks: the text is then unscanned. */
export type Scan = (text: string) => Promise<ReadonlyArray<Span>>

/** The rules are created once; a scan runs them over one text. One scan at a time. */
export const makeScan = (): Scan => {
  let found: Array<Span> = []
  let text = ""
  let rule = ""
  const context: Parameters<Creator["create"]>[0] = {
    sharedOptions: {},
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: {} }),
    report: ({ range: [start, end] }) => {
      if (rule !== SLACK || slackToken.test(text.slice(start, end))) found.push({ start, end })
    },
    ignore: () => undefined
  }
  const handlers: ReadonlyArray<readonly [id: string, handler: Handler]> = rules
    .filter(({ meta }) => !leftOut.has(meta.id))
    .map((creator) => [creator.meta.id, creator.create(context, {})])
  return async (content) => {
    found = []
    text = content
    const source = textSource(content)
    for (const [id, handler] of handlers) {
      rule = id
      await handler.file?.(source)
    }
    return found.filter(({ start, end }) => !isPlaceholder(content.slice(start, end)))
  }
}

/** A source without a file behind it: no rule may look at a path. Positions by line and column are the comment filter's alone. */
const textSource = (content: string): Source => ({
  content,
  contentType: "text",
  ext: ".txt",
  filePath: undefined,
  physicalFilePath: undefined,
  hasBOM: false,
  getFilePath: () => undefined,
  getPhysicalFilePath: () => undefined,
  indexToPosition: () => ({ line: 1, column: 0 }),
  positionToIndex: () => 0,
  locationToRange: () => [0, 0],
  rangeToLocation: () => ({ start: { line: 1, column: 0 }, end: { line: 1, column: 0 } })
})
