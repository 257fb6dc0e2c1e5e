/** `client.tool.result`: exempt from the session errors; its checks are the broker's (base-protocol sections 2 and 6). */
import { Context, Effect } from "effect"
import { Broker } from "../../broker/Broker.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { ready } from "./backend.ts"
import type { Method } from "./Method.ts"

export const clientToolResult = (state: ConnectionState): Method => ({
  name: "client.tool.result",
  lane: "immediate",
  run: (params, respond) =>
    Effect.gen(function* () {
      const verdict = yield* Context.get(ready(state), Broker).reply(params, () => respond.success({ accepted: true }))
      if (verdict._tag === "Refused") respond.failure(verdict.code, verdict.message, verdict.path)
    })
})
