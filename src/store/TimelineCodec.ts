/** The private timeline rows as text, and back: what `magi-code trace` reads. */
import { isJsonObject, type Json } from "../protocol/Json.ts"
import type { CallTimeline, ToolStatus } from "./SessionRecord.ts"

const statuses: ReadonlyArray<ToolStatus> = ["success", "failure", "cancelled", "interrupted", "unknown"]

const isText = (value: Json | undefined): value is string => typeof value === "string"
const isTextOrNull = (value: Json | undefined): value is string | null => value === null || isText(value)
const isTimeOrNull = (value: Json | undefined): value is number | null => value === null || typeof value === "number"

/** The stored text of a row. */
export const encodeTimeline = (row: CallTimeline): string => JSON.stringify(row)

/** The row a stored text stands for; `undefined`: the text is damaged. */
export const decodeTimeline = (body: string): CallTimeline | undefined => {
  let row: Json
  try {
    row = JSON.parse(body)
  } catch {
    return undefined
  }
  if (!isJsonObject(row)) return undefined
  const { callKey, callId, runId, activityId, parentActivityId, taskId, name, winner, settledMs } = row
  const { registeredMs, publishedMs, deadlineMs } = row
  const status = statuses.find((one) => one === row["status"])
  const named = isText(callKey) && isText(runId) && isText(activityId) && isText(name) && isText(winner)
  const placed = isTextOrNull(callId) && isTextOrNull(parentActivityId) && isTextOrNull(taskId)
  const timed = isTimeOrNull(registeredMs) && isTimeOrNull(publishedMs) && isTimeOrNull(deadlineMs)
  if (!named || !placed || !timed || typeof settledMs !== "number" || status === undefined) return undefined
  return {
    callKey,
    callId,
    runId,
    activityId,
    parentActivityId,
    taskId,
    name,
    registeredMs,
    publishedMs,
    deadlineMs,
    settledMs,
    winner,
    status
  }
}
