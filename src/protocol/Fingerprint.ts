/**
 * Fingerprints of effective descriptors: what a delegated session saves of a client tool.
 *
 * client-tools, Cancellation and permissions; base-protocol section 6, Registry.
 */
import { createHash } from "node:crypto"
import * as CompactJson from "./CompactJson.ts"
import type { EffectiveDescriptor } from "./Descriptor.ts"
import { isJsonObject, type Json } from "./Json.ts"

const byCodeUnit = ([a]: readonly [string, Json], [b]: readonly [string, Json]): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Compact JSON with object keys sorted by UTF-16 code unit at every level (RFC 8785), arrays as they are. Written by hand:
 * an object of JavaScript puts integer-like keys first, whatever the order they were added in.
 */
export const canonical = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isJsonObject(value)) return CompactJson.stringify(value)
  const members = Object.entries(value)
    .sort(byCodeUnit)
    .map(([key, content]) => `${CompactJson.stringify(key)}:${canonical(content)}`)
  return `{${members.join(",")}}`
}

/** Lowercase hexadecimal SHA-256 of the canonical effective descriptor, its default timeout included. */
export const fingerprint = (descriptor: EffectiveDescriptor): string =>
  createHash("sha256").update(canonical(descriptor), "utf8").digest("hex")
