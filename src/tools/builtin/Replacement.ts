/**
 * The replacement that `edit` makes, on bytes: what is not touched stays as it is, whatever its encoding, and the line
 * endings of the file are kept. product section 2.
 */

/** Why a text was not replaced. */
export type NotReplaced = "missing" | { readonly times: number }

export interface Replaced {
  readonly content: Buffer
  readonly times: number
}

const LF = 10
const CR = 13

const count = (content: Buffer, part: Buffer) => {
  let times = 0
  for (let at = content.indexOf(part); at >= 0; at = content.indexOf(part, at + part.length)) times += 1
  return times
}

const replaceAll = (content: Buffer, old: Buffer, fresh: Buffer): Buffer => {
  const parts: Array<Buffer> = []
  let from = 0
  for (let at = content.indexOf(old); at >= 0; at = content.indexOf(old, from)) {
    parts.push(content.subarray(from, at), fresh)
    from = at + old.length
  }
  return Buffer.concat([...parts, content.subarray(from)])
}

/** True where every line of a file ends in CR LF. */
const isCrlf = (content: Buffer): boolean => {
  let lines = 0
  for (let at = content.indexOf(LF); at >= 0; at = content.indexOf(LF, at + 1)) {
    if (at === 0 || content[at - 1] !== CR) return false
    lines += 1
  }
  return lines > 0
}

const withCrlf = (text: string) => text.replace(/\r?\n/g, "\r\n")

/** Replaces `old` by `fresh`: its one occurrence, or with `all` every one. */
export const replaceText = (
  content: Buffer,
  edit: { readonly old: string; readonly fresh: string; readonly all: boolean }
): Replaced | NotReplaced => {
  // Models write LF; in a file of CR LF that is what they mean by it.
  const convert = isCrlf(content) ? withCrlf : (text: string) => text
  const old = Buffer.from(convert(edit.old))
  const times = count(content, old)
  if (times === 0) return "missing"
  if (times > 1 && !edit.all) return { times }
  return { content: replaceAll(content, old, Buffer.from(convert(edit.fresh))), times }
}
