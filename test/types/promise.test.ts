/** The types of `magi-code/promise`: no Effect in them. `npm run check` judges these. product section 4. */
import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  type ApprovalQuestion,
  type HistoryItem,
  type OpenOptions,
  openAgent,
  type PlainTool,
  type PlainToolContext,
  type PromiseAgent,
  type PromiseTurn,
  type Recycled,
  type TurnEvent,
  type TurnOutcome
} from "../../src/client/promise.ts"

describe("magi-code/promise", () => {
  it("opens an agent that can be awaited and disposed of", () => {
    expectTypeOf(openAgent).returns.toEqualTypeOf<Promise<PromiseAgent>>()
    expectTypeOf(openAgent).parameters.toEqualTypeOf<[options?: OpenOptions | undefined]>()
    expectTypeOf<PromiseAgent>().toExtend<AsyncDisposable>()
    expectTypeOf<PromiseTurn>().toExtend<AsyncDisposable>()
  })

  it("turns are promises and async iterables", () => {
    expectTypeOf<PromiseAgent["turn"]>().returns.toEqualTypeOf<Promise<PromiseTurn>>()
    expectTypeOf<PromiseAgent["run"]>().returns.toEqualTypeOf<Promise<TurnOutcome>>()
    expectTypeOf<PromiseAgent["run"]>().parameters.toEqualTypeOf<
      [prompt: string, options?: { readonly signal?: AbortSignal } | undefined]
    >()
    expectTypeOf<PromiseTurn["events"]>().toEqualTypeOf<AsyncIterable<TurnEvent>>()
    expectTypeOf<PromiseAgent["history"]>().returns.toEqualTypeOf<AsyncIterable<HistoryItem>>()
    expectTypeOf<PromiseAgent["recycle"]>().returns.toEqualTypeOf<Promise<Recycled>>()
  })

  it("an approver may answer at once or later, and sees the question's end", () => {
    expectTypeOf<NonNullable<OpenOptions["approver"]>>().toEqualTypeOf<
      (question: ApprovalQuestion, signal: AbortSignal) => boolean | Promise<boolean>
    >()
  })

  it("a tool's function may give anything, and gets its context", () => {
    expectTypeOf<PlainTool["execute"]>().returns.toEqualTypeOf<unknown>()
    expectTypeOf<PlainTool["execute"]>().parameter(1).toEqualTypeOf<PlainToolContext>()
    expectTypeOf<PlainToolContext["signal"]>().toEqualTypeOf<AbortSignal>()
    expectTypeOf<PlainToolContext["remainingMs"]>().toEqualTypeOf<() => number>()
  })
})
