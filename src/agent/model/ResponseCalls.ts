/**
 * The tool calls of one response while they stream in, in whatever pieces a provider cuts them.
 *
 * base-protocol section 6 (raw arguments), Models.ts (how an invalid call is marked).
 */
import { Result } from "effect"
import type { Response } from "effect/ai"
import { isJsonObject } from "../../protocol/Json.ts"
import { parse } from "../../protocol/StrictJson.ts"
import { METADATA_KEY } from "./ProviderFailure.ts"

/** Calls in one response; beyond it the response is refused. */
export const MAX_CALLS = 128
/** Characters of one call's arguments; more are not kept, and the call is invalid. */
const ARGUMENT_CHARACTERS = 1_048_576
/** Nesting that the arguments may have: far beyond any frame, and safe to write again. */
const ARGUMENT_DEPTH = 256

/** Why arguments were not taken: a broken rule of section 1, or one of ours. */
export type InvalidArguments =
  | "syntax"
  | "duplicate_key"
  | "depth"
  | "lone_surrogate"
  | "number"
  | "not_an_object"
  | "too_large"
  | "cut_off"

/** One call under way. */
export class PartialCall {
  id = ""
  name = ""
  private text = ""
  private tooLarge = false

  append(piece: string): void {
    if (this.text.length + piece.length > ARGUMENT_CHARACTERS) this.tooLarge = true
    else this.text += piece
  }

  get hasArguments(): boolean {
    return this.text !== "" || this.tooLarge
  }

  /** `cut`: the response ended before its time, so that empty text is not an empty object but a missing one. */
  part(id: string, cut: boolean): Response.ToolCallPartEncoded {
    const call = { type: "tool-call", id, name: this.name.toWellFormed() } as const
    const marked = (invalid: InvalidArguments): Response.ToolCallPartEncoded => ({
      ...call,
      params: {},
      metadata: { [METADATA_KEY]: { invalidArguments: invalid } }
    })
    if (this.tooLarge) return marked("too_large")
    if (this.text.trim() === "") return cut ? marked("cut_off") : { ...call, params: {} }
    const parsed = parse(this.text, { maxDepth: ARGUMENT_DEPTH })
    if (Result.isFailure(parsed))
      return marked(cut && parsed.failure.rule === "syntax" ? "cut_off" : parsed.failure.rule)
    return isJsonObject(parsed.success) ? { ...call, params: parsed.success } : marked("not_an_object")
  }
}

/**
 * The finished calls. Ids that a provider left out or used twice in this response get one of their own: results are
 * matched by them. `cut`: the response was ended by a limit or a filter.
 */
export const callParts = (calls: ReadonlyArray<PartialCall>, cut: boolean): Array<Response.ToolCallPartEncoded> => {
  const ids = new Set<string>()
  return calls.map((call, at) => {
    const given = call.id.toWellFormed()
    let id = given === "" ? `call_${at}` : given
    for (let n = 1; ids.has(id); n++) id = `${given === "" ? `call_${at}` : given}_${n}`
    ids.add(id)
    // Only the last call can have been under way when the response was cut.
    return call.part(id, cut && at === calls.length - 1)
  })
}
