/** The pages that the tests of this folder read: README.md and docs/, and what stands in them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Page {
  /** Relative to the root, with slashes. */
  readonly path: string
  readonly text: string
}

/** One page, by its path from the root. */
export const page = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") })

/** One page of docs/. */
export const doc = (name: string): Page => page(`docs/${name}`)

/** README.md and every page of docs/, without the generated reference. */
export const pages: ReadonlyArray<Page> = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md") && !path.startsWith("docs/api/"))
    .sort()
].map(page)

/** The contents of the fenced blocks of a language. */
export const fences = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(/^( *)```(\S*)[^\n]*\n([\s\S]*?)^\1```/gm)]
    .filter(([, , tag]) => tag === language)
    .map(([, , , body = ""]) => body)

/** The text without its fenced blocks. */
export const prose = (text: string): string => text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, "")

/** What stands between backquotes in the prose, on one line each. */
export const codeSpans = (text: string): ReadonlyArray<string> =>
  [...prose(text).matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, span = ""]) => span.replaceAll(/\s+/g, " "))

/** The TypeScript of a page: one program a section, of all its blocks, named by the section's anchor. */
export const programsOf = (text: string): ReadonlyArray<{ readonly section: string; readonly text: string }> =>
  text
    // Blocks of other languages go first: a line of theirs may look like a heading.
    .replaceAll(/^( *)```(\S*)[\s\S]*?^\1```/gm, (block, _, tag) => (tag === "ts" ? block : ""))
    .split(/^(?=#{1,6} )/m)
    .map((section) => ({
      section: anchorOf(section.split("\n")[0]?.replace(/^#+ /, "") ?? ""),
      text: fences(section, "ts").join("\n")
    }))
    .filter((program) => program.text !== "")

/** The anchor that a heading has on the web: lower case, spaces to hyphens, punctuation gone. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")
