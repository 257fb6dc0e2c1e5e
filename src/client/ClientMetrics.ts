/** What a client counts. product section 4 ("metrics for calls, races, queue depth"). */
import * as Metric from "effect/Metric"

/** Calls by who ended them: `completed`, a cancel reason, `deadline`, `lost`, … */
export const calls = Metric.frequency("magi_code_client_calls", {
  description: "client tool calls by what ended them"
})
/** A handler that was done, but too late: another had ended its call. */
export const lateCompletions = Metric.counter("magi_code_client_late_completions", {
  description: "handlers that finished after their call had ended",
  incremental: true
})
/** Calls that were answered with an error without running a handler, because too many ran. */
export const busyCalls = Metric.counter("magi_code_client_busy_calls", {
  description: "calls refused because 16 bodies ran or 32 fibers were alive",
  incremental: true
})
/** Handler bodies that run now; at most 16. */
export const running = Metric.gauge("magi_code_client_running_handlers", {
  description: "handler bodies that run now"
})
/** Frames that the agent has not taken yet. */
export const queuedFrames = Metric.gauge("magi_code_client_queued_frames", {
  description: "frames on their way to the agent"
})
