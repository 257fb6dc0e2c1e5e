/**
 * Screens of a terminal, one after the other, as one SVG: text, in the reader's light or dark colours. It begins with the
 * last screen, so that it reads well where nothing moves; then it plays.
 */

export interface Frame {
  /** Milliseconds since the first one. */
  readonly at: number
  /** Rows with their SGR sequences. */
  readonly screen: string
}

interface Segment {
  readonly column: number
  readonly text: string
  readonly colour: string
}

const FONT = 14
const WIDE = 8.43
const HIGH = 20
const MARGIN = 16
/** Milliseconds for which the last screen is shown before it plays, and after it. */
const REST_MS = 4_000
const AFTER_MS = 2_000
/** Milliseconds until something happens; programs that take longer to start are shown as if they did not. */
const START_MS = 700

const colours: { readonly [code: string]: string } = { "31": "r", "32": "g", "33": "y", "36": "c" }

/** The pieces of one colour of a row. */
const segmentsOf = (row: string): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  let colour = ""
  let dim = false
  let column = 0
  for (const [, codes, text = ""] of row.matchAll(/(?:^|\u001b\[([\d;]*)m)([^\u001b]*)/g)) {
    if (codes !== undefined) {
      for (const code of codes === "" ? ["0"] : codes.split(";")) {
        if (code === "2") dim = true
        if (code === "0" || code === "22") dim = false
        colour = code === "0" || code === "39" ? "" : (colours[code] ?? colour)
      }
    }
    const length = [...text].length
    if (text.trim() !== "") segments.push({ column, text, colour: dim ? "d" : colour })
    column += length
  }
  return segments
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? "")

/** `y`: of the line's foot. Each piece is as long as its columns, whatever font there is. */
const drawn = ({ column, colour, text }: Segment, y: number): string => {
  const lead = text.length - text.trimStart().length
  const shown = text.trim()
  const x = (MARGIN + (column + lead) * WIDE).toFixed(1)
  const length = ([...shown].length * WIDE).toFixed(1)
  const as = colour === "" ? "" : ` class="${colour}"`
  return `<text${as} x="${x}" y="${y}" textLength="${length}" xml:space="preserve">${escaped(shown)}</text>`
}

interface Shown {
  readonly row: number
  readonly content: string
  readonly from: number
  /** `undefined`: it stays. */
  to: number | undefined
}

/** When each row has which content. */
const spans = (frames: ReadonlyArray<Frame>): ReadonlyArray<Shown> => {
  const all: Array<Shown> = []
  const open = new Map<number, Shown>()
  for (const { at, screen } of frames) {
    const rows = screen.split("\n")
    for (let row = 0; row < Math.max(rows.length, ...open.keys(), 0) + 1; row += 1) {
      const content = rows[row] ?? ""
      const before = open.get(row)
      if (before?.content === content) continue
      if (before !== undefined) before.to = at
      const shown: Shown = { row, content, from: at, to: undefined }
      open.set(row, shown)
      if (content.trim() !== "") all.push(shown)
    }
  }
  return all
}

export const terminalSvg = (
  frames: ReadonlyArray<Frame>,
  size: { readonly columns: number; readonly rows: number }
): string => {
  const last = frames.at(-1)
  const late = Math.max(0, (frames[1]?.at ?? 0) - START_MS)
  const played = frames.map(({ at, screen }) => ({ at: REST_MS + Math.max(0, at - late), screen }))
  const end = REST_MS + (last?.at ?? 0) - late + AFTER_MS
  const percent = (at: number) => `${((at / end) * 100).toFixed(2)}%`
  const rules: Array<string> = []
  const groups = spans([...(last === undefined ? [] : [{ at: 0, screen: last.screen }]), ...played]).map(
    ({ content, from, row, to }, index) => {
      const y = MARGIN + 28 + row * HIGH + FONT
      const text = segmentsOf(content)
        .map((segment) => drawn(segment, y))
        .join("")
      if (from === 0 && to === undefined) return text
      const before = from === 0 ? "" : `0%{visibility:hidden}${percent(from)}{visibility:visible}`
      const after =
        to === undefined ? "100%{visibility:visible}" : `${percent(to)}{visibility:hidden}100%{visibility:hidden}`
      rules.push(`@keyframes k${index}{${from === 0 ? "0%{visibility:visible}" : before}${after}}`)
      rules.push(`#k${index}{animation:k${index} ${end}ms step-end infinite}`)
      // Where nothing moves, what is there at first is shown.
      return `<g id="k${index}"${from === 0 ? "" : ' visibility="hidden"'}>${text}</g>`
    }
  )
  const width = Math.ceil(MARGIN * 2 + size.columns * WIDE)
  const height = MARGIN * 2 + 28 + size.rows * HIGH
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="magi-code run on a terminal">
<style>
svg{--b:#fbfcfe;--e:#d5dbe5;--t:#1f2733;--d:#8a93a3;--r:#c0362c;--g:#1f7a4d;--y:#a35f00;--c:#0b7285}
@media (prefers-color-scheme:dark){svg{--b:#12161c;--e:#2e3643;--t:#dfe5ee;--d:#788496;--r:#f07268;--g:#4fb880;--y:#e2a64a;--c:#56c2d6}}
text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--t)}
.d{fill:var(--d)}.r{fill:var(--r)}.g{fill:var(--g)}.y{fill:var(--y)}.c{fill:var(--c)}
${rules.join("\n")}
@media (prefers-reduced-motion:reduce){g{animation:none!important}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="var(--b)" stroke="var(--e)"/>
<circle cx="20" cy="20" r="5" fill="var(--e)"/><circle cx="37" cy="20" r="5" fill="var(--e)"/><circle cx="54" cy="20" r="5" fill="var(--e)"/>
${groups.filter((group) => group !== "").join("\n")}
</svg>
`
}
