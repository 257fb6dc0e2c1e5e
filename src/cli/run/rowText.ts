/** Rows as text: for a terminal with bars against deadlines, piped as plain lines. product section 1 (`run`). */
import { millisBetween, type Row } from "./CallTree.ts"
import { escapeLine } from "./escapeText.ts"
import type { Style } from "./Style.ts"

/** `250 ms`, `3.2 s`, `2 min 5 s`. */
export const timeText = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")} s`
  const seconds = Math.round(ms / 1000)
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const indent = ({ depth }: Row): string => "  ".repeat(Math.min(depth, 8))

/** A plain line about a row that began. */
export const beganText = (row: Row): string =>
  `${indent(row)}${escapeLine(row.name)}: started${row.timeoutMs === undefined ? "" : `, ${timeText(row.timeoutMs)} at most`}`

const endedOf = (row: Row): string =>
  `${escapeLine(row.name)}: ${escapeLine(row.ending?.outcome ?? "open")} after ${timeText(row.ending?.elapsedMs ?? 0)}`

/** A plain line about how a row ended. */
export const endedText = (row: Row): string => `${indent(row)}${endedOf(row)}`

/** A line about a reply that came too late. */
export const overruledText = (row: Row, outcome: string): string =>
  `${escapeLine(row.name)}: the reply came too late, the agent took it as ${escapeLine(outcome)}`

/** Columns of a bar. */
const BAR = 20
/** Columns below which a line has no bar, and below which no deadline either. */
const NARROW = 60
const NARROWEST = 45
const MOST_COLUMNS = 100
const LONGEST_NAME = 36
/** Milliseconds for which waiting is not worth a line. */
const BRIEF_MS = 300

const cut = (text: string, columns: number, style: Style): string => {
  const characters = [...text]
  return characters.length <= columns
    ? text
    : `${characters.slice(0, columns - style.more.length).join("")}${style.more}`
}

/** A line about a row that has ended, for a terminal. */
export const endedLine = (row: Row, style: Style): string => {
  const as = row.ending?.as ?? "bad"
  const sign = style.paint(as === "cancelled" ? "warn" : as, style[as])
  return `  ${indent(row)}${sign} ${endedOf(row)}`
}

/** A row and all that is under it, in that order. */
export const withChildren = (row: Row): ReadonlyArray<Row> => [row, ...row.children.flatMap(withChildren)]

/** Lines about rows that are not all over, for a terminal of so many columns and rows. */
export const liveLines = (
  roots: ReadonlyArray<Row>,
  now: bigint,
  size: { readonly columns: number; readonly rows: number },
  style: Style
): ReadonlyArray<string> => {
  const all = roots.flatMap(withChildren).filter((row) => !row.waits || millisBetween(row.since, now) > BRIEF_MS)
  // The line above stays in sight, so that it is seen what the rows belong to.
  const most = Math.max(1, size.rows - 2)
  const open = all.length > most ? all.filter(({ ending }) => ending === undefined) : all
  const shown = open.length > most ? open.slice(0, most - 1) : open
  const columns = Math.min(size.columns - 1, MOST_COLUMNS)
  const names = shown.map((row) => [...escapeLine(row.name)].length + indent(row).length)
  const width = Math.min(Math.max(0, ...names), LONGEST_NAME, Math.max(8, columns - (columns < NARROWEST ? 12 : 22)))
  const left = open.length - shown.length
  return [
    ...shown.map((row) => liveLine(row, { now, columns, width, style })),
    ...(left === 0 ? [] : [`    ${style.paint("dim", `${style.more} and ${left} more`)}`])
  ]
}

interface Line {
  readonly now: bigint
  readonly columns: number
  /** Of the names, indentation included. */
  readonly width: number
  readonly style: Style
}

/** A line about what is waited for while nothing else is shown; none for what is brief. */
export const idleLines = (text: string, since: bigint, now: bigint, style: Style): ReadonlyArray<string> => {
  const elapsed = millisBetween(since, now)
  if (elapsed < BRIEF_MS) return []
  return [`  ${style.paint("accent", spinnerAt(now, style))} ${style.paint("dim", `${text}  ${timeText(elapsed)}`)}`]
}

const spinnerAt = (now: bigint, { spinner }: Style): string =>
  spinner[Math.floor(Number(now / 100_000_000n)) % spinner.length] ?? ""

const liveLine = (row: Row, { columns, now, style, width }: Line): string => {
  if (row.ending !== undefined) return endedLine(row, style)
  const before = indent(row)
  const name = cut(escapeLine(row.name), Math.max(4, width - before.length), style)
  const title = name.padEnd(Math.max(0, width - before.length))
  if (row.waits) return `  ${before}${style.paint("dim", `${style.waiting} ${title}  waits for its turn`)}`
  const elapsed = millisBetween(row.since, now)
  const lead = `  ${before}${style.paint("accent", spinnerAt(now, style))} ${title}  `
  if (row.timeoutMs === undefined) return `${lead}${timeText(elapsed)}`
  if (columns < NARROWEST) return `${lead}${timeText(elapsed)}`
  const time = `${timeText(elapsed)} of ${timeText(row.timeoutMs)}`
  return columns < NARROW ? `${lead}${time}` : `${lead}${barOf(elapsed / row.timeoutMs, style)}  ${time}`
}

/** How much of the deadline is over. */
const barOf = (part: number, style: Style): string => {
  const over = Math.min(BAR, Math.floor(part * BAR))
  const [full, rest] = style.bar
  return `${style.paint(part > 0.8 ? "warn" : "accent", full.repeat(over))}${style.paint("dim", rest.repeat(BAR - over))}`
}
