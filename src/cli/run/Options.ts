/** The command line of `magi-code run`. Nothing heavy is loaded here. product section 1; section 5, `run`. */
import { isId } from "../../protocol/Ids.ts"
import { UsageError } from "../help/errors.ts"
import { type Args, readArgs } from "../help/readArgs.ts"
import { didYouMean } from "../help/suggest.ts"
import { splitWords } from "./splitWords.ts"

export type ApproveMode = "ask" | "all" | "none"

export interface RunOptions {
  /** As given; relative to the current directory. */
  readonly tools: string | undefined
  readonly session: string | undefined
  readonly model: { readonly provider: string; readonly model: string } | undefined
  /** The words of `--agent`; absent: this package's own backend. */
  readonly agent: readonly [string, ...ReadonlyArray<string>] | undefined
  readonly approve: ApproveMode
  readonly json: boolean
  readonly logLevel: string
  /** `"-"`: from stdin. */
  readonly prompt: string
}

/** Stack traces, and the agent's stderr live. */
export const isDebug = (options: RunOptions): boolean =>
  ["all", "trace", "debug"].includes(options.logLevel.toLowerCase())

export type ParsedOptions =
  | { readonly _tag: "Options"; readonly options: RunOptions }
  | { readonly _tag: "Usage"; readonly message: string }

const usage = (message: string): ParsedOptions => ({ _tag: "Usage", message })

export const parse = (args: ReadonlyArray<string>): ParsedOptions => {
  let read: Args
  try {
    read = readArgs("run", args)
  } catch (error) {
    if (error instanceof UsageError) return usage(error.message)
    throw error
  }
  const { values, words } = read
  const [prompt, ...more] = words
  if (prompt === undefined) return usage("a PROMPT is missing")
  if (more.length > 0) return usage("more than one PROMPT is given; put it in quotes")
  if (prompt.trim() === "") return usage("the PROMPT is blank")

  const tools = values.get("tools")
  if (tools?.trim() === "") return usage("--tools needs a file")
  const session = values.get("session")
  if (session !== undefined && !isId(session)) return usage("--session is not the id of a session")
  const chosen = values.get("model")
  const model = chosen === undefined ? undefined : modelOf(chosen)
  if (chosen !== undefined && model === undefined) return usage("--model is PROVIDER/MODEL")
  const command = values.get("agent")
  const agent = command === undefined ? undefined : splitWords(command)
  if (typeof agent === "string") return usage(`--agent ${agent}`)
  const approve = values.get("approve") ?? "ask"
  if (approve !== "ask" && approve !== "all" && approve !== "none") {
    return usage(`--approve is ask, all or none${didYouMean(approve, ["ask", "all", "none"])}`)
  }
  const logLevel = values.get("log-level") ?? "warn"
  return {
    _tag: "Options",
    options: { tools, session, model, agent, approve, json: values.has("json"), logLevel, prompt }
  }
}

/** The first slash divides: a model's name may have more of them. */
const modelOf = (text: string) => {
  const at = text.indexOf("/")
  const provider = text.slice(0, at)
  const model = text.slice(at + 1)
  return at < 1 || provider.trim() === "" || model.trim() === "" ? undefined : { provider, model }
}
