/**
 * All cases, by group: the one source of `magi-code conformance`.
 *
 * How a case is written. A group is a file of this folder, `export const NAME: ReadonlyArray<Case> = [ … ]`, and a line
 * below. It imports from `../dsl.ts` (that file re-exports all there is), and `Effect` for helpers of its own. A case:
 *
 *     const protocol = cite("local-agent-protocol")
 *
 *     c("calls.example", protocol("The response to turn.start stands before every event of its run"), function* (t) {
 *       const b = yield* t.ready([tool("a")])       // initialized, session attached; b.init is the initialize result
 *       const e = yield* oneCall(b, { q: 1 })       // a turn that calls client__a; the pending call event, typed
 *       yield* b.accepted(e, { text: "ok" })        // a reply that must be accepted
 *       const [result] = yield* completed(b)        // the run completed; what the model saw
 *       yield* t.equal(result?.content, { text: "ok" }, "what the model saw")
 *     })
 *
 * - Every step is a `yield*`, checks included: a check without it checks nothing (`npm run check` refuses it, as a
 *   floating effect). `t.equal`, `t.expect`, `t.keys`, `t.fail`, `t.skip`; `fail` is also what helpers end with.
 * - A cited sentence stands on the page word for word; emphasis, backquotes and link targets may be left out
 *   (`Citation.ts`; `test/conformance/citations.test.ts` looks each up). Several: an array. The longest part that says
 *   what the case checks, not a heading; for a table, a row or its cells, divided by ` | `.
 * - `b.ok(method, params)` gives a typed result, `b.refused(code, method, params)` the error, `b.request` the answer
 *   whatever it is; `…Text` take params as JSON text, `b.line` and `b.raw` what no request is. `b.send` writes without
 *   waiting. `b.until`, `b.event`, `b.calls`, `b.finished` wait (default 8 s); `b.events`, `b.cancels`, `b.frames` and
 *   `b.texts` look at what came so far.
 * - JSON of unknown shape is taken apart with `at(value, "a", 0)`, never with a cast.
 * - What holds for every case is checked by `Runner.ts` without its doing: clean output, `sequence`, exit code 0 after
 *   the end of the input (`b.expectExit(2)` else; null: any), no process left, its time (`{ limit }`). `{ serial: true }`
 *   for what measures time closely. No sleep where an event can be waited for; `sleep` only to see that nothing comes.
 */
import type { Case } from "../Case.ts"
import { callArguments } from "./callArguments.ts"
import { calls } from "./calls.ts"
import { cancel } from "./cancel.ts"
import { codemode } from "./codemode.ts"
import { envelope } from "./envelope.ts"
import { framing } from "./framing.ts"
import { hooks } from "./hooks.ts"
import { initialize } from "./initialize.ts"
import { lifecycle } from "./lifecycle.ts"
import { order } from "./order.ts"
import { outcomes } from "./outcomes.ts"
import { paths } from "./paths.ts"
import { preflight } from "./preflight.ts"
import { processes } from "./process.ts"
import { protection } from "./protection.ts"
import { provider } from "./provider.ts"
import { registry } from "./registry.ts"
import { results } from "./results.ts"
import { schemas } from "./schemas.ts"
import { scopes } from "./scopes.ts"
import { secrets } from "./secrets.ts"
import { sessions } from "./sessions.ts"
import { subagents } from "./subagents.ts"
import { surfaces } from "./surfaces.ts"
import { tooling } from "./tooling.ts"
import { toolingCode } from "./toolingCode.ts"
import { trust } from "./trust.ts"

export const allCases: ReadonlyArray<Case> = [
  ...callArguments,
  ...calls,
  ...cancel,
  ...codemode,
  ...envelope,
  ...framing,
  ...hooks,
  ...initialize,
  ...lifecycle,
  ...order,
  ...outcomes,
  ...paths,
  ...preflight,
  ...processes,
  ...protection,
  ...provider,
  ...registry,
  ...results,
  ...schemas,
  ...scopes,
  ...secrets,
  ...sessions,
  ...subagents,
  ...surfaces,
  ...tooling,
  ...toolingCode,
  ...trust
]

/** The cases with this word in their id or in the name of a page they cite; all of them for the empty word. */
export const casesMatching = (word: string): ReadonlyArray<Case> =>
  allCases.filter(({ cites, id }) => [id, ...cites.map(({ page }) => page)].some((text) => text.includes(word)))
