/**
 * Globs over paths, matched in linear time: the pattern is a model's, and a backtracking one could stop the process.
 *
 * `*` and `?` stay within a name, `**` crosses slashes, `[a-z]` and `[!a-z]` are sets, `{a,b}` are alternatives, a
 * backslash takes the next character as itself. Names that begin with a dot are names like others. Without a slash a
 * glob is about names at any depth; with one, about whole paths below the searched folder.
 */
import { RE2JS } from "re2js"

const quote = (character: string) => character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/** The set that begins at `[`, as a regular expression, and where it ends; `undefined` when it is never closed. */
const setAt = (glob: string, start: number) => {
  const isNegated = glob[start + 1] === "!" || glob[start + 1] === "^"
  const first = start + (isNegated ? 2 : 1)
  // A bracket that comes first stands for itself.
  const end = glob.indexOf("]", first + 1)
  if (end < 0) return undefined
  const members = glob.slice(first, end).replace(/[\\\][^&~]/g, "\\$&")
  return { source: `[${isNegated ? "^/" : ""}${members}]`, end }
}

const closesAt = (glob: string, start: number): boolean => {
  let depth = 0
  for (let at = start; at < glob.length; at++) {
    if (glob[at] === "\\") at++
    else if (glob[at] === "{") depth++
    else if (glob[at] === "}" && --depth === 0) return true
  }
  return false
}

const translate = (glob: string): string => {
  let source = ""
  let depth = 0
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at] ?? ""
    if (character === "*") {
      const isDeep = glob[at + 1] === "*"
      if (!isDeep) source += "[^/]*"
      else if (glob[at + 2] === "/" && (at === 0 || glob[at - 1] === "/")) {
        source += "(?:.*/)?"
        at += 2
      } else {
        source += ".*"
        at += 1
      }
    } else if (character === "?") source += "[^/]"
    else if (character === "[") {
      const set = setAt(glob, at)
      source += set?.source ?? "\\["
      at = set?.end ?? at
    } else if (character === "{" && (depth > 0 || closesAt(glob, at))) {
      source += "(?:"
      depth += 1
    } else if (character === "}" && depth > 0) {
      source += ")"
      depth -= 1
    } else if (character === "," && depth > 0) source += "|"
    else if (character === "\\" && at + 1 < glob.length) source += quote(glob[++at] ?? "")
    else source += quote(character)
  }
  return source
}

/** `undefined`: no such pattern (a set such as `[z-a]`). Paths have `/` between their names and none in front. */
export const matcherOf = (glob: string): ((path: string) => boolean) | undefined => {
  const plain = glob.replace(/^(\.?\/)+/, "")
  const source = plain.includes("/") ? translate(plain) : `(?:.*/)?${translate(plain)}`
  try {
    const pattern = RE2JS.compile(source, RE2JS.DOTALL)
    return (path) => pattern.testExact(path)
  } catch {
    return undefined
  }
}
