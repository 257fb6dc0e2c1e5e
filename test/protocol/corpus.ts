/** Reads the case collections of `test/corpora`. */
import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

/** The cases of one corpus. What a case is, its `meta` and the corpora's README say. */
export const cases = <Case>(name: string): ReadonlyArray<Case> => {
  const file = new URL(`../corpora/${name}.json.gz`, import.meta.url)
  const corpus: { readonly cases: ReadonlyArray<Case> } = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"))
  if (corpus.cases.length === 0) throw new Error(`${name} has no cases`)
  return corpus.cases
}

export const fromBase64 = (text: string): Uint8Array => Buffer.from(text, "base64")

export const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8")
