/** The report for people: nothing of a case that passed; of a failed one what it cites, what happened, the last frames. */
import type { CaseResult } from "../Runner.ts"

/** At most so many of a case's problems are shown. */
const PROBLEMS_SHOWN = 6

/** The lines of one result, each with its LF; what came from the backend goes through `plain`. */
export const human = (result: CaseResult, plain: (text: string) => string): string => {
  if (result.status === "passed") return ""
  if (result.status === "skipped") return `SKIP ${result.id}: ${plain(result.reason ?? "")}\n`
  const lines = [
    `FAIL ${result.id}`,
    ...result.cites.map(({ page, sentence }) => `     docs/${page}.md: ${sentence}`),
    ...result.problems.slice(0, PROBLEMS_SHOWN).map((one) => `     ${plain(one)}`),
    ...result.frames.map((one) => `       ${plain(one)}`)
  ]
  return `${lines.join("\n")}\n`
}
