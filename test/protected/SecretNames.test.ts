/** base-protocol section 6, Redaction: which names are names of secrets. */
import { assert, describe, it } from "@effect/vitest"
import { isSecretName } from "../../src/broker/protected/SecretNames.ts"
import { cases } from "../protocol/corpus.ts"
import { redactJson } from "./support.ts"

interface KeyName {
  readonly name: string
  readonly key: string
  readonly credential_like: "yes" | "no" | "either"
}

describe("the name of a secret", () => {
  it("lowercased without _ - . ends in one of the fourteen", () => {
    const endings =
      "password passwd pwd secret token apikey accesskey privatekey authorization cookie credential credentials sessionid sessid connectsid"
    for (const ending of endings.split(" ")) {
      const spelled = [
        ending,
        ending.toUpperCase(),
        `my_${ending}`,
        `X-${ending}`,
        `a.${[...ending].join("-")}`,
        `9${ending}`
      ]
      for (const name of spelled) assert.isTrue(isSecretName(name), name)
      for (const name of [`${ending}x`, `${ending}s9`, `${ending} `]) assert.isFalse(isSecretName(name), name)
    }
  })

  it("has auth as its last word, split at _ - . and case", () => {
    for (const name of [
      "auth",
      "AUTH",
      "proxyAuth",
      "http-auth",
      "HTTP_AUTH",
      "a.auth",
      "HTTPAuth",
      "x9Auth",
      "_auth"
    ]) {
      assert.isTrue(isSecretName(name), name)
    }
    for (const name of ["author", "oauth", "authority", "authorId", "auth_url", "authX", "OAUTH", "reauth"]) {
      assert.isFalse(isSecretName(name), name)
    }
  })

  it("is none if it ends in pagetoken, nexttoken or continuationtoken", () => {
    for (const name of ["next_page_token", "nextToken", "continuation-token", "PageToken", "x.next.token"]) {
      assert.isFalse(isSecretName(name), name)
    }
    for (const name of ["pageTokenSecret", "next_tokens_token"]) assert.isTrue(isSecretName(name), name)
  })

  it("is decided by its tail, however long it is", () => {
    assert.isTrue(isSecretName(`${"x".repeat(100_000)}_token`))
    assert.isFalse(isSecretName("_".repeat(100_000)))
    assert.isFalse(isSecretName(""))
  })

  it("agrees with every name of the corpus: each yes masked, each no untouched, whatever the value", async () => {
    const names = cases<KeyName>("key_names").filter(({ credential_like }) => credential_like !== "either")
    const wrong: Array<string> = []
    for (const { credential_like, key } of names) {
      for (const value of ["abc", 7, true, { deep: ["x"] }]) {
        const got = await redactJson({ [key]: value })
        const wanted = credential_like === "yes" ? { [key]: "[redacted]" } : { [key]: value }
        if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong.push(key)
      }
      assert.deepStrictEqual(await redactJson({ [key]: null }), { [key]: null })
    }
    console.log(`key names: ${names.length - new Set(wrong).size} of ${names.length} right`)
    assert.deepStrictEqual(wrong, [])
  })
})
