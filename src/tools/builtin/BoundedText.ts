/** Texts of bounded UTF-8 size: what a tool lets the model see. product section 2 (30 KiB of output). */

/** Bytes of output that a built-in tool gives, its notes included. */
export const OUTPUT_BYTES = 30 * 1024

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The longest prefix of at most `bytes` UTF-8 bytes, cut on a character boundary. */
export const headOf = (text: string, bytes: number): string => {
  const encoded = Buffer.from(text)
  if (encoded.length <= bytes) return text
  let end = Math.max(0, bytes)
  while (end > 0 && isContinuation(encoded[end])) end -= 1
  return encoded.subarray(0, end).toString()
}

/** The longest suffix of at most `bytes` UTF-8 bytes, cut on a character boundary. */
export const tailOf = (text: string, bytes: number): string => {
  const encoded = Buffer.from(text)
  if (encoded.length <= bytes) return text
  let from = encoded.length - Math.max(0, bytes)
  while (from < encoded.length && isContinuation(encoded[from])) from += 1
  return encoded.subarray(from).toString()
}

/** Joins lines until the bound; says how many found no place. */
export const joinLines = (
  lines: ReadonlyArray<string>,
  bytes: number
): { readonly text: string; readonly left: number } => {
  let size = 0
  let count = 0
  for (const line of lines) {
    size += Buffer.byteLength(line) + 1
    if (size > bytes) break
    count += 1
  }
  return { text: lines.slice(0, count).join("\n"), left: lines.length - count }
}
