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

const read = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") })

/** One page of docs/. */
export const doc = (name: string): Page => read(`docs/${name}`)

/** README.md and every page of docs/, without the generated reference. */
export const pages: ReadonlyArray<Page> = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md") && !path.startsWith("docs/api/"))
    .sort()
].map(read)

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
