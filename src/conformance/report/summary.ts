/** Results in numbers. */
import type { CaseResult } from "../Runner.ts"

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export const countsOf = (results: ReadonlyArray<CaseResult>): Counts => {
  const of = (status: CaseResult["status"]): number => results.filter((one) => one.status === status).length
  return { passed: of("passed"), failed: of("failed"), skipped: of("skipped") }
}

/** The last line of the human report, without its LF. */
export const summary = (results: ReadonlyArray<CaseResult>): string => {
  const { failed, passed, skipped } = countsOf(results)
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
}
