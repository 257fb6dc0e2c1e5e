/** The strings that name things on the wire. base-protocol section 2. */
import { ID_BYTES } from "./Limits.ts"

const pattern = new RegExp(`^[A-Za-z0-9._:-]{1,${ID_BYTES}}$`)

/** True for a well-formed id, revision or cursor: 1 to 128 bytes of `A-Z a-z 0-9 . _ : -`. */
export const isId = (text: string): boolean => pattern.test(text)
