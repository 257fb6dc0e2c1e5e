/** The report as JUnit XML, as build servers read it: one suite, a class for each group of cases. */
import type { CaseResult } from "../Runner.ts"
import { countsOf } from "./summary.ts"

/** Text for XML 1.0, in content and in double quotes: what is markup is escaped, what no XML may hold is replaced. */
export const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    // Parsers turn these into blanks in attributes, and a CR into an LF anywhere.
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

const caseOf = (result: CaseResult): string => {
  const { cites, frames, id, ms, problems, reason = "", status } = result
  const group = id.split(".")[0] ?? id
  const head = `    <testcase classname="${escapeXml(group)}" name="${escapeXml(id)}" time="${seconds(ms)}"`
  if (status === "passed") return `${head}/>\n`
  if (status === "skipped") return `${head}>\n      <skipped message="${escapeXml(reason)}"/>\n    </testcase>\n`
  const told = [
    ...cites.map(({ page, sentence }) => `docs/${page}.md: ${sentence}`),
    ...problems,
    ...frames.map((one) => `  ${one}`)
  ]
  const failure = `<failure message="${escapeXml(problems[0] ?? "")}">${escapeXml(told.join("\n"))}</failure>`
  return `${head}>\n      ${failure}\n    </testcase>\n`
}

/** The whole document. */
export const junit = (results: ReadonlyArray<CaseResult>): string => {
  const { failed, skipped } = countsOf(results)
  const time = seconds(results.reduce((sum, { ms }) => sum + ms, 0))
  const counts = `tests="${results.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${time}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites ${counts}>\n  <testsuite name="magi-code conformance" ${counts}>\n`,
    ...results.map(caseOf),
    "  </testsuite>\n</testsuites>\n"
  ].join("")
}
