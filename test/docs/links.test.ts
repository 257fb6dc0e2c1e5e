/**
 * What README.md and docs/ point at exists: relative links with their headings, paths of files, names of tests. A test is
 * named as its runner prints it, in one code span: file > group > test.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { anchorOf, codeSpans, fences, type Page, pages, prose, root } from "./pages.ts"

const inProject = (path: string) => existsSync(join(root, path))

const linksOf = (text: string): ReadonlyArray<string> =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^[a-z]+:/.test(link))

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set([...prose(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading)))

const brokenLinks = (page: Page): ReadonlyArray<string> =>
  linksOf(page.text).filter((link) => {
    const [path = "", anchor] = link.split("#")
    const target = path === "" ? page.path : normalize(join(dirname(page.path), path))
    if (!inProject(target)) return true
    return anchor !== undefined && !anchorsOf(readFileSync(join(root, target), "utf8")).has(anchor)
  })

const folders = "src|test|docs|examples|scripts|bench|schema|node_modules|\\.ci"
const pathPattern = new RegExp(`^(?:${folders})/[\\w@./-]+$`)

/** Paths in code spans, with the file of each named test. A folder may end in a slash; what has stars is a pattern. */
const pathsOf = (text: string): ReadonlyArray<string> =>
  codeSpans(text)
    .map((span) => span.split(" > ")[0] ?? "")
    .filter((span) => pathPattern.test(span))

/** What is not there. The reference in docs/api/ is generated, and not in a checkout. */
const missing = (path: string): boolean => !path.startsWith("docs/api/") && !inProject(path)

interface NamedTest {
  readonly file: string
  readonly names: ReadonlyArray<string>
}

const testsOf = (text: string): ReadonlyArray<NamedTest> =>
  codeSpans(text)
    .map((span) => span.split(" > "))
    .filter(([file, ...names]) => names.length > 0 && file?.endsWith(".test.ts"))
    .map(([file = "", ...names]) => ({ file, names }))

/** The names of a file's groups and tests, as literals of any quotes. */
const namesIn = (file: string): ReadonlySet<string> => {
  const source = readFileSync(join(root, file), "utf8")
  return new Set([...source.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, name = ""]) => name.replaceAll('\\"', '"')))
}

const unknownTests = (page: Page): ReadonlyArray<string> =>
  testsOf(page.text).flatMap(({ file, names }) => {
    if (!inProject(file)) return [file]
    const known = namesIn(file)
    return names.filter((name) => !known.has(name)).map((name) => `${file} > ${name}`)
  })

describe("every page points at what exists", () => {
  for (const page of pages) {
    it(page.path, () => {
      assert.deepStrictEqual(brokenLinks(page), [], "links")
      assert.deepStrictEqual(pathsOf(page.text).filter(missing), [], "paths")
      assert.deepStrictEqual(unknownTests(page), [], "tests")
    })
  }
})

describe("docs/concurrency.md", () => {
  const page = pages.find(({ path }) => path === "docs/concurrency.md")
  const races = page?.text.split("\n### ").slice(1) ?? []

  it("draws each race and names its tests", () => {
    assert.isAbove(races.length, 14)
    for (const race of races) {
      const section = race.split("\n## ")[0] ?? ""
      const title = section.split("\n")[0]
      assert.lengthOf(fences(section, "mermaid"), 1, title)
      assert.include(section, "**Rule.**", title)
      assert.isAbove(testsOf(section).length, 0, title)
    }
  })

  it("names every test of the races", () => {
    const named = new Set(
      testsOf(page?.text ?? "").flatMap(({ file, names }) => names.map((name) => `${file} > ${name}`))
    )
    for (const file of ["test/races/broker.test.ts", "test/races/connection.test.ts", "test/races/client.test.ts"]) {
      const source = readFileSync(join(root, file), "utf8")
      for (const [, name = ""] of source.matchAll(/\bit\.effect\(\s*"((?:[^"\\\n]|\\.)*)"/g)) {
        assert.isTrue(named.has(`${file} > ${name}`), `${file} > ${name}`)
      }
    }
  })
})
