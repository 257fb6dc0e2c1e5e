/**
 * What a provider's refusal becomes.
 *
 * product section 2: a 400 that names a tool or its index is `provider_rejected_tool`; 429, 5xx and no connection are worth
 * another attempt and end as `provider_unavailable`; everything else is `provider_failed`.
 */
import { type AttemptFailed, refused, unavailable } from "./ProviderFailure.ts"
import { providerWords } from "./ProviderText.ts"

/** What messages need to know of the provider and the request. */
export interface RequestFacts {
  readonly provider: string
  readonly model: string
  readonly apiKeyEnv: string | null
  /** Only to keep it out of messages. */
  readonly apiKey: string | null
  /** Names of the tools in the order sent. */
  readonly tools: ReadonlyArray<string>
}

/** A refusal as both packages throw it. Inside of a stream there is no status. */
export interface Refusal {
  readonly status: number | undefined
  readonly headers: Headers | undefined
  readonly error: unknown
}

/** A refusal as it was understood. */
export interface ProviderError {
  readonly status: number | undefined
  readonly retryAfterMs: number | null
  readonly message: string
  /** `code` and `type` of the provider's error, and the parameter it names. */
  readonly code: string
  readonly type: string
  readonly param: string
}

const WORDS = 160

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

const string = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : ""

/** A refusal's body: JSON, or its text. */
export const refusalBody = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return /^\s*</.test(text) ? "" : text
  }
}

/** The error object of a body or an event: `{error: {...}}`, or the members themselves, or a text. */
export const providerError = (
  status: number | undefined,
  retryAfterMs: number | null,
  body: unknown
): ProviderError => {
  const inner = member(body, "error") ?? body
  const detail = member(inner, "detail")
  const message =
    string(inner) ||
    string(member(inner, "message")) ||
    string(detail) ||
    (typeof detail === "object" && detail !== null ? JSON.stringify(detail) : "") ||
    string(member(body, "message"))
  const code = string(member(inner, "code"))
  // Some servers put the status into the error of a stream.
  const told = Number(string(member(inner, "status_code")) || code)
  const inside = Number.isInteger(told) && told >= 400 && told < 600 ? told : undefined
  return {
    status: status ?? inside,
    retryAfterMs,
    message,
    code,
    type: string(member(inner, "type")),
    param: string(member(inner, "param"))
  }
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; `null` for anything else. */
export const retryAfter = (headers: Headers | undefined, nowMs: number): number | null => {
  const millis = headers?.get("retry-after-ms")
  if (millis !== null && millis !== undefined && /^\d+(\.\d+)?$/.test(millis.trim())) return Number(millis)
  const header = headers?.get("retry-after")?.trim()
  if (header === undefined || header === "") return null
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Whether a text names the tool: as a word of its own where the name is no common word, else only quoted or as "tool x". */
const names = (text: string, tool: string): boolean => {
  const name = escaped(tool)
  const pattern = tool.includes("_")
    ? `(?<![A-Za-z0-9_-])${name}(?![A-Za-z0-9_-])`
    : `["'\`\u2018\u201c]${name}["'\`\u2019\u201d]|\\b(?:tool|function)s?(?: named| name|:)? ${name}(?![A-Za-z0-9_-])`
  return new RegExp(pattern).test(text)
}

/** Where in the tools a refusal points: by index (`tools[1]`, `tools.1.…`), else by name. */
const rejectedTool = (error: ProviderError, tools: ReadonlyArray<string>): number | undefined => {
  const text = `${error.param} ${error.message}`
  const index = /\b(?:tools|functions)\s?(?:\[|\.|\/|\.\[)(\d{1,4})(?!\d)/.exec(text)?.[1]
  if (index !== undefined && Number(index) < tools.length) return Number(index)
  const at = tools.findIndex((tool) => names(text, tool))
  return at === -1 ? undefined : at
}

const contextWords =
  /context[ _](?:length|window|size)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens|exceed_context/i

const isContextLimit = (error: ProviderError): boolean =>
  contextWords.test(error.code) || contextWords.test(error.type) || contextWords.test(error.message)

const unavailableWords =
  /rate_?limit|overloaded|server_error|api_error|internal|timeout|unavailable|insufficient_quota|too_many_requests/i

/** The attempt's failure for a refusal. */
export const fromProviderError = (error: ProviderError, facts: RequestFacts): AttemptFailed => {
  const who = `provider "${facts.provider}"`
  const words = providerWords(error.message, facts.apiKey, WORDS)
  const said = words === "" ? "" : `: ${words}`
  const { status } = error
  if (status === undefined) {
    if (unavailableWords.test(error.type) || unavailableWords.test(error.code)) {
      return unavailable(`${who} failed in the middle of a response${said}`, error.retryAfterMs)
    }
    return refused("provider_failed", `${who} ended the response with an error${said}`)
  }
  if (status === 429) return unavailable(`${who} has no room now (HTTP 429)${said}`, error.retryAfterMs)
  if (status >= 500) return unavailable(`${who} has a fault (HTTP ${status})${said}`, error.retryAfterMs)
  if (status === 401) {
    const hint = facts.apiKeyEnv === null ? "name its key in api_key_env" : `check the key in ${facts.apiKeyEnv}`
    return refused("provider_failed", `${who} refuses the credentials (HTTP 401): ${hint}`)
  }
  if (status >= 300 && status < 400) {
    return refused("provider_failed", `${who} redirects (HTTP ${status}), which is not followed: correct its base_url`)
  }
  if ((status === 400 || status === 413) && isContextLimit(error)) {
    return refused("context_limit", `the conversation is too long for model "${facts.model}" of ${who}${said}`)
  }
  const at = status === 400 ? rejectedTool(error, facts.tools) : undefined
  if (at !== undefined) {
    const place = `tool "${facts.tools[at]}" (${at + 1} of ${facts.tools.length})`
    return refused("provider_rejected_tool", `${place} is not accepted by ${who}${said}`)
  }
  return refused("provider_failed", `${who} refuses the request (HTTP ${status})${said}`)
}
