/** What the runner counts. product section 4 ("metrics for calls, races, queue depth"). */
import * as Metric from "effect/Metric"

/** Tool calls by who or what ended them: `reply`, `deadline`, `cancel`, `run_finished`, `shutdown`, or a failure code. */
export const calls = Metric.frequency("magi_code_tool_calls", {
  description: "tool calls by what ended them"
})
/** Work that did not stop when it was told to. */
export const abandoned = Metric.counter("magi_code_abandoned", {
  description: "tools and runs that were abandoned because they did not stop in time",
  incremental: true
})
/** Runs by their status. */
export const runs = Metric.frequency("magi_code_runs", {
  description: "runs by status"
})
