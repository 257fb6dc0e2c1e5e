/**
 * What the agent and the thread of a script say to each other. Every value of a script travels as JSON text: no object of
 * the one side ever exists on the other.
 *
 * base-protocol section 7.
 */
import { type CodeModeBounds, EXCEPTION_CHARACTERS, NAME_JSON_CHARACTERS } from "./CodeModeLimits.ts"

/** A tool as `tools.list`, `tools.search` and `tools.describe` show it. `schema` is JSON text. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly schema: string
}

/** Starts the script; the first message to a thread, and only once. */
export interface RunScript {
  readonly type: "run"
  readonly code: string
  readonly tools: ReadonlyArray<ListedTool>
  readonly bounds: CodeModeBounds
  /** What is left of the script's time. */
  readonly ms: number
}

/** An inner call has ended. */
export interface CallSettled {
  readonly type: "settled"
  readonly id: number
  /** JSON text of `{success, content, error?}`. */
  readonly result: string
  readonly bytesLeft: number
}

export type ToThread = RunScript | CallSettled

/** Why a script ended without a value, as far as its thread can tell. */
export const scriptFaults = ["exception", "value", "heap", "returned_bytes", "stuck", "engine"] as const

/**
 * - `exception`: uncaught, or the source does not parse;
 * - `value`: the returned value is not JSON;
 * - `heap`, `returned_bytes`: the bound of that name;
 * - `stuck`: the script waits, and nothing is under way that it could wait for;
 * - `engine`: the engine itself gave up.
 */
export type ScriptFault = (typeof scriptFaults)[number]

/** What a script makes its thread say. */
export type FromScript =
  /** `name` is JSON text; `args` too, `null` where the arguments cannot be JSON. */
  | { readonly type: "call"; readonly id: number; readonly name: string; readonly args: string | null }
  | { readonly type: "returned"; readonly value: string }
  | {
      readonly type: "failed"
      readonly fault: ScriptFault
      readonly text: string
      /** Counted from 1 in the script as given; `null` where it is not known. */
      readonly line: number | null
    }

/** `ready`: the engine is loaded; the first message of a thread, and only once. */
export type FromThread = { readonly type: "ready" } | FromScript

const isFault = (value: unknown): value is ScriptFault => scriptFaults.some((fault) => fault === value)

const isText = (value: unknown, max: number): value is string => typeof value === "string" && value.length <= max

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/**
 * A message of the thread, or `undefined` for anything that is not one or is beyond its bounds. The thread keeps to them
 * by itself; this is the side that does not rely on it.
 */
export const decodeFromThread = (message: unknown, bounds: CodeModeBounds): FromThread | undefined => {
  if (typeof message !== "object" || message === null || !("type" in message)) return undefined
  switch (message.type) {
    case "ready":
      return { type: "ready" }
    case "call": {
      if (!("id" in message && "name" in message && "args" in message)) return undefined
      const { id, name, args } = message
      return isCount(id) && isText(name, NAME_JSON_CHARACTERS) && (args === null || isText(args, bounds.result_bytes))
        ? { type: "call", id, name, args }
        : undefined
    }
    case "returned":
      return "value" in message && isText(message.value, bounds.returned_bytes)
        ? { type: "returned", value: message.value }
        : undefined
    case "failed": {
      if (!("fault" in message && "text" in message && "line" in message)) return undefined
      const { fault, text, line } = message
      return isFault(fault) && isText(text, EXCEPTION_CHARACTERS) && (line === null || isCount(line))
        ? { type: "failed", fault, text, line }
        : undefined
    }
    default:
      return undefined
  }
}
