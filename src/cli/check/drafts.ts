/** The tools of a file before they are checked, whichever way they were written. Handlers are not built and nothing runs. */
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { ToolRefused } from "../../client/AgentErrors.ts"
import * as PlainTools from "../../client/PlainTools.ts"
import type { Draft } from "../../client/Registry.ts"
import type { ToolsExport } from "../run/ToolsFile.ts"

export interface NamedDraft {
  /** As given; of a plain tool without a name, its place. */
  readonly name: string
  readonly draft: Result.Result<Draft, ToolRefused>
}

export const draftsOf = (exported: ToolsExport): Effect.Effect<ReadonlyArray<NamedDraft>> => {
  if (exported._tag === "Plain") {
    return Effect.sync(() =>
      exported.tools.map((tool, index) => {
        const name: unknown = typeof tool === "object" && tool !== null ? Reflect.get(tool, "name") : undefined
        return {
          name: typeof name === "string" ? name : `number ${index + 1}`,
          draft: PlainTools.draftOf(tool, index)
        }
      })
    )
  }
  return Effect.gen(function* () {
    const { draftOf } = yield* Effect.promise(() => import("../../client/ToolkitTools.ts"))
    const never = () => () => Effect.die("a checked tool is not run")
    return Object.values(exported.toolkit.tools).map((tool) => ({
      name: String(tool.name),
      draft: draftOf(tool, never)
    }))
  })
}
