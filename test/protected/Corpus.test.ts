/**
 * How good the redaction is, on texts from the tests of three secret scanners. docs/security.md states these numbers and
 * what is not caught.
 */
import { assert, describe, it } from "@effect/vitest"
import { authorization } from "../../src/broker/protected/rules/Authorization.ts"
import { nameValue } from "../../src/broker/protected/rules/NameValue.ts"
import { privateKeys } from "../../src/broker/protected/rules/PrivateKeys.ts"
import { urlUserinfo } from "../../src/broker/protected/rules/UrlUserinfo.ts"
import { sanitize } from "../../src/broker/protected/Sanitize.ts"
import { cases } from "../protocol/corpus.ts"
import { redact } from "./support.ts"

interface Case {
  readonly kind: string
  readonly text: string
  readonly contains_secret: boolean
  readonly source: string
  /** The exact secrets; absent in some positives, where any redaction counts. */
  readonly secrets?: ReadonlyArray<string>
}

const corpus = cases<Case>("secrets")

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} % (${part} of ${whole})`

/** Whether a rule that the specification spells out reports something: names, schemes, key blocks, userinfo. */
const coveredBySpec = (text: string): boolean => {
  let found = false
  for (const rule of [nameValue, authorization, privateKeys, urlUserinfo]) {
    rule(text, (start, end) => {
      if (end > start) found = true
    })
  }
  return found
}

describe("the corpus of secrets", () => {
  it("recall: at most one in ten secrets leaves any of its full values in the result", async () => {
    const missed: Array<Case> = []
    const positives = corpus.filter(({ contains_secret }) => contains_secret)
    for (const one of positives) {
      const got = await redact(one.text)
      const secrets = one.secrets ?? []
      const leaks = secrets.length > 0 ? secrets.some((secret) => got.includes(secret)) : got === one.text
      if (leaks) missed.push(one)
    }
    console.log(`recall: ${percent(positives.length - missed.length, positives.length)}`)
    console.log(
      `missed, by kind: ${[...Map.groupBy(missed, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(", ")}`
    )
    assert.isAtLeast(1 - missed.length / positives.length, 0.9)
  })

  it("false alarms: at most one in ten texts that no rule of the specification covers is changed", async () => {
    const negatives = corpus.filter(
      ({ contains_secret, text }) => !contains_secret && sanitize(text) === text && !coveredBySpec(text)
    )
    const alarms: Array<Case> = []
    for (const one of negatives) if ((await redact(one.text)) !== one.text) alarms.push(one)
    console.log(`false alarms: ${percent(alarms.length, negatives.length)}`)
    console.log(
      `alarms, by kind: ${[...Map.groupBy(alarms, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(", ")}`
    )
    assert.isAtLeast(negatives.length, 150)
    assert.isAtMost(alarms.length / negatives.length, 0.1)
  })
})
