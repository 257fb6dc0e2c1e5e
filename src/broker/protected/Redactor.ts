/**
 * Sanitizes and redacts one tool result. Runs in the scanning worker and holds no state between results.
 *
 * base-protocol section 6, Redaction: every string of text and structured value, keys included; per object keys are
 * sanitized, then redacted, then tested for collision; nothing is dropped.
 */

import { authorization } from "./rules/Authorization.ts"
import { curlUser } from "./rules/CurlUser.ts"
import { infixes } from "./rules/InfixTokens.ts"
import { literals } from "./rules/Literals.ts"
import { namedText } from "./rules/NamedText.ts"
import { nameValue } from "./rules/NameValue.ts"
import { privateKeys } from "./rules/PrivateKeys.ts"
import { makeScan } from "./rules/Secretlint.ts"
import { patternedTokens } from "./rules/TokenPatterns.ts"
import { tokens } from "./rules/Tokens.ts"
import { urlUserinfo } from "./rules/UrlUserinfo.ts"
import { sanitize } from "./Sanitize.ts"
import { isSecretName } from "./SecretNames.ts"
import { BETWEEN, merge, REDACTED, type Rule, replace, type Span } from "./Spans.ts"

/** A result on its way to the worker and back: the structured value as compact JSON, absent when there is none. */
export interface RawResult {
  readonly text: string
  readonly structured?: string
}

export type Verdict =
  | { readonly _tag: "Protected"; readonly value: RawResult }
  | {
      readonly _tag: "Rejected"
      readonly rule: "collision" | "too_large" | "unscannable"
      readonly path: "/text" | "/structured"
    }

export interface Redactor {
  /**
   * The protected result, or why there is none: more than `maxBytes` afterwards (UTF-8 bytes of text plus compact
   * structured value), a collision of keys, more than `maxCpu` milliseconds of CPU, or a rule that broke.
   */
  readonly protect: (
    result: RawResult,
    limits: { readonly maxBytes: number; readonly maxCpu: number }
  ) => Promise<Verdict>
}

/** What became of a structured value once its strings were taken out: strings and keys are places in the list of strings. */
type Node =
  | { readonly _tag: "Json"; readonly json: string }
  | { readonly _tag: "String"; readonly at: number }
  | { readonly _tag: "Array"; readonly items: ReadonlyArray<Node> }
  | { readonly _tag: "Object"; readonly members: ReadonlyArray<readonly [key: number, value: Node]> }

const redactedNode: Node = { _tag: "Json", json: JSON.stringify(REDACTED) }

class Collision extends Error {}

/** A redactor that also knows the live keys `secrets`. `cpu` gives the milliseconds of CPU that this thread has used. */
export const makeRedactor = (secrets: ReadonlyArray<string>, cpu: () => number): Redactor => {
  const rules: ReadonlyArray<Rule> = [
    literals(secrets),
    nameValue,
    authorization,
    privateKeys,
    urlUserinfo,
    tokens,
    infixes,
    patternedTokens,
    curlUser,
    namedText
  ]
  const scan = makeScan()

  /** Every string redacted; `undefined` when the time is up. */
  const redactAll = async (
    strings: ReadonlyArray<string>,
    overdue: () => boolean
  ): Promise<ReadonlyArray<string> | undefined> => {
    const all = strings.join(BETWEEN)
    const spans: Array<Span> = []
    for (const rule of rules) {
      rule(all, (start, end) => spans.push({ start, end }))
      if (overdue()) return undefined
    }
    spans.push(...(await scan(all)))
    return overdue() ? undefined : replaceEach(strings, merge(spans))
  }

  return {
    protect: async ({ structured, text }, { maxBytes, maxCpu }) => {
      const begun = cpu()
      const overdue = (): boolean => cpu() - begun > maxCpu
      const path = structured === undefined ? "/text" : "/structured"
      try {
        const strings = [sanitize(text)]
        const tree = structured === undefined ? undefined : takeApart(JSON.parse(structured), strings)
        const redacted = await redactAll(strings, overdue)
        if (redacted === undefined) return { _tag: "Rejected", rule: "unscannable", path }
        const [newText = ""] = redacted
        const textBytes = Buffer.byteLength(newText)
        if (tree === undefined) {
          if (textBytes > maxBytes) return { _tag: "Rejected", rule: "too_large", path }
          return { _tag: "Protected", value: { text: newText } }
        }
        const json = putTogether(tree, redacted)
        if (textBytes > maxBytes) return { _tag: "Rejected", rule: "too_large", path: "/text" }
        if (textBytes + Buffer.byteLength(json) > maxBytes) return { _tag: "Rejected", rule: "too_large", path }
        return overdue()
          ? { _tag: "Rejected", rule: "unscannable", path }
          : { _tag: "Protected", value: { text: newText, structured: json } }
      } catch (error) {
        return { _tag: "Rejected", rule: error instanceof Collision ? "collision" : "unscannable", path }
      }
    }
  }
}

/** Each string with its part of the spans of all strings joined. */
const replaceEach = (strings: ReadonlyArray<string>, spans: ReadonlyArray<Span>): ReadonlyArray<string> => {
  let next = 0
  let offset = 0
  return strings.map((text) => {
    const end = offset + text.length
    const own: Array<Span> = []
    for (let span = spans[next]; span !== undefined && span.start < end; span = spans[next]) {
      if (span.end > offset)
        own.push({ start: Math.max(0, span.start - offset), end: Math.min(text.length, span.end - offset) })
      if (span.end > end) break
      next += 1
    }
    offset = end + BETWEEN.length
    return own.length === 0 ? text : replace(text, own)
  })
}

/** Takes the strings of a value out, sanitized, and replaces the values of secret names. */
const takeApart = (value: unknown, strings: Array<string>): Node => {
  if (typeof value === "string") return { _tag: "String", at: strings.push(sanitize(value)) - 1 }
  if (Array.isArray(value)) return { _tag: "Array", items: value.map((item: unknown) => takeApart(item, strings)) }
  if (typeof value !== "object" || value === null) return { _tag: "Json", json: JSON.stringify(value) }
  return {
    _tag: "Object",
    members: Object.entries(value).map(([name, member]: readonly [string, unknown]) => {
      const key = sanitize(name)
      const at = strings.push(key) - 1
      return [at, member !== null && isSecretName(key) ? redactedNode : takeApart(member, strings)] as const
    })
  }
}

/** Compact JSON, written out directly: a key such as `__proto__` never becomes a property on the way. */
const putTogether = (node: Node, strings: ReadonlyArray<string>): string => {
  switch (node._tag) {
    case "Json":
      return node.json
    case "String":
      return JSON.stringify(strings[node.at])
    case "Array":
      return `[${node.items.map((item) => putTogether(item, strings)).join(",")}]`
    case "Object": {
      const keys = new Set<string>()
      const members = node.members.map(([at, value]) => {
        const key = strings[at] ?? ""
        if (keys.has(key)) throw new Collision()
        keys.add(key)
        return `${JSON.stringify(key)}:${putTogether(value, strings)}`
      })
      return `{${members.join(",")}}`
    }
  }
}
