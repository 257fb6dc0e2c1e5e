/** JSON Pointers (RFC 6901), as in `error.path`. base-protocol section 2. */

/** Appends segments to a pointer; `""` is the whole value. */
export const join = (base: string, ...segments: ReadonlyArray<string | number>): string => {
  let pointer = base
  for (const segment of segments) {
    pointer += `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`
  }
  return pointer
}
