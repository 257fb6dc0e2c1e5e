/** product section 4: any toolkit written for `LanguageModel` becomes client tools unchanged. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Effect } from "effect"
import { main } from "../../examples/interop.ts"
import type records from "../../examples/tools.ts"
import type { PromiseTurn } from "../../src/client/promise.ts"
import type { ClientTools, ToolkitTools, ToolRefused, Turn, TurnEvent, TurnOutcome } from "../../src/index.ts"

describe("interoperability", () => {
  it.effect("with generateText and as client tools, a toolkit gives the same result", () =>
    Effect.gen(function* () {
      const { viaAgent, viaModel } = yield* main
      assert.deepStrictEqual(viaAgent, viaModel)
      assert.deepInclude(viaAgent, { record_id: "R-17", status: "open" })
    })
  )

  it("inference: requirements are the toolkit's handlers, outcomes and events are typed", () => {
    type Made = ReturnType<typeof ToolkitTools.make<typeof records.toolkit.tools>>
    expectTypeOf<Effect.Success<Made>>().toEqualTypeOf<ClientTools>()
    expectTypeOf<Effect.Error<Made>>().toEqualTypeOf<ToolRefused>()
    expectTypeOf<Effect.Success<Turn["outcome"]>>().toEqualTypeOf<TurnOutcome>()
    expectTypeOf<Awaited<PromiseTurn["outcome"]>>().toEqualTypeOf<TurnOutcome>()
    expectTypeOf<Extract<TurnEvent, { event: "message.delta" }>>().toExtend<{
      readonly _tag: "Event" | "UnknownEvent"
    }>()
  })
})
