/**
 * How many tokens a text will be, about. No provider's tokenizer is at hand for every model, so this leans to the high side
 * for prose and code; a provider that counts more says `context_limit`, and `ContextPlan.plan` is asked again with `overrun`.
 *
 * product section 2 (context sizes).
 */
import { Buffer } from "node:buffer"

/** ASCII characters of one token: prose has about 4, code and JSON 3 to 3.5. */
const ASCII_PER_TOKEN = 3.5
/** UTF-8 bytes of one token beyond ASCII: about one token for a Chinese character, half a one for a Cyrillic. */
const BYTES_PER_TOKEN = 2.5

/** What a message costs beside its text: role and delimiters. */
export const MESSAGE_TOKENS = 8
/** What a call or a result costs beside its text: ids, names of members. */
export const CALL_TOKENS = 16

/** Tokens of a text, at least 1 where there is any. */
export const tokensOf = (text: string): number => {
  const bytes = Buffer.byteLength(text)
  if (bytes === text.length) return Math.ceil(bytes / ASCII_PER_TOKEN)
  const ascii = text.length - text.replace(/[\x00-\x7f]+/g, "").length
  return Math.ceil(ascii / ASCII_PER_TOKEN + (bytes - ascii) / BYTES_PER_TOKEN)
}
