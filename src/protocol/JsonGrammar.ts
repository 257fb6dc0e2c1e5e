/** Where a text stops being JSON (RFC 8259): JSON.parse tells it only sometimes, and repeats the text with it. */

// One token with the white space before it: a string, a number or word, a sign.
const token =
  /[\t\n\r ]*(?:("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null)|([{}[\],:]))/y
const space = /[\t\n\r ]*/y

const CLOSING = { "{": "}", "[": "]" } as const
type Opening = keyof typeof CLOSING

type Wanted = "value" | "first item" | "key" | "first key" | "colon" | "next" | "end"

/** Index of the first token that does not belong there, or of the text's end where it ends too early; -1: it is JSON. Linear, without recursion. */
export const firstWrong = (text: string): number => {
  const open: Array<Opening> = []
  let at = 0
  let wanted: Wanted = "value"
  const afterValue = (): Wanted => (open.length === 0 ? "end" : "next")
  for (;;) {
    space.lastIndex = at
    space.test(text)
    const start = space.lastIndex
    if (wanted === "end") return start === text.length ? -1 : start
    token.lastIndex = at
    const found = token.exec(text)
    if (found === null) return start
    at = token.lastIndex
    const [, string, scalar, sign] = found
    const value = wanted === "value" || wanted === "first item"
    if (wanted === "key" || wanted === "first key") {
      if (string !== undefined) wanted = "colon"
      else if (sign === "}" && wanted === "first key") {
        open.pop()
        wanted = afterValue()
      } else return start
    } else if (wanted === "colon") {
      if (sign !== ":") return start
      wanted = "value"
    } else if (value && (string !== undefined || scalar !== undefined)) wanted = afterValue()
    else if (value && (sign === "{" || sign === "[")) {
      open.push(sign)
      wanted = sign === "{" ? "first key" : "first item"
    } else if (wanted === "first item" && sign === "]") {
      open.pop()
      wanted = afterValue()
    } else if (wanted === "next") {
      const [within] = open.slice(-1)
      if (within === undefined) return start
      if (sign === ",") wanted = within === "{" ? "key" : "value"
      else if (sign === CLOSING[within]) {
        open.pop()
        wanted = afterValue()
      } else return start
    } else return start
  }
}
