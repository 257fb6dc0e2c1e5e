/**
 * How a cited sentence is compared with its page: as it is read, not as it is typed. On both sides links become their
 * text, backquotes, `**` and the `_` around emphasised words go, and every run of white space is one blank, so that a
 * sentence may run over lines, and a row of a table (cells divided by `|`) has one blank around each bar.
 */

/** The text of Markdown by that rule. */
export const asRead = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/`|\*\*/g, "")
    .replaceAll(/(?<![A-Za-z0-9_])_([^_]+)_(?![A-Za-z0-9_])/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim()

/** Whether the sentence stands on the page. */
export const standsOn = (page: string, sentence: string): boolean => asRead(page).includes(asRead(sentence))
