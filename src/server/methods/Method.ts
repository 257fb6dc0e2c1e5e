/** What a method is to the dispatcher: a name, a lane, and what it does with its params. */
import type { Effect } from "effect"
import type { JsonObject } from "../../protocol/Json.ts"
import type { Respond } from "../Respond.ts"

export interface Method {
  readonly name: string
  /**
   * `immediate`: takes effect before the next line is read. `session`: may wait for the store, one after the other.
   */
  readonly lane: "immediate" | "session"
  /** Decodes the params (check 9), looks at the state (check 10), does it, and answers exactly once. */
  readonly run: (params: JsonObject, respond: Respond) => Effect.Effect<void>
}
