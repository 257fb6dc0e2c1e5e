/**
 * `pattern` and the names of `patternProperties`: ECMAScript with the `u` flag, matched in linear time.
 *
 * A pattern is checked by this process's own parser, then translated to the syntax of RE2 by meaning, construct by construct:
 * where the two differ (`\s`, `.`, `$`, named groups, property escapes, empty classes) the ECMAScript meaning is written
 * out. What a linear-time engine cannot do (look-around, back references, more than 1000 repeats) is refused.
 * product sections 4 and 5.
 */
import * as Result from "effect/Result"
import { RE2JS } from "re2js"
import * as CodePoints from "./CodePoints.ts"

/** A pattern that matches in time linear in the text. */
export interface Pattern {
  /** Whether it occurs in the text, which must be well-formed. */
  readonly test: (text: string) => boolean
}

/** Compiles a pattern; the failure is one line for a person. */
export const compile = (source: string): Result.Result<Pattern, string> => {
  try {
    new RegExp(source, "u")
  } catch {
    return Result.fail("the pattern is not a regular expression of ECMAScript with the u flag")
  }
  try {
    const engine = RE2JS.compile(new Translation(source).whole())
    return Result.succeed({ test: (text) => engine.test(text) })
  } catch (error) {
    const why = error instanceof Untranslatable ? error.message : "is too large for it"
    return Result.fail(`the pattern cannot be matched by a linear-time engine: it ${why}`)
  }
}

class Untranslatable extends Error {}

const MOST_REPEATS = 1000

const hex = (code: number) => `\\x{${code.toString(16)}}`

const classOf = (set: CodePoints.CodeSet): string => {
  const ranges = CodePoints.scalars(set)
  if (ranges.length === 0) return "[^\\x{0}-\\x{10ffff}]"
  return `[${ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join("")}]`
}

const ANY = classOf(CodePoints.complement(CodePoints.lineTerminators))
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }

/** Walks a pattern that is known to be well-formed. */
class Translation {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): string {
    return this.#disjunction()
  }

  #disjunction(): string {
    let out = ""
    while (this.#at < this.#source.length && this.#peek() !== ")") {
      if (this.#take("|")) out += "|"
      else out += this.#term()
    }
    return out
  }

  #term(): string {
    if (this.#take("^")) return "\\A"
    if (this.#take("$")) return "\\z"
    if (this.#take("\\b")) return "\\b"
    if (this.#take("\\B")) return "\\B"
    return this.#atom() + this.#quantifier()
  }

  #atom(): string {
    if (this.#take("(")) return this.#group()
    if (this.#take("[")) return classOf(this.#class())
    if (this.#take(".")) return ANY
    if (this.#take("\\")) {
      const escaped = this.#escape(false)
      return typeof escaped === "number" ? classOf([[escaped, escaped]]) : classOf(escaped)
    }
    const code = this.#codePoint()
    return classOf([[code, code]])
  }

  #group(): string {
    if (this.#take("?:")) return this.#rest()
    if (this.#take("?<") && this.#peek() !== "=" && this.#peek() !== "!") {
      // A name means nothing where nothing is captured.
      this.#at = this.#source.indexOf(">", this.#at) + 1
      return this.#rest()
    }
    if (this.#peek() === "?" || this.#peek() === "=" || this.#peek() === "!") {
      if (/^[?]?[=!]/.test(this.#source.slice(this.#at))) throw new Untranslatable("has a look-ahead or look-behind")
      throw new Untranslatable("has a group with modifiers")
    }
    return this.#rest()
  }

  #rest(): string {
    const inside = this.#disjunction()
    this.#at += 1
    return `(?:${inside})`
  }

  #quantifier(): string {
    const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 64))
    if (found === null) return ""
    for (const count of found.slice(1)) {
      if (Number(count ?? 0) > MOST_REPEATS) throw new Untranslatable(`repeats over ${MOST_REPEATS} times`)
    }
    this.#at += found[0].length
    return found[0]
  }

  #class(): CodePoints.CodeSet {
    const negated = this.#take("^")
    const ranges: Array<CodePoints.CodeRange> = []
    while (!this.#take("]")) {
      const from = this.#classAtom()
      if (typeof from !== "number") {
        ranges.push(...from)
        continue
      }
      // A hyphen makes a range unless it is the last character of the class.
      if (this.#peek() === "-" && this.#source[this.#at + 1] !== "]") {
        this.#at += 1
        const to = this.#classAtom()
        if (typeof to === "number") ranges.push([from, to])
      } else ranges.push([from, from])
    }
    const set = CodePoints.union(ranges)
    return negated ? CodePoints.complement(set) : set
  }

  #classAtom(): number | CodePoints.CodeSet {
    return this.#take("\\") ? this.#escape(true) : this.#codePoint()
  }

  /** What follows a backslash: a character, or a set of them. */
  #escape(inClass: boolean): number | CodePoints.CodeSet {
    const letter = this.#source[this.#at] ?? ""
    this.#at += 1
    switch (letter) {
      case "d":
        return CodePoints.digits
      case "D":
        return CodePoints.complement(CodePoints.digits)
      case "w":
        return CodePoints.wordCharacters
      case "W":
        return CodePoints.complement(CodePoints.wordCharacters)
      case "s":
        return CodePoints.whiteSpace
      case "S":
        return CodePoints.complement(CodePoints.whiteSpace)
      case "p":
      case "P": {
        const set = CodePoints.property(this.#braced())
        return letter === "p" ? set : CodePoints.complement(set)
      }
      case "c":
        return this.#codePoint() % 32
      case "x":
        return this.#hexadecimal(2)
      case "u":
        return this.#unicode()
      case "0":
        return 0
      case "k":
        throw new Untranslatable("has a back reference")
      case "b":
        // Outside of a class it is a word boundary, and taken before.
        return 8
    }
    if (!inClass && /[1-9]/.test(letter)) throw new Untranslatable("has a back reference")
    return controls[letter] ?? letter.codePointAt(0) ?? 0
  }

  #unicode(): number {
    if (this.#peek() === "{") return Number.parseInt(this.#braced(), 16)
    const lead = this.#hexadecimal(4)
    const trail = /^\\u(d[c-f][0-9a-f]{2})/i.exec(this.#source.slice(this.#at, this.#at + 6))?.[1]
    if (lead < 0xd800 || lead > 0xdbff || trail === undefined) return lead
    this.#at += 6
    return (lead - 0xd800) * 0x400 + (Number.parseInt(trail, 16) - 0xdc00) + 0x10000
  }

  #hexadecimal(digits: number): number {
    const text = this.#source.slice(this.#at, this.#at + digits)
    this.#at += digits
    return Number.parseInt(text, 16)
  }

  #braced(): string {
    const end = this.#source.indexOf("}", this.#at)
    const inside = this.#source.slice(this.#at + 1, end)
    this.#at = end + 1
    return inside
  }

  #peek(): string | undefined {
    return this.#source[this.#at]
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #codePoint(): number {
    const code = this.#source.codePointAt(this.#at) ?? 0
    this.#at += code > 0xffff ? 2 : 1
    return code
  }
}
