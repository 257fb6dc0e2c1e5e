/** Scripts of the offline model: an array of steps, each one model response. product section 3. */
import { Result } from "effect"
import { isJsonObject, type Json } from "../../protocol/Json.ts"

export interface ScriptCall {
  readonly name: string
  readonly arguments: Json
  /** `arguments` is the raw argument text, passed as a model would write it. */
  readonly raw: boolean
}

export interface Step {
  readonly text: string
  readonly calls: ReadonlyArray<ScriptCall>
  readonly delay_ms: number
  readonly error: "unavailable" | "rejected" | null
}

/** A prompt that begins with this is followed by a script. */
export const SCRIPT_PREFIX = "script:"

/** What the model says past the last step. */
export const PAST_THE_END: Step = { text: "done", calls: [], delay_ms: 0, error: null }

/** What is wrong with a script, and where; no value of it. */
type Fault = string

const unknownMember = (value: { readonly [key: string]: Json }, known: ReadonlyArray<string>) =>
  Object.keys(value).some((key) => !known.includes(key))

const callOf = (value: Json, path: string): Result.Result<ScriptCall, Fault> => {
  if (!isJsonObject(value)) return Result.fail(`${path} must be an object`)
  if (unknownMember(value, ["name", "arguments", "raw"])) return Result.fail(`${path} has an unknown member`)
  const { arguments: args = {}, name, raw = false } = value
  if (typeof name !== "string") return Result.fail(`${path}/name must be a string`)
  if (typeof raw !== "boolean") return Result.fail(`${path}/raw must be a boolean`)
  if (raw && typeof args !== "string") return Result.fail(`${path}/arguments must be a string beside "raw": true`)
  return Result.succeed({ name, arguments: args, raw })
}

const stepOf = (value: Json, path: string): Result.Result<Step, Fault> => {
  if (!isJsonObject(value)) return Result.fail(`${path} must be an object`)
  if (unknownMember(value, ["text", "calls", "delay_ms", "error"])) return Result.fail(`${path} has an unknown member`)
  const { calls = [], delay_ms = 0, error = null, text = "" } = value
  if (typeof text !== "string") return Result.fail(`${path}/text must be a string`)
  if (typeof delay_ms !== "number" || !Number.isInteger(delay_ms) || delay_ms < 0) {
    return Result.fail(`${path}/delay_ms must be a nonnegative integer`)
  }
  if (error !== null && error !== "unavailable" && error !== "rejected") {
    return Result.fail(`${path}/error must be unavailable or rejected`)
  }
  if (!Array.isArray(calls)) return Result.fail(`${path}/calls must be an array`)
  const decoded: Array<ScriptCall> = []
  for (const [at, one] of calls.entries()) {
    const call = callOf(one, `${path}/calls/${at}`)
    if (Result.isFailure(call)) return Result.fail(call.failure)
    decoded.push(call.success)
  }
  return Result.succeed({ text, calls: decoded, delay_ms, error })
}

/** Reads a script. Plain JSON: arguments in it may be anything that a model could send. */
export const decodeScript = (text: string): Result.Result<ReadonlyArray<Step>, Fault> => {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    return Result.fail("it is not JSON")
  }
  if (!Array.isArray(value)) return Result.fail("it must be an array of steps")
  const steps: Array<Step> = []
  for (const [at, one] of value.entries()) {
    const step = stepOf(one, `/${at}`)
    if (Result.isFailure(step)) return Result.fail(step.failure)
    steps.push(step.success)
  }
  return Result.succeed(steps)
}
