/** One rule of the protocol broken each, for `proxy.ts`: what the client reads differs from what the backend wrote. */
import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** A frame that the backend wrote; `sequence` is that of an event. */
export interface Frame {
  readonly event?: string
  readonly sequence?: number
  readonly data?: { readonly [member: string]: unknown }
  readonly result?: { readonly [member: string]: unknown }
  readonly error?: { readonly code: string }
}

export interface Defect {
  /** Before the backend starts. */
  readonly starts?: () => void
  /** The frames in place of one. Events are numbered anew behind it, so that one too many or too few shows only as such. */
  readonly frames?: (frame: Frame) => ReadonlyArray<Frame>
  /** The line in place of a frame's, after its event was numbered. */
  readonly line?: (text: string, frame: Frame) => string
  /** What a frame waits for, and with it all that follow. */
  readonly delay?: (frame: Frame) => Promise<void> | undefined
  readonly inputEnds?: () => void
  readonly exitCode?: (code: number) => number
}

const isCancel = ({ data, event }: Frame, reason?: string): boolean =>
  event === "client.tool.cancel" && (reason === undefined || data?.["reason"] === reason)

export const defects = {
  none: (): Defect => ({}),

  "sequence-repeated": (): Defect => ({
    line: (text, { sequence }) => (sequence === 2 ? text.replace('"sequence":2,', '"sequence":1,') : text)
  }),

  "not-compact": (): Defect => ({ line: (text) => text.replace(":", ": ") }),

  "cancel-swallowed": (): Defect => ({ frames: (frame) => (isCancel(frame) ? [] : [frame]) }),

  "timeout-late": (): Defect => ({ delay: (frame) => (isCancel(frame, "timeout") ? sleep(600) : undefined) }),

  "stale-accepted": (): Defect => ({
    frames: (frame) => {
      if (frame.error?.code !== "stale_client_tool_call") return [frame]
      const { error: _, ...rest } = frame
      return [{ ...rest, result: { accepted: true } }]
    }
  }),

  "unknown-code": (): Defect => ({
    frames: (frame) =>
      frame.error?.code === "invalid_request" ? [{ ...frame, error: { ...frame.error, code: "parse_error" } }] : [frame]
  }),

  "seventeenth-call": (): Defect => {
    let calls = 0
    return {
      frames: (frame) => {
        if (frame.event !== "client.tool.call" || ++calls !== 16) return [frame]
        return [frame, { ...frame, data: { ...frame.data, call_id: "5eaf00d5-0000-4000-8000-000000000017" } }]
      }
    }
  },

  "argument-lost": (): Defect => ({
    frames: (frame) => {
      if (frame.event !== "client.tool.call") return [frame]
      const [, ...rest] = Object.entries(frame.data?.["arguments"] ?? {})
      return [{ ...frame, data: { ...frame.data, arguments: Object.fromEntries(rest) } }]
    }
  }),

  "arguments-in-activity": (): Defect => {
    let activity_id: unknown
    return {
      frames: (frame) => {
        if (frame.event === "activity.started") activity_id = frame.data?.["activity_id"]
        if (frame.event !== "client.tool.call") return [frame]
        const { session_id, run_id, ...call } = frame.data ?? {}
        const summary = JSON.stringify(call["arguments"])
        return [frame, { ...frame, event: "activity.updated", data: { session_id, run_id, activity_id, summary } }]
      }
    }
  },

  "answer-behind-event": (): Defect => {
    let held: ReadonlyArray<Frame> = []
    return {
      frames: (frame) => {
        const behind = held
        held = frame.result?.["accepted"] === true ? [frame] : []
        return held.length > 0 ? behind : [frame, ...behind]
      }
    }
  },

  "run-finished-twice": (): Defect => ({
    frames: (frame) => (frame.event === "run.finished" ? [frame, frame] : [frame])
  }),

  "process-left": (): Defect => ({
    // In a group of its own, as a tool that was forgotten; it ends by itself should nobody look for it.
    inputEnds: () => spawn("sleep", ["20"], { detached: true, stdio: "ignore" }).unref()
  }),

  "home-created-early": (): Defect => ({ starts: () => mkdirSync(process.env["MC_HOME"] ?? "", { recursive: true }) }),

  "exit-code": (): Defect => ({ exitCode: (code) => (code === 2 ? 0 : code) })
}

export type DefectName = keyof typeof defects

export const isDefect = (name: string): name is DefectName => Object.hasOwn(defects, name)
