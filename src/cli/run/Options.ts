/** The command line of `magi-code run`. Nothing heavy is loaded here. product section 1; section 5, `run`. */
import { parseArgs } from "node:util"
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
  | { readonly _tag: "Help" }
  | { readonly _tag: "Usage"; readonly message: string }

export const USAGE = `usage: magi-code run [options] PROMPT

  PROMPT               what to ask; - reads it from stdin
  --tools FILE         a TypeScript or JavaScript module whose default export is { toolkit, layer } or an array of tools
  --session ID         go on with a stored session
  --model PROVIDER/MODEL
  --agent COMMAND      another backend to start (default: this package's own)
  --approve ask|all|none   what to answer when the agent asks (default: ask, which needs a terminal)
  --json               every event as a line of JSON on stdout
  --log-level LEVEL    what goes to stderr: debug, info, warn (default), error, none
`

const levels = ["all", "trace", "debug", "info", "warn", "warning", "error", "fatal", "none", "off"]
const idPattern = /^[A-Za-z0-9._:-]{1,128}$/

const usage = (message: string): ParsedOptions => ({ _tag: "Usage", message })

export const parse = (args: ReadonlyArray<string>): ParsedOptions => {
  let parsed: ReturnType<typeof read>
  try {
    parsed = read(args)
  } catch (error) {
    // Node's own sentences name the option; what follows the first is advice about its API.
    return usage(error instanceof Error ? (error.message.split(". ")[0] ?? "wrong usage") : "wrong usage")
  }
  const { positionals, values } = parsed
  if (values.help) return { _tag: "Help" }
  for (const [name, given] of Object.entries(values)) {
    if (Array.isArray(given) && given.length > 1) return usage(`--${name} is given twice`)
  }
  const [prompt, ...more] = positionals
  if (prompt === undefined) return usage("a PROMPT is missing")
  if (more.length > 0) return usage("more than one PROMPT is given; put it in quotes")
  if (prompt.trim() === "") return usage("the PROMPT is blank")
  const one = (name: "tools" | "session" | "model" | "agent" | "approve" | "log-level") => values[name]?.[0]

  const tools = one("tools")
  if (tools?.trim() === "") return usage("--tools needs a file")
  const session = one("session")
  if (session !== undefined && !idPattern.test(session)) return usage("--session is not the id of a session")
  const chosen = one("model")
  const model = chosen === undefined ? undefined : modelOf(chosen)
  if (chosen !== undefined && model === undefined) return usage("--model is PROVIDER/MODEL")
  const command = one("agent")
  const agent = command === undefined ? undefined : splitWords(command)
  if (typeof agent === "string") return usage(`--agent ${agent}`)
  const approve = one("approve") ?? "ask"
  if (approve !== "ask" && approve !== "all" && approve !== "none") return usage("--approve is ask, all or none")
  const logLevel = one("log-level") ?? "warn"
  if (!levels.includes(logLevel.toLowerCase())) return usage(`--log-level is one of ${levels.join(", ")}`)
  return {
    _tag: "Options",
    options: { tools, session, model, agent, approve, json: values.json === true, logLevel, prompt }
  }
}

const read = (args: ReadonlyArray<string>) => {
  const text = { type: "string", multiple: true } as const
  return parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: {
      tools: text,
      session: text,
      model: text,
      agent: text,
      approve: text,
      "log-level": text,
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" }
    }
  })
}

/** The first slash divides: a model's name may have more of them. */
const modelOf = (text: string) => {
  const at = text.indexOf("/")
  const provider = text.slice(0, at)
  const model = text.slice(at + 1)
  return at < 1 || provider.trim() === "" || model.trim() === "" ? undefined : { provider, model }
}
