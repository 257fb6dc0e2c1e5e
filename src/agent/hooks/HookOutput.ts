/** What a `before_tool` hook printed. base-protocol section 6, Hooks; product section 2. */
import { Result } from "effect"
import { isJsonObject, type JsonObject } from "../../protocol/Json.ts"
import { decodeUtf8, parse } from "../../protocol/StrictJson.ts"

export type Decision =
  /** `arguments` absent: they stay as they are. */
  { readonly _tag: "Allow"; readonly arguments?: JsonObject } | { readonly _tag: "Deny"; readonly reason: string }

/** Why the output is a failure of the hook. Holds nothing of it. */
export type OutputFault = "its output is not JSON" | "its output is not a decision" | "its arguments are not an object"

/** Nothing, or white space, allows. Anything else is one JSON object with a decision; members beside the known are passed over. */
export const decodeOutput = (output: Uint8Array): Result.Result<Decision, OutputFault> => {
  const text = decodeUtf8(output)
  if (text === undefined) return Result.fail("its output is not JSON")
  if (/^[ \t\r\n]*$/.test(text)) return Result.succeed({ _tag: "Allow" })
  const parsed = parse(text)
  if (Result.isFailure(parsed)) return Result.fail("its output is not JSON")
  const value = parsed.success
  if (!isJsonObject(value)) return Result.fail("its output is not a decision")
  const { arguments: replaced, decision, reason } = value
  if (reason !== undefined && typeof reason !== "string") return Result.fail("its output is not a decision")
  if (decision === "deny") return Result.succeed({ _tag: "Deny", reason: reason ?? "" })
  if (decision !== "allow") return Result.fail("its output is not a decision")
  if (replaced === undefined) return Result.succeed({ _tag: "Allow" })
  return isJsonObject(replaced)
    ? Result.succeed({ _tag: "Allow", arguments: replaced })
    : Result.fail("its arguments are not an object")
}
