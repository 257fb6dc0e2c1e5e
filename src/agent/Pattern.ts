/**
 * Patterns over tool names: `*` stands for any run of characters, everything else for itself. A name is taken exactly:
 * no case folding, and `read` does not match `client__read`. base-protocol section 7; product section 2.
 */

/** Linear in both lengths but for the number of stars; never backtracks further than the last star. */
export const matches = (pattern: string, name: string): boolean => {
  let at = 0
  let inName = 0
  let star = -1
  let starName = 0
  while (inName < name.length) {
    if (pattern[at] === "*") {
      star = at++
      starName = inName
    } else if (at < pattern.length && pattern[at] === name[inName]) {
      at++
      inName++
    } else if (star >= 0) {
      at = star + 1
      inName = ++starName
    } else return false
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

export const matchesAny = (patterns: ReadonlyArray<string>, name: string): boolean =>
  patterns.some((pattern) => matches(pattern, name))
