/** The methods of the protocol by name, and which of them are advertised: only what is here is. base-protocol sections 3 and 4. */
import type { Effect } from "effect"
import { baseCapabilities, optionalCapabilities } from "../../protocol/Capability.ts"
import { clientToolResult } from "./clientToolResult.ts"
import { initialize } from "./initialize.ts"
import type { Method } from "./Method.ts"
import * as model from "./model.ts"
import * as session from "./session.ts"
import { shutdown, status } from "./status.ts"
import * as turn from "./turn.ts"

export const makeMethods = (
  options: Omit<Parameters<typeof initialize>[0], "capabilities"> & { readonly close: Effect.Effect<void> }
): ReadonlyMap<string, Method> => {
  const { state, fibers } = options
  const methods = [
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
  const names = new Set(["initialize", ...methods.map((one) => one.name)])
  const capabilities = [...baseCapabilities.filter((name) => names.has(name)), ...optionalCapabilities]
  return new Map([initialize({ ...options, capabilities }), ...methods].map((one) => [one.name, one]))
}
