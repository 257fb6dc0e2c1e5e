/**
 * The live values of configured API keys, literally, and in the two spellings that a value takes when a tool puts it
 * into a URL or into JSON.
 *
 * base-protocol section 6, Redaction.
 */
import { sanitize } from "../Sanitize.ts"
import type { Rule } from "../Spans.ts"

/** A rule for these values. Blank ones are no secrets. */
export const literals = (values: ReadonlyArray<string>): Rule => {
  const forms = new Set(values.flatMap(spellings).filter((value) => value !== ""))
  return (text, report) => {
    for (const form of forms) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        report(at, at + form.length)
    }
  }
}

const spellings = (value: string): ReadonlyArray<string> => {
  // As it stands in a text that was sanitized; environment files like to leave a line end.
  const plain = sanitize(value).trim()
  return plain === "" ? [] : [plain, encodeURIComponent(plain.toWellFormed()), JSON.stringify(plain).slice(1, -1)]
}
