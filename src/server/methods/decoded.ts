/** Check 9 for a method whose params are what `protocol/Method` says: refused with the pointer, or handed on decoded. */
import { Effect } from "effect"
import type { JsonObject } from "../../protocol/Json.ts"
import { decodeParams, type MethodName, type ParamsOf } from "../../protocol/Method.ts"
import type { Respond } from "../Respond.ts"
import type { Method } from "./Method.ts"

export const method = <Name extends MethodName>(
  name: Name,
  lane: Method["lane"],
  run: (params: ParamsOf<Name>, respond: Respond) => Effect.Effect<void>
): Method => ({
  name,
  lane,
  run: (params: JsonObject, respond: Respond) =>
    Effect.suspend(() => {
      const decoded = decodeParams(name, params)
      if (decoded._tag === "Success") return run(decoded.success, respond)
      respond.failure("invalid_params", decoded.failure.message, decoded.failure.path)
      return Effect.void
    })
})
