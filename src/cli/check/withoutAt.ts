/** JSON without the member that a pointer names. */
import { isJsonObject, type Json } from "../../protocol/Json.ts"

/** `undefined`: there is no such member. */
export const withoutAt = (value: Json, pointer: string): Json | undefined => {
  const segments = pointer.split("/").slice(1)
  return segments.length === 0
    ? undefined
    : without(
        value,
        segments.map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"))
      )
}

const without = (value: Json, [first, ...rest]: ReadonlyArray<string>): Json | undefined => {
  if (first === undefined) return undefined
  if (Array.isArray(value)) {
    const index = Number(first)
    const item = value[index]
    if (item === undefined) return undefined
    if (rest.length === 0) return value.toSpliced(index, 1)
    const left = without(item, rest)
    return left === undefined ? undefined : value.toSpliced(index, 1, left)
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, first)) return undefined
  const member = value[first]
  const left = rest.length === 0 || member === undefined ? undefined : without(member, rest)
  if (rest.length > 0 && left === undefined) return undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, content]): ReadonlyArray<readonly [string, Json]> => {
      if (key !== first) return [[key, content]]
      return left === undefined ? [] : [[key, left]]
    })
  )
}
