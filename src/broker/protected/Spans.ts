/**
 * What a rule finds: ranges of one text that become `[redacted]`. Rules only ever see the text as it was, never what
 * another rule made of it, so their order does not matter.
 */

/** The replacement of every secret (base-protocol section 6, Redaction). */
export const REDACTED = "[redacted]"

export interface Span {
  /** UTF-16 offsets, `end` exclusive. */
  readonly start: number
  readonly end: number
}

/**
 * Stands between two strings where many are scanned at once. Sanitized strings do not hold it, and no rule reads over it:
 * line ends keep patterns apart that exclude them, the NUL those that take white space.
 */
export const BETWEEN = "\n\u0000\n"

/** Reports the range `start` to `end` as a secret. */
export type Report = (start: number, end: number) => void

/** One rule: reports every secret of its kind in `text`, in time linear in it. */
export type Rule = (text: string, report: Report) => void

/** Sorted and disjoint; ranges that overlap or touch become one, so that one secret found twice is masked once. */
export const merge = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const sorted = spans.filter((span) => span.end > span.start).sort((a, b) => a.start - b.start || a.end - b.end)
  const merged: Array<{ start: number; end: number }> = []
  for (const span of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ start: span.start, end: span.end })
  }
  return merged
}

/** `text` with every span of `spans` (sorted, disjoint) replaced. */
export const replace = (text: string, spans: ReadonlyArray<Span>): string => {
  let out = ""
  let at = 0
  for (const { start, end } of spans) {
    out += text.slice(at, start) + REDACTED
    at = end
  }
  return out + text.slice(at)
}
