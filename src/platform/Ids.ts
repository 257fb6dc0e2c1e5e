/** Fresh identifiers. A reference, so that a test can fix them. */
import { randomUUID } from "node:crypto"
import { Context, Effect } from "effect"

/** Makes UUIDs (version 4, lowercase). Call ids are never reused (client-tools, Execute and reply). */
export const UuidSource: Context.Reference<() => string> = Context.Reference<() => string>(
  "magi-code/platform/UuidSource",
  {
    defaultValue: () => randomUUID
  }
)

/** A fresh UUID. */
export const uuid: Effect.Effect<string> = Effect.map(UuidSource, (next) => next())
