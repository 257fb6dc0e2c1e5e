/** Sets of Unicode code points as sorted ranges: what character classes are made of. */

/** From and to, inclusive. */
export type CodeRange = readonly [number, number]
/** Sorted, disjoint, not touching. */
export type CodeSet = ReadonlyArray<CodeRange>

const LAST = 0x10ffff
const SURROGATES: CodeRange = [0xd800, 0xdfff]

/** Brings ranges into order. */
export const union = (ranges: ReadonlyArray<CodeRange>): CodeSet => {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0])
  const merged: Array<[number, number]> = []
  for (const [from, to] of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

/** All code points that are not in the set. */
export const complement = (set: CodeSet): CodeSet => {
  const rest: Array<CodeRange> = []
  let next = 0
  for (const [from, to] of set) {
    if (from > next) rest.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) rest.push([next, LAST])
  return rest
}

/** Without surrogates: they do not occur in well-formed text. */
export const scalars = (set: CodeSet): CodeSet =>
  set.flatMap(([from, to]): ReadonlyArray<CodeRange> => {
    if (to < SURROGATES[0] || from > SURROGATES[1]) return [[from, to]]
    const parts: Array<CodeRange> = []
    if (from < SURROGATES[0]) parts.push([from, SURROGATES[0] - 1])
    if (to > SURROGATES[1]) parts.push([SURROGATES[1] + 1, to])
    return parts
  })

/** What `\d` matches. */
export const digits: CodeSet = [[0x30, 0x39]]

/** What `\w` matches. */
export const wordCharacters: CodeSet = union([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a]
])

/** WhiteSpace and LineTerminator of ECMAScript. */
export const whiteSpace: CodeSet = union([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff]
])

/** What `.` does not match. */
export const lineTerminators: CodeSet = union([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029]
])

const properties = new Map<string, CodeSet>()

/**
 * The code points of a property escape such as `\p{Script=Greek}`, as this process's own regular expressions know them: the
 * Unicode version and every name and alias are theirs.
 */
export const property = (name: string): CodeSet => {
  const known = properties.get(name)
  if (known !== undefined) return known
  const runs = new RegExp(`\\p{${name}}+`, "gu")
  const ranges: Array<CodeRange> = []
  for (let plane = 0; plane <= LAST; plane += 0x10000) {
    const units = plane === 0 ? 1 : 2
    // In the first plane one unit a code point; surrogates are replaced so that none of them form pairs.
    const text = planeText(plane)
    for (const match of text.matchAll(runs)) {
      const from = plane + match.index / units
      ranges.push([from, from + match[0].length / units - 1])
    }
  }
  const set = scalars(union(ranges))
  properties.set(name, set)
  return set
}

/** All code points of a plane; a private-use character stands where a surrogate would (`scalars` takes that place out). */
const planeText = (plane: number): string => {
  const size = 0x10000
  if (plane === 0) {
    const units = Uint16Array.from({ length: size }, (_, code) =>
      code >= SURROGATES[0] && code <= SURROGATES[1] ? 0xe000 : code
    )
    return utf16.decode(units)
  }
  const units = new Uint16Array(2 * size)
  for (let index = 0; index < size; index++) {
    const offset = plane - 0x10000 + index
    units[2 * index] = 0xd800 + (offset >> 10)
    units[2 * index + 1] = 0xdc00 + (offset & 0x3ff)
  }
  return utf16.decode(units)
}

const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true })
