/**
 * What a conformance case is: a stable id, the sentences of our published pages that it checks, and a program that talks
 * to the backend under test. `cases/index.ts` says how one is written. product section 1, `conformance`.
 */
import { Effect } from "effect"
import type { CaseContext } from "./CaseContext.ts"
import type { CaseEnd } from "./CaseEnd.ts"

/** A page of `docs/`, without its ending. */
export type Page =
  | "local-agent-protocol"
  | "client-tools"
  | "tools"
  | "security"
  | "operations"
  | "models"
  | "subagents"
  | "code-mode"
  | "concurrency"
  | "cli"

/** A sentence (or a row of a table) that stands on a page; `Citation.ts` says how the two are compared. */
export interface Cite {
  readonly page: Page
  readonly sentence: string
}

/** A step of a case. */
export type Step<A = void> = Effect.Effect<A, CaseEnd>

export interface CaseOptions {
  /** Milliseconds the case may take (default 20000). */
  readonly limit?: number
  /** It measures time closely, or loads the machine: it runs alone, after the others. */
  readonly serial?: boolean
}

export interface Case extends CaseOptions {
  /** `group.what`, never changed once published. */
  readonly id: string
  readonly cites: ReadonlyArray<Cite>
  readonly run: (t: CaseContext) => Step<unknown>
}

/** Cites a page: `const protocol = cite("local-agent-protocol")`, then `protocol("The exact sentence.")`. */
export const cite =
  (page: Page) =>
  (sentence: string): Cite => ({ page, sentence })

/** One case. `body` is the generator of an Effect: every step is a `yield*`. */
export const c = (
  id: string,
  cites: Cite | ReadonlyArray<Cite>,
  body: (t: CaseContext) => Generator<Step<unknown>, unknown, never>,
  options: CaseOptions = {}
): Case => ({
  id,
  cites: "page" in cites ? [cites] : cites,
  run: (t) => Effect.gen(() => body(t)),
  ...options
})
