/** The last sending of what was gathered, as closing calls it. docs/operations.md, Traces and metrics. */
import { Context, Effect } from "effect"

/** What may be spent on sending the rest, in milliseconds: inside closing, where it runs beside nothing else. */
export const FLUSH_MS = 300

/** Sends what was gathered, in at most `FLUSH_MS`; nothing where no export is configured. */
export const TelemetryFlush = Context.Reference<Effect.Effect<void>>("magi-code/platform/TelemetryFlush", {
  defaultValue: () => Effect.void
})
