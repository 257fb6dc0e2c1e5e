/** What the result of a plain tool's `execute` says, and what its throw says. product sections 1 and 5. */
import * as Result from "effect/Result"
import { isJsonObject, type Json } from "../protocol/Json.ts"
import type { ToolReplyValue } from "./ClientTool.ts"
import { jsonOf, type NotJson } from "./JsonOf.ts"

/**
 * A string is the text. An object with nothing but `text`, `structured` and `status`, at least one and of their types, is
 * taken apart. Every other JSON value is the structured one; `undefined` is no value.
 */
export const resultOf = (value: unknown): Result.Result<ToolReplyValue, NotJson> => {
  // A text over the bound is measured with the reply, and told with its size.
  if (typeof value === "string") return Result.succeed({ status: "success", text: value })
  const json = jsonOf(value)
  if (Result.isFailure(json)) return Result.fail(json.failure)
  // What `toJSON` gives is a value, whatever it looks like: the handler returned an object of its own kind.
  return Result.succeed((hasToJson(value) ? undefined : takenApart(json.success)) ?? structured(json.success))
}

const structured = (value: Json | undefined): ToolReplyValue =>
  value === undefined ? { status: "success", text: "" } : { status: "success", text: "", structured: value }

const members = new Set(["text", "structured", "status"])

const takenApart = (value: Json | undefined): ToolReplyValue | undefined => {
  if (!isJsonObject(value)) return undefined
  const keys = Object.keys(value)
  if (keys.length === 0 || !keys.every((key) => members.has(key))) return undefined
  const text = Object.hasOwn(value, "text") ? value["text"] : ""
  const status = Object.hasOwn(value, "status") ? value["status"] : "success"
  if (typeof text !== "string" || (status !== "success" && status !== "error")) return undefined
  const inner = Object.hasOwn(value, "structured") ? value["structured"] : undefined
  return inner === undefined ? { status, text } : { status, text, structured: inner }
}

const hasToJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "toJSON") === "function"

/** The text of a throw: the error's message, or the string that was thrown. Never a stack, never empty. */
export const textOfThrow = (thrown: unknown): string => {
  const text = messageOf(thrown)
  return text === undefined || text.trim() === "" ? "the tool failed without a message" : text.toWellFormed()
}

const messageOf = (thrown: unknown): string | undefined => {
  if (typeof thrown === "string") return thrown
  if (typeof thrown !== "object" || thrown === null) return undefined
  try {
    const message: unknown = Reflect.get(thrown, "message")
    return typeof message === "string" ? message : undefined
  } catch {
    return undefined
  }
}

/** One line for the model about a result that is not JSON. */
export const notJsonText = (fault: NotJson): string =>
  `the tool's result cannot be sent: ${fault.message}${fault.path === "" ? "" : ` at ${fault.path}`}`
