/**
 * Session records as text, and back. A file is read by other processes and later versions, and may have been damaged or
 * edited, so what comes back is checked member by member. By hand, because this runs in the store's worker, which loads
 * nothing but the driver.
 */
import { toolFailureCodes } from "../protocol/ErrorCode.ts"
import { isJsonObject, type Json, type JsonObject } from "../protocol/Json.ts"
import type { RecordedCall, RecordedOutcome, SessionRecord, TokenUsage, ToolStatus } from "./SessionRecord.ts"
import type { RecordRow } from "./StoreMessages.ts"

const toolStatuses: ReadonlyArray<ToolStatus> = ["success", "failure", "cancelled", "interrupted", "unknown"]
const runStatuses = ["completed", "failed", "cancelled"] as const
const outcomeCodes = [...toolFailureCodes, "unknown"] as const

class Damaged extends Error {}

const text = (object: JsonObject, key: string): string => {
  const value = object[key]
  if (typeof value !== "string") throw new Damaged()
  return value
}

const textOrNull = (object: JsonObject, key: string): string | null => (object[key] === null ? null : text(object, key))

const object = (value: Json | undefined): JsonObject => {
  if (!isJsonObject(value)) throw new Damaged()
  return value
}

const objectOrNull = (value: Json | undefined): JsonObject | null => (value === null ? null : object(value))

const flag = (value: Json | undefined): boolean => {
  if (typeof value !== "boolean") throw new Damaged()
  return value
}

const count = (value: Json | undefined): number => {
  if (typeof value !== "number") throw new Damaged()
  return value
}

const oneOf = <A extends string>(value: Json | undefined, all: ReadonlyArray<A>): A => {
  const found = all.find((candidate) => candidate === value)
  if (found === undefined) throw new Damaged()
  return found
}

const list = <A>(value: Json | undefined, item: (value: Json) => A): ReadonlyArray<A> => {
  if (!Array.isArray(value)) throw new Damaged()
  return value.map(item)
}

const string = (value: Json): string => {
  if (typeof value !== "string") throw new Damaged()
  return value
}

const call = (value: Json): RecordedCall => {
  const it = object(value)
  return {
    callKey: text(it, "callKey"),
    providerCallId: text(it, "providerCallId"),
    name: text(it, "name"),
    arguments: objectOrNull(it["arguments"]),
    invalid: textOrNull(it, "invalid")
  }
}

const outcome = (value: Json | undefined): RecordedOutcome => {
  const it = object(value)
  const error = objectOrNull(it["error"])
  const structured = it["structured"]
  return {
    success: flag(it["success"]),
    text: text(it, "text"),
    ...(structured === undefined ? {} : { structured }),
    error: error === null ? null : { code: oneOf(error["code"], outcomeCodes), message: text(error, "message") }
  }
}

const usage = (value: Json | undefined): TokenUsage | null => {
  const it = objectOrNull(value)
  return it === null ? null : { input_tokens: count(it["input_tokens"]), output_tokens: count(it["output_tokens"]) }
}

const record = (it: JsonObject): SessionRecord => {
  const base = { entryId: text(it, "entryId"), createdAt: text(it, "createdAt"), runId: text(it, "runId") }
  if (Number.isNaN(Date.parse(base.createdAt))) throw new Damaged()
  const kind = text(it, "kind")
  switch (kind) {
    case "user":
    case "notice":
      return { kind, ...base, text: text(it, "text") }
    case "assistant":
      return { kind, ...base, text: text(it, "text"), calls: list(it["calls"], call) }
    case "call_started":
      return {
        kind,
        ...base,
        callKey: text(it, "callKey"),
        name: text(it, "name"),
        taskId: textOrNull(it, "taskId"),
        parentKey: textOrNull(it, "parentKey")
      }
    case "call_outcome":
      return {
        kind,
        ...base,
        callKey: text(it, "callKey"),
        name: text(it, "name"),
        taskId: textOrNull(it, "taskId"),
        parentKey: textOrNull(it, "parentKey"),
        status: oneOf(it["status"], toolStatuses),
        outcome: outcome(it["outcome"]),
        card: objectOrNull(it["card"])
      }
    case "compaction":
      return {
        kind,
        ...base,
        keepFrom: textOrNull(it, "keepFrom"),
        summary: text(it, "summary"),
        clearedResults: list(it["clearedResults"], string)
      }
    case "run_finished":
      return { kind, ...base, status: oneOf(it["status"], runStatuses), usage: usage(it["usage"]) }
    default:
      throw new Damaged()
  }
}

/** The stored text of a record. */
export const encodeRecord = (value: SessionRecord): string => JSON.stringify(value)

/** The record a stored text stands for; `undefined`: the text is damaged. */
export const decodeRecord = (body: string): SessionRecord | undefined => {
  try {
    const value: Json = JSON.parse(body)
    return isJsonObject(value) ? record(value) : undefined
  } catch {
    return undefined
  }
}

/** A record as a row of the store. `entries`: how many history entries it adds. */
export const rowOfRecord = (value: SessionRecord, entries: number): RecordRow => ({
  entryId: value.entryId,
  kind: value.kind,
  runId: value.runId,
  createdAt: value.createdAt,
  callKey: value.kind === "call_started" || value.kind === "call_outcome" ? value.callKey : null,
  entries,
  body: encodeRecord(value)
})
