/** Signals as effects; the listeners live only while somebody waits. */
import { Effect } from "effect"

/** Ends at the first SIGTERM or SIGINT. While it waits, neither ends the process by itself. */
export const signalled: Effect.Effect<void> = Effect.callback((resume) => {
  const onSignal = () => resume(Effect.void)
  process.on("SIGTERM", onSignal)
  process.on("SIGINT", onSignal)
  return Effect.sync(() => {
    process.off("SIGTERM", onSignal)
    process.off("SIGINT", onSignal)
  })
})
