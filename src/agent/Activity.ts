/**
 * One activity as people see it: its start, its summaries, its card, its end. base-protocol section 5 (activities, tool
 * card schema 1). What is shown is masked; a card holds a path or a command, never contents, output or raw arguments.
 */
import { Effect } from "effect"
import type { ProtectedResultsShape } from "../broker/ProtectedResult.ts"
import { truncateText } from "../protocol/CompactJson.ts"
import type { RunFailureCode, ToolFailureCode } from "../protocol/ErrorCode.ts"
import type { ActivityKind, ActivityStatus, CardData, CardRole } from "../protocol/Event.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { CARD_LINE_BYTES, CARD_LINES, CARD_TITLE_BYTES, SUMMARY_BYTES } from "../protocol/Limits.ts"
import type { ToolStatus } from "../store/SessionRecord.ts"
import type { RunEventsShape } from "./RunEvents.ts"

export interface ActivityInfo {
  readonly activityId: string
  readonly parentId: string | null
  readonly kind: ActivityKind
  /** A name that a model gave may be of any length: it is shown cut. */
  readonly name: string
  readonly taskId: string | null
  readonly role: CardRole
}

export interface ActivityEnd {
  readonly status: ToolStatus
  readonly callId: string | null
  readonly code: ToolFailureCode | RunFailureCode | null
}

export interface Activity {
  readonly start: Effect.Effect<void>
  /** A droppable summary; longer ones are cut on a character boundary. */
  readonly update: (summary: string) => Effect.Effect<void>
  /** What is running, for the card. */
  readonly running: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Places the final card and `activity.finished`, synchronously; gives the card and the wait for their admission. */
  readonly finish: (end: ActivityEnd) => { readonly card: JsonObject; readonly admitted: Effect.Effect<void> }
}

/** What an ending is called as an activity (section 6, "What an ending becomes"). */
export const activityStatus = (status: ToolStatus): ActivityStatus =>
  status === "success" || status === "failure" ? status : "cancelled"

export const make = (
  deps: { readonly events: RunEventsShape; readonly results: ProtectedResultsShape; readonly cards: boolean },
  info: ActivityInfo
): Activity => {
  const name = truncateText(info.name.toWellFormed(), CARD_TITLE_BYTES)
  let revision = 0
  let lines: ReadonlyArray<string> = []

  // Every activity has one card at most, so the card's id is the activity's, and the parents' ids agree as well.
  const card = (state: CardData["state"], outcome: CardData["outcome"]): CardData => ({
    schema_version: 1,
    card_id: info.activityId,
    revision: ++revision,
    activity_id: info.activityId,
    parent_card_id: info.parentId,
    role: info.role,
    title: name,
    state,
    outcome,
    lines
  })

  const masked = (line: string) =>
    Effect.map(deps.results.maskText(line), (text) => truncateText(text.replaceAll("\n", " "), CARD_LINE_BYTES))

  return {
    start: deps.events.emit("activity.started", {
      activity_id: info.activityId,
      parent_id: info.parentId,
      kind: info.kind,
      name,
      task_id: info.taskId
    }),
    update: (summary) =>
      Effect.flatMap(deps.results.maskText(summary), (text) =>
        deps.events.emit(
          "activity.updated",
          { activity_id: info.activityId, summary: truncateText(text, SUMMARY_BYTES) },
          { droppable: true }
        )
      ),
    running: (raw) =>
      Effect.gen(function* () {
        lines = yield* Effect.forEach(raw.slice(0, CARD_LINES), masked)
        if (!deps.cards) return
        yield* deps.events.emit(
          "tool.card",
          { activity_id: info.activityId, card: card("running", null) },
          { droppable: true }
        )
      }),
    finish: (end) => {
      const last = card("finished", end.status)
      const shown = deps.cards
        ? deps.events.place("tool.card", { activity_id: info.activityId, card: last })
        : Effect.void
      const finished = deps.events.place("activity.finished", {
        activity_id: info.activityId,
        status: activityStatus(end.status),
        call_id: end.callId,
        code: end.code
      })
      return { card: last, admitted: Effect.andThen(shown, finished) }
    }
  }
}
