/** A tool of an application called once, over the whole path of the protocol and without a process. */
import { Deferred, Effect } from "effect"
import { Agent } from "../client/Agent.ts"
import type { AgentOpenError } from "../client/AgentChild.ts"
import type { RequestError } from "../client/AgentErrors.ts"
import type { Approver } from "../client/Approver.ts"
import type { ClientTools } from "../client/ClientTool.ts"
import type { TransportLost } from "../client/TransportLost.ts"
import type { JsonObject } from "../protocol/Json.ts"
import * as ScriptedAgent from "./ScriptedAgent.ts"

/**
 * Registers the tools with an agent in memory, which calls `name` with `args`, and gives the reply: validation, approval,
 * handler, encoding and bounds are those of a real agent. `approver` answers questions; without it they are denied.
 */
export const callTool = (
  tools: ClientTools,
  name: string,
  args: JsonObject = {},
  options: { readonly approver?: Approver } = {}
): Effect.Effect<
  ScriptedAgent.ScriptedReply,
  AgentOpenError | RequestError | TransportLost | ScriptedAgent.ScriptFault
> =>
  Effect.gen(function* () {
    const reply = yield* Deferred.make<ScriptedAgent.ScriptedReply, ScriptedAgent.ScriptFault>()
    const scripted = yield* ScriptedAgent.make({
      onTurn: (run) => Effect.as(Deferred.into(run.call(name, args), reply), "done")
    })
    const agent = yield* Agent.over(scripted.link, { tools, ...options })
    yield* agent.createSession
    yield* agent.run(`call ${name}`)
    return yield* Deferred.await(reply)
  }).pipe(Effect.scoped)
