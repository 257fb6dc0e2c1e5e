/**
 * One toolkit, two uses: with `LanguageModel.generateText`, and as client tools of an agent. The results are the same:
 * `node examples/interop.ts`. In another project the imports are from "magi-code" and "magi-code/testing".
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import { ToolkitTools } from "../src/index.ts"
import { callTool } from "../src/testing/index.ts"
import records from "./tools.ts"

const params = { record_id: "R-17" }

/** A model that calls `lookup_record` once; any provider's Layer goes in its place. */
const OwnModel = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.succeed([{ type: "tool-call", id: "1", name: "lookup_record", params }]),
    streamText: () => {
      throw new Error("not used here")
    }
  })
)

/** What both ways gave. */
export const main = Effect.gen(function* () {
  const response = yield* LanguageModel.generateText({ prompt: "What about R-17?", toolkit: records.toolkit })
  const viaModel = response.toolResults[0]?.encodedResult
  const tools = yield* ToolkitTools.make(records.toolkit)
  const viaAgent = (yield* callTool(tools, "lookup_record", params)).structured
  return { viaModel, viaAgent }
}).pipe(Effect.provide(Layer.merge(OwnModel, records.layer)))

if (process.argv[1] === import.meta.filename)
  NodeRuntime.runMain(Effect.flatMap(main, (both) => Console.log(JSON.stringify(both, null, 2))))
