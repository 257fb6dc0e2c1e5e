/**
 * Which names are names of secrets. One rule for the keys of structured values and for `name=value` in text.
 *
 * base-protocol section 6, Redaction.
 */

/** A name is secret when, in lower case and without `_`, `-` and `.`, it ends in one of these. */
const secretEndings = [
  "password",
  "passwd",
  "pwd",
  "secret",
  "token",
  "apikey",
  "accesskey",
  "privatekey",
  "authorization",
  "cookie",
  "credential",
  "credentials",
  "sessionid",
  "sessid",
  "connectsid"
] as const

/** Names that end in one of these are positions in a list, not secrets. */
const pagingEndings = ["pagetoken", "nexttoken", "continuationtoken"] as const

/** Longer than every ending, however many separators stand in it: only the tail of a name decides. */
const tailLength = 128

const endsInOne = (name: string, endings: ReadonlyArray<string>): boolean =>
  endings.some((ending) => name.endsWith(ending))

/** True for the name of a secret: any value but null under it is redacted. */
export const isSecretName = (name: string): boolean => {
  const tail = name.length > tailLength ? name.slice(-tailLength) : name
  const plain = tail.toLowerCase().replace(/[_.-]/g, "")
  if (endsInOne(plain, pagingEndings)) return false
  return endsInOne(plain, secretEndings) || lastWord(tail) === "auth"
}

/** Words are split at `_`, `-`, `.` and at a change of case: `proxyAuth`, `HTTP_AUTH` and `HTTPAuth` end in `auth`, `oauth` does not. */
const lastWord = (name: string): string => {
  const word = name.slice(Math.max(name.lastIndexOf("_"), name.lastIndexOf("-"), name.lastIndexOf(".")) + 1)
  const cut = word.search(/(?<=[\p{Ll}\p{N}])\p{Lu}+$|\p{Lu}\p{Ll}+$/u)
  return (cut > 0 ? word.slice(cut) : word).toLowerCase()
}

/** Names whose value in a header line goes to the end of the line: schemes, parameters and several cookies follow. */
export const isHeaderName = (name: string): boolean =>
  endsInOne(name.slice(-tailLength).toLowerCase().replace(/[_.-]/g, ""), ["authorization", "cookie"])
