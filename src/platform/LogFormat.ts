/**
 * How one log entry is written: a line of JSON, or a line for people. Neither holds a value that came from a client, a
 * model, a tool or the settings: messages are fixed texts, annotations are names, counts and codes, and of a failure only
 * its kind, its code and where it happened are shown. A foreign error's message often repeats what it could not read.
 */
import type { Cause } from "effect"

export interface LogEntry {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly annotations: { readonly [name: string]: string | number | boolean }
  readonly cause: ReadonlyArray<string>
}

/** Most characters of a message or of one annotation. */
const TEXT_LENGTH = 2048

/** Controls and what turns text around are shown, not obeyed. */
const visible = (text: string): string =>
  text
    .slice(0, TEXT_LENGTH)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** Texts and numbers as they are, errors by their kind; anything else would be a value. */
export const messageOf = (message: unknown): string =>
  (Array.isArray(message) ? message : [message]).map(partOf).join(" ")

const partOf = (part: unknown): string => {
  if (typeof part === "string") return part
  if (typeof part === "number") return String(part)
  return part instanceof Error ? nameOf(part) : `[${typeof part}]`
}

export const annotationOf = (value: unknown): string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : `[${typeof value}]`

/** Kinds, codes and places of a cause's reasons; interruptions are no news. */
export const causeOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  cause.reasons.flatMap((reason) => {
    if (reason._tag === "Interrupt") return []
    return [describe(reason._tag === "Fail" ? reason.error : reason.defect)]
  })

const describe = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return `a thrown ${typeof error}`
  const name = nameOf(error)
  const code =
    "code" in error && typeof error.code === "string" && /^[A-Za-z0-9_]{1,64}$/.test(error.code) ? ` ${error.code}` : ""
  return [`${name}${code}`, ...framesOf(error)].join("\n")
}

const nameOf = (error: object): string => {
  const name = "_tag" in error ? error._tag : "name" in error ? error.name : undefined
  return typeof name === "string" && /^[\w/.-]{1,128}$/.test(name) ? name : "an error"
}

/** Where it happened: what the stack says behind the message. A message that the stack does not hold hides it. */
const framesOf = (error: object): ReadonlyArray<string> => {
  if (!(error instanceof Error) || typeof error.stack !== "string") return []
  const at = error.stack.indexOf(error.message)
  if (at === -1) return []
  return error.stack
    .slice(at + error.message.length)
    .split("\n")
    .filter((line) => /^ {4}at \S.{0,512}$/.test(line))
}

/** One JSON object without its LF. */
export const formatJson = ({ annotations, cause, level, message, time }: LogEntry): string =>
  JSON.stringify({
    time,
    level,
    message: message.slice(0, TEXT_LENGTH),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...(cause.length > 0 ? { cause } : {})
  })

/** One line for people, and a line a stack frame. */
export const formatPretty = ({ annotations, cause, level, message, time }: LogEntry): string => {
  const pairs = Object.entries(annotations).map(([name, value]) => ` ${visible(name)}=${visible(String(value))}`)
  const causes = cause.map((one) => `\n  ${one.split("\n").map(visible).join("\n  ")}`)
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${visible(message)}${pairs.join("")}${causes.join("")}`
}
