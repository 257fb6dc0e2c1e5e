/**
 * Decoding of event data, as a client does it: every member of its type, unknown members passed over.
 *
 * base-protocol section 5; product section 5, frames from the agent.
 */
import type * as Result from "effect/Result"
import { cancelReasons } from "./ErrorCode.ts"
import { type CardData, type EventData, type EventName, eventNames, type Usage } from "./Event.ts"
import type { JsonObject } from "./Json.ts"
import {
  arrayOf,
  type Check,
  count,
  decodeOpen,
  id,
  literal,
  nullable,
  object,
  oneOf,
  open,
  type ParamsFault,
  type Shape,
  string
} from "./Params.ts"

const ofRun = { session_id: id, run_id: id }
const ofCall = { ...ofRun, call_id: id, task_id: nullable(id), subagent_id: nullable(id) }

/** A tool card, schema 1. */
export const card: Check<CardData> = open<CardData>({
  required: {
    schema_version: literal(1),
    card_id: id,
    revision: count,
    activity_id: id,
    parent_card_id: nullable(id),
    role: oneOf("generic", "bash", "read", "edit", "search", "subagent", "code_mode"),
    title: string,
    state: oneOf("running", "finished"),
    outcome: nullable(oneOf("success", "failure", "cancelled", "interrupted", "unknown")),
    lines: arrayOf(string)
  }
})

const usage: Check<Usage> = open<Usage>({ required: { input_tokens: count, output_tokens: count } })

const shapes: { readonly [Name in EventName]: Shape<EventData[Name]> } = {
  "run.started": { required: { ...ofRun, provider: string, model: string } },
  "input.saved": { required: { ...ofRun, durable: literal(true), history_revision: id } },
  "message.delta": { required: { ...ofRun, message_id: id, text: string } },
  "message.reconcile": { required: { ...ofRun, message_id: id, part: count, parts: count, text: string } },
  "activity.started": {
    required: {
      ...ofRun,
      activity_id: id,
      parent_id: nullable(id),
      kind: oneOf("tool", "subagent", "code_mode"),
      name: string,
      task_id: nullable(id)
    }
  },
  "activity.updated": { required: { ...ofRun, activity_id: id, summary: string } },
  "activity.finished": {
    required: {
      ...ofRun,
      activity_id: id,
      status: oneOf("success", "failure", "cancelled"),
      call_id: nullable(id),
      code: nullable(string)
    }
  },
  "tool.card": { required: { ...ofRun, activity_id: id, card } },
  "approval.request": {
    required: {
      ...ofRun,
      approval_id: id,
      kind: oneOf("bash", "write", "read"),
      summary: string,
      task_id: nullable(id),
      subagent_id: nullable(id),
      timeout_ms: count
    }
  },
  "approval.closed": {
    required: { ...ofRun, approval_id: id, reason: oneOf("answered", "timeout", "cancelled") }
  },
  "client.tool.call": { required: { ...ofCall, name: string, arguments: object, timeout_ms: count } },
  "client.tool.cancel": { required: { ...ofCall, reason: oneOf(...cancelReasons) } },
  "run.finished": {
    required: {
      ...ofRun,
      status: oneOf("completed", "failed", "cancelled"),
      error: nullable(
        open<{ readonly code: string; readonly message: string }>({
          required: { code: string, message: string }
        })
      ),
      persistence: oneOf("complete", "degraded"),
      history_revision: id,
      usage: nullable(usage)
    }
  }
}

/** An unknown event is passed over by a client. */
export const isEventName = (name: string): name is EventName => eventNames.some((one) => one === name)

/** Checks the data of a known event. Unknown members stay in the value, untyped. */
export const decodeEventData = <Name extends EventName>(
  name: Name,
  data: JsonObject
): Result.Result<EventData[Name], ParamsFault> => {
  const shape: Shape<EventData[Name]> = shapes[name]
  return decodeOpen(data, shape)
}
