/** The names that `initialize` negotiates. base-protocol section 3. */

/** The base methods, in the order in which `capabilities` lists those that are implemented. */
export const baseCapabilities = [
  "initialize",
  "status",
  "shutdown",
  "session.create",
  "session.open",
  "session.list",
  "model.catalog",
  "selection.set",
  "history.page",
  "turn.start",
  "turn.cancel",
  "approval.answer"
] as const

/** Cards that show a call's progress as lines (`tool.card`, and `tool_card` in the history). */
export const TOOL_CARDS = "tool.cards"
/** Tools that the client provides and the agent's model calls. client-tools, Negotiate once. */
export const CLIENT_TOOLS = "client.tools"

/** Listed after the base methods, in this order, each only if it was requested. */
export const optionalCapabilities = [TOOL_CARDS, CLIENT_TOOLS] as const

/** A name that `required_capabilities` may list. */
export type Capability = (typeof baseCapabilities)[number] | (typeof optionalCapabilities)[number]

/** What the initialize result announces: the implemented base methods, then what was requested of the optional two. */
export const announced = (known: ReadonlyArray<string>, requested: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...baseCapabilities.filter((name) => known.includes(name)),
  ...optionalCapabilities.filter((name) => known.includes(name) && requested.includes(name))
]
