/** The timeline in the output of `magi-code run --json`. Times are those of the client. product section 1. */
import { Result } from "effect"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { parse } from "../../protocol/StrictJson.ts"
import { CommandFailed } from "../help/errors.ts"
import { makeTrace, type Trace, type TraceRow, type TraceRun } from "./Trace.ts"

type Draft = { -readonly [Key in keyof TraceRow]: TraceRow[Key] } & { timeoutMs: number | null }

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)
const number = (value: Json | undefined): number | null => (typeof value === "number" ? value : null)

/** Follows the lines. What is unknown in them is passed over. */
class Reader {
  readonly activities = new Map<string, Draft>()
  readonly calls = new Map<string, Draft>()
  readonly runs = new Map<string, { start: number; end: number; status: string }>()
  last = 0

  take(line: JsonObject, at: number): void {
    this.last = Math.max(this.last, at)
    if (line["type"] === "reply") {
      this.#reply(text(line["call_id"]), text(line["status"]) ?? "?", at)
      return
    }
    const data = line["data"]
    if (line["type"] !== "event" || data === undefined || !isJsonObject(data)) return
    const run = text(data["run_id"]) ?? "?"
    const of = this.runs.get(run) ?? { start: at, end: at, status: "not finished" }
    of.end = at
    this.runs.set(run, of)
    switch (line["event"]) {
      case "activity.started":
        this.#began(this.activities, text(data["activity_id"]), data, text(data["kind"]) ?? "tool", at)
        return
      case "activity.finished":
        this.#finished(data, at)
        return
      case "client.tool.call": {
        const call = this.#began(this.calls, text(data["call_id"]), data, "client call", at)
        if (call === undefined) return
        call.callId = call.id
        call.published = at
        call.timeoutMs = number(data["timeout_ms"])
        call.deadline = call.timeoutMs === null ? null : at + call.timeoutMs
        return
      }
      case "client.tool.cancel": {
        const reason = text(data["reason"]) ?? "?"
        this.#settle(
          this.calls.get(text(data["call_id"]) ?? ""),
          reason === "timeout" ? "deadline" : reason,
          "cancelled",
          at
        )
        return
      }
      case "run.finished":
        of.status = text(data["status"]) ?? "?"
        return
    }
  }

  #began(into: Map<string, Draft>, id: string | null, data: JsonObject, kind: string, at: number): Draft | undefined {
    if (id === null || into.has(id)) return undefined
    const draft: Draft = {
      id,
      parent: text(data["parent_id"]),
      run: text(data["run_id"]) ?? "?",
      task: text(data["task_id"]),
      kind,
      name: text(data["name"]) ?? "?",
      callId: null,
      start: at,
      published: null,
      deadline: null,
      end: null,
      status: "open",
      winner: null,
      also: [],
      timeoutMs: null
    }
    into.set(id, draft)
    return draft
  }

  #settle(row: Draft | undefined, winner: string, status: string, at: number): void {
    if (row === undefined) return
    if (row.end !== null) {
      row.also = [...row.also, `${winner} at ${at.toFixed(1)} ms`]
      return
    }
    row.end = at
    row.winner = winner
    row.status = status
  }

  #reply(id: string | null, status: string, at: number): void {
    this.#settle(id === null ? undefined : this.calls.get(id), "reply", status === "error" ? "failure" : status, at)
  }

  /** A client call and its activity are one row: the call's times, the agent's word on who won. */
  #finished(data: JsonObject, at: number): void {
    const activity = this.activities.get(text(data["activity_id"]) ?? "")
    if (activity === undefined) return
    const code = text(data["code"])
    this.#settle(activity, code ?? "reply", text(data["status"]) ?? "?", at)
    const call = this.calls.get(text(data["call_id"]) ?? "")
    if (call === undefined) return
    activity.callId = call.id
    activity.kind = call.kind
    activity.published = call.published
    activity.deadline = call.deadline
    const late = call.winner === "reply" && code === "client_tool_timeout"
    activity.winner = late ? "deadline" : (call.winner ?? activity.winner)
    activity.also = late && call.end !== null ? [...call.also, `reply at ${call.end.toFixed(1)} ms`] : call.also
    this.calls.delete(call.id)
  }
}

/** Reads the whole file; gives an error that names the line. */
export const fromRunFile = (name: string, contents: string): Trace => {
  const reader = new Reader()
  let lines = 0
  let cut = false
  const all = contents.split("\n")
  for (const [index, raw] of all.entries()) {
    if (raw.trim() === "") continue
    const read = parse(raw, { maxDepth: 64 })
    // Of a run that was killed the last line may be half a line.
    if (Result.isFailure(read) && lines > 0 && index === all.length - 1) {
      cut = true
      break
    }
    const line = Result.isSuccess(read) ? read.success : null
    const object = line !== null && isJsonObject(line) ? line : undefined
    const at = number(object?.["t"])
    if (object === undefined || at === null || typeof object["type"] !== "string") {
      throw new CommandFailed(`${name}: line ${index + 1} is not a line of magi-code run --json`)
    }
    lines += 1
    reader.take(object, at)
  }
  if (lines === 0) throw new CommandFailed(`${name} is empty: it should hold the output of magi-code run --json`)
  const drafts = [...reader.activities.values(), ...reader.calls.values()]
  const zero = Math.min(...[...reader.runs.values()].map(({ start }) => start), reader.last)
  const moved = (at: number | null) => (at === null ? null : at - zero)
  const rows = drafts.map(
    ({ timeoutMs: _, ...row }): TraceRow => ({
      ...row,
      start: row.start - zero,
      published: moved(row.published),
      deadline: moved(row.deadline),
      end: moved(row.end)
    })
  )
  const runs = [...reader.runs].map(
    ([id, run]): TraceRun => ({ id, status: run.status, start: run.start - zero, end: run.end - zero })
  )
  const notes = ["times are those of the client", ...(cut ? ["the last line is cut off"] : [])]
  return makeTrace({ source: name, runs, rows, notes })
}
