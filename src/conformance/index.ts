/** The conformance cases and what runs them, for `magi-code conformance`. */

export type { Command } from "./CaseContext.ts"
export { casesMatching } from "./cases/index.ts"
export { type CaseResult, probe, type RunOptions, runCases } from "./Runner.ts"
export { human } from "./report/human.ts"
export { junit } from "./report/junit.ts"
export { summary } from "./report/summary.ts"
