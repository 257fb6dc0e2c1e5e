/** "Did you mean": the word that a typo is nearest to. */

/** How many letters to add, drop, change or swap. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
        )
      )
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** The nearest of the known words, if it is near: a third of the letters may differ. */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > 40) return undefined
  const lower = word.toLowerCase()
  const [best] = known
    .map((one) => ({ one, far: distance(lower, one) }))
    .filter(
      ({ far, one }) => far <= Math.max(1, Math.floor(one.length / 3)) || (word.length > 2 && one.startsWith(lower))
    )
    .sort((a, b) => a.far - b.far)
  return best?.one
}

/** `; did you mean X?`, or nothing. */
export const didYouMean = (word: string, known: ReadonlyArray<string>): string => {
  const best = nearest(word, known)
  return best === undefined ? "" : `; did you mean ${best}?`
}
