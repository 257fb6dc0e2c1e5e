/** The timeline row of a call or a subagent, for `magi-code trace`: when and who, no values. store/SessionRecord. */
import { Clock, Effect } from "effect"
import type { CallTimeline, ToolStatus } from "../store/SessionRecord.ts"
import type { ToolContext } from "../tools/Tool.ts"

/** What the broker saw of a client call. */
export type ObservedTimes = Parameters<ToolContext["observed"]>[0]

/** Monotonic milliseconds of this process. */
export const now: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

interface Ended {
  readonly status: ToolStatus
  /** `null` on success. */
  readonly code: string | null
}

/** Who ended it: the broker knows of a client call; of any other its ending says so. */
export const winnerOf = (times: ObservedTimes | undefined, end: Ended): string => {
  if (times && times.winner !== "failed") return times.winner
  if (end.status === "cancelled") return "cancel"
  if (end.status === "interrupted") return "shutdown"
  return end.code ?? "reply"
}

/** The row of what began at `began` and ends now. */
export const row = (
  of: Pick<CallTimeline, "callKey" | "callId" | "runId" | "activityId" | "parentActivityId" | "taskId" | "name">,
  began: number,
  end: Ended,
  times?: ObservedTimes
): Effect.Effect<CallTimeline> =>
  Effect.map(now, (settled) => ({
    ...of,
    registeredMs: times?.registeredMs ?? began,
    publishedMs: times?.publishedMs ?? null,
    deadlineMs: times?.deadlineMs ?? null,
    settledMs: times?.settledMs ?? settled,
    winner: winnerOf(times, end),
    status: end.status
  }))
