/** The methods of the protocol by name, and which of them are advertised: only what is here is. base-protocol sections 3 and 4. */
import type { Effect } from "effect"
import type { ConnectionState } from "../ConnectionState.ts"
import { clientToolResult } from "./clientToolResult.ts"
import { initialize } from "./initialize.ts"
import type { Method } from "./Method.ts"
import * as model from "./model.ts"
import * as session from "./session.ts"
import { shutdown, status } from "./status.ts"
import * as turn from "./turn.ts"

export const makeMethods = (
  options: Parameters<typeof initialize>[0] & { readonly state: ConnectionState; readonly close: Effect.Effect<void> }
): ReadonlyMap<string, Method> => {
  const { state, fibers } = options
  const methods = [
    initialize(options),
    status(state),
    shutdown(options.close),
    session.create(state),
    session.open(state),
    session.list(state),
    model.catalog(state),
    model.select(state),
    session.historyPage(state),
    turn.start(state, fibers),
    turn.cancel(state),
    turn.answer(state),
    clientToolResult(state)
  ]
  return new Map(methods.map((method) => [method.name, method]))
}
