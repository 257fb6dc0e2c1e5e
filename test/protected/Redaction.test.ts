/** base-protocol section 6, Redaction, sentence by sentence. All secrets here are invented. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { makeRedactor } from "../../src/broker/protected/Redactor.ts"
import type { Json } from "../../src/protocol/Json.ts"
import { cases } from "../protocol/corpus.ts"
import { redact, redactJson, redactText } from "./support.ts"

const R = "[redacted]"
/** Long enough for a token, and made here: no scanner should take this file for a leak. */
const body = (length: number) => "a1B2c3D4e5".repeat(20).slice(0, length)

describe("name=value and name: value in strings", () => {
  it.for([
    ["password=SENTINEL ok", `password=${R} ok`],
    ["api_key: SENTINEL\nplain", `api_key: ${R}\nplain`],
    ["DB_PASSWD = 'two words' # note", `DB_PASSWD = '${R}' # note`],
    ['{"token": "SENTINEL", "x": 1}', `{"token": "${R}", "x": 1}`],
    ['"{\\"client_secret\\": \\"SENTINEL\\", \\"x\\": 1}"', `"{\\"client_secret\\": \\"${R}\\", \\"x\\": 1}"`],
    ['{"token": {"a": ["SENTINEL"]}, "x": 1}', `{"token": ${R}, "x": 1}`],
    ["https://example.org/?access_token=SENTINEL&page=2", `https://example.org/?access_token=${R}&page=2`],
    ["pwd=1;pwd=2;user=x", `pwd=${R};pwd=${R};user=x`],
    ["f(password=SENTINEL)", `f(password=${R})`],
    ["password=ab,cd&ef)gh end", `password=${R} end`],
    ["Cookie: a=SENTINEL; b=SENTINEL\nnext", `Cookie: ${R}\nnext`],
    ["curl -H 'Authorization: Token SENTINEL' x", `curl -H 'Authorization: ${R}' x`],
    ["const token: string = 'SENTINEL'", `const token: ${R} = '${R}'`],
    ['var token string = "SENTINEL"', `var token string = "${R}"`],
    ["env['SECRET'] = 'SENTINEL'", `env['SECRET'] = '${R}'`],
    ['$token .= "SENTINEL"', `$token .= "${R}"`],
    ["a:\n  password: |\n    SENTINEL\n    SENTINEL\n  other: y", `a:\n  password: |\n    ${R}\n  other: y`],
    ['password = """SENTINEL\nSENTINEL"""', `password = """${R}"""`],
    ["my.secret.token=SENTINEL", `my.secret.token=${R}`],
    ["auth: SENTINEL, author: jane, oauth: x", `auth: ${R}, author: jane, oauth: x`],
    // Nothing to hide.
    ["token:", "token:"],
    ["password=\nnext", "password=\nnext"],
    ["next_page_token=abc", "next_page_token=abc"],
    ["token://host/path", "token://host/path"],
    ["tokens: 5, monkey: 6", "tokens: 5, monkey: 6"]
  ] as const)("%j", async ([text, wanted]) => {
    assert.strictEqual(await redact(text), wanted)
  })
})

describe("values of secret names without a separator between", () => {
  it.for([
    ["<apiKey>\n  SENTINEL\n</apiKey>", `<apiKey>\n  ${R}\n</apiKey>`],
    ["<ns:Password a='1'>SENTINEL</ns:Password>", `<ns:Password a='1'>${R}</ns:Password>`],
    ["login --password SENTINEL --user x", `login --password ${R} --user x`],
    ["-ClientSecret 'SENTINEL'", `-ClientSecret '${R}'`],
    ['setProperty("API_TOKEN", "SENTINEL1")', `setProperty("API_TOKEN", "${R}")`],
    ['["--token","SENTINEL1"]', `["--token","${R}"]`],
    ['<add key="Db.Password" value="SENTINEL" />', `<add key="Db.Password" value="${R}" />`],
    ['{"name": "DB_PASSWORD", "value": "SENTINEL"}', `{"name": "DB_PASSWORD", "value": "${R}"}`],
    [
      "- name: DB_PASSWORD\n  value: SENTINEL\n- name: X\n  value: y",
      `- name: DB_PASSWORD\n  value: ${R}\n- name: X\n  value: y`
    ],
    ["curl -s -u bob:SENTINEL \\\n https://example.org", `curl -s -u ${R} \\\n https://example.org`],
    // Names without values, and words.
    ["use --token to sign in; <token/>", "use --token to sign in; <token/>"],
    ["hidden = ['password', 'remember_token']", "hidden = ['password', 'remember_token']"],
    ["curl -u $USER:$PASS x\nls -u a:b", "curl -u $USER:$PASS x\nls -u a:b"],
    ['<add key="Size" value="12345678" />', '<add key="Size" value="12345678" />']
  ] as const)("%j", async ([text, wanted]) => {
    assert.strictEqual(await redact(text), wanted)
  })
})

describe("authorization values, keys, addresses", () => {
  it.for([
    ["use Bearer SENTINELabc now", `use Bearer ${R} now`],
    ["BEARER: SENTINEL", `BEARER: ${R}`],
    [`basic ${Buffer.from("ann:word").toString("base64")}`, `basic ${R}`],
    [`Basic ${body(20)}=`, `Basic ${R}`],
    ["basic usage of a bearer token, Basic auth", "basic usage of a bearer token, Basic auth"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter", `${R}\nafter`],
    ["x '-----BEGIN PRIVATE KEY-----\\nMIIabc\\n-----END PRIVATE KEY-----' y", `x '${R}' y`],
    [`-----BEGIN OPENSSH PRIVATE KEY-----\n${body(64)}\n${body(64)}\nplain words`, `${R}\nplain words`],
    [
      "-----BEGIN PUBLIC KEY-----\nMIIabc\n-----END PUBLIC KEY-----",
      "-----BEGIN PUBLIC KEY-----\nMIIabc\n-----END PUBLIC KEY-----"
    ],
    ["https://user:SENTINEL@example.org/x", `https://${R}@example.org/x`],
    ["redis://:SENTINEL@host:1/0 and ssh://git@host/a", `redis://${R}@host:1/0 and ssh://${R}@host/a`],
    ["postgres://u:p?SENTINEL@host/db", `postgres://${R}@host/db`],
    [
      "https://example.org?mail=a@b.c, https://h:80?x=a@b, mailto:a@b.c",
      "https://example.org?mail=a@b.c, https://h:80?x=a@b, mailto:a@b.c"
    ]
  ] as const)("%j", async ([text, wanted]) => {
    assert.strictEqual(await redact(text), wanted)
  })
})

describe("provider token formats", () => {
  it.for([
    `ghp_${body(36)}`,
    `glpat-${body(20)}`,
    `sk_live_${body(24)}`,
    `AIza${body(35)}`,
    `AKIA${"ABCD2345".repeat(2)}`,
    `xoxb-${"1234567890"}-${body(24)}`,
    `sk-ant-api03-${body(93)}AA`,
    `sk-ant-api03-${body(40)}`,
    `sk-proj-${body(48)}`,
    `sk-svcacct-${body(60)}`,
    `npm_${body(36)}`,
    `https://hooks.slack.com/services/T${body(9).toUpperCase()}/B${body(9).toUpperCase()}/${body(24)}`,
    `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1234567890"}').toString("base64url")}.${body(43)}`
  ])("%s is redacted wherever it stands", async (token) => {
    for (const text of [
      token,
      `before ${token} after`,
      `(${token})`,
      `"${token}"`,
      `x=${token}&y=1`,
      `\\n${token}\\n`
    ]) {
      assert.notInclude(await redact(text), token, text)
    }
    assert.deepStrictEqual(await redactJson({ [token]: [token] }), { [await redact(token)]: [await redact(token)] })
  })

  it("placeholders stay: they document, they open nothing", async () => {
    for (const text of [
      `ghp_${"x".repeat(36)}`,
      `glpat-${"X".repeat(20)}`,
      "sk-ant-api03-...",
      "AKIAXXXXXXXXXXXXXXXX"
    ]) {
      assert.strictEqual(await redact(text), text)
    }
  })

  it("the text itself cannot switch the scan off", async () => {
    const token = `ghp_${body(36)}`
    for (const comment of ["secretlint-disable", "secretlint-disable-line", "// secretlint-disable-next-line"]) {
      assert.notInclude(await redact(`${comment}\n${token} # ${comment}`), token, comment)
    }
  })

  it("a byte order mark at the front does not shift what is masked", async () => {
    assert.strictEqual(await redact(`\ufeffghp_${body(36)}!`), `\ufeff${R}!`)
  })
})

describe("live values of configured API keys", () => {
  it("are redacted literally, keys included, also as a URL and as JSON spell them, and only where they really stand", async () => {
    assert.strictEqual(await redact("it is quiet.harbour+42, twice: quiet.harbour+42"), `it is ${R}, twice: ${R}`)
    assert.strictEqual(await redact("?q=quiet.harbour%2B42&x"), `?q=${R}&x`)
    assert.deepStrictEqual(await redactJson({ "k quiet.harbour+42": ["quiet.harbour+42"], quietharbour42: "kept" }), {
      [`k ${R}`]: [R],
      quietharbour42: "kept"
    })
  })

  it("are found when controls had been put between their characters", async () => {
    assert.strictEqual(await redact("qui\u0000et.har\u001b[1mbour\u202e+42"), R)
  })
})

describe("structured values", () => {
  it("any value but null of a secret-named key becomes the string [redacted]; siblings stay", async () => {
    const value: Json = {
      secret: 5,
      apiKey: false,
      token: { a: 1 },
      pwd: "",
      PHPSESSID: [1],
      password: null,
      tokens: 2,
      a: [{ auth: [] }]
    }
    assert.deepStrictEqual(await redactJson(value), {
      secret: R,
      apiKey: R,
      token: R,
      pwd: R,
      PHPSESSID: R,
      password: null,
      tokens: 2,
      a: [{ auth: R }]
    })
  })

  it("keys are sanitized before they are tested for a secret's name", async () => {
    assert.deepStrictEqual(await redactJson({ "pass\u0000wo\u001b[1mrd": "SENTINEL" }), { password: R })
  })

  it("two keys of one object becoming equal are rejected; equal keys of different objects are not", async () => {
    const collisions: ReadonlyArray<Json> = [
      { "token=aaaa": 1, "token=bbbb": 2 },
      { x: [{ "a\u0007": 1, a: 2 }] },
      { "\u202ea": 1, a: 2 },
      { quiet: { "quiet.harbour+42": 1, [R]: 2 } }
    ]
    for (const value of collisions) {
      const message = await redactJson(value).then(
        () => "accepted",
        (error: Error) => error.message
      )
      assert.strictEqual(message, "collision at /structured", JSON.stringify(value))
    }
    assert.deepStrictEqual(await redactJson([{ "token=aaaa": 1 }, { "token=bbbb": 2 }]), [
      { [`token=${R}`]: 1 },
      { [`token=${R}`]: 2 }
    ])
  })

  it("__proto__ and its like are ordinary keys", async () => {
    const text = '{"__proto__":{"token":1,"a":2},"constructor":"x","toString":null}'
    assert.strictEqual(await redactText(text), text.replace('"token":1', `"token":"${R}"`))
  })

  it("what one string holds never reaches over into the next", async () => {
    const value = [
      "password:",
      "kept",
      "-----BEGIN PRIVATE KEY-----",
      "kept too",
      "'token='",
      "x\\",
      "-----END PRIVATE KEY-----",
      "token = '",
      "kept"
    ]
    const got = await redactJson(value)
    assert.deepStrictEqual(
      got,
      value.map((text) => (text.includes("BEGIN") ? R : text))
    )
  })

  it("a value nested too deeply to be walked is rejected, not passed", async () => {
    const redactor = makeRedactor([], () => 0)
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
    const verdict = await redactor.protect({ text: "", structured: deep }, { maxBytes: 1e9, maxCpu: 1e9 })
    assert.deepStrictEqual(verdict, { _tag: "Rejected", rule: "unscannable", path: "/structured" })
  })
})

describe("limits", () => {
  const redactor = makeRedactor([], () => 0)
  it("beyond the bound afterwards: rejected with the place, nothing cut", async () => {
    const limits = { maxBytes: 32_768, maxCpu: 1e9 }
    const text = await redactor.protect({ text: "pwd=1;".repeat(5000) }, limits)
    assert.deepStrictEqual(text, { _tag: "Rejected", rule: "too_large", path: "/text" })
    const structured = JSON.stringify(["pwd=1;".repeat(5000)])
    const value = await redactor.protect({ text: "", structured }, limits)
    assert.deepStrictEqual(value, { _tag: "Rejected", rule: "too_large", path: "/structured" })
    const exact = await redactor.protect({ text: "é".repeat(16_380), structured: '"123456"' }, limits)
    assert.strictEqual(exact._tag, "Protected")
    const over = await redactor.protect({ text: "é".repeat(16_380), structured: '"1234567"' }, limits)
    assert.deepStrictEqual(over, { _tag: "Rejected", rule: "too_large", path: "/structured" })
  })

  it("beyond 50 ms of CPU: rejected as unscannable, whatever was found until then", async () => {
    let used = 0
    const slow = makeRedactor([], () => (used += 20))
    const verdict = await slow.protect({ text: "plain" }, { maxBytes: 32_768, maxCpu: 50 })
    assert.deepStrictEqual(verdict, { _tag: "Rejected", rule: "unscannable", path: "/text" })
  })
})

describe("any value", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "token=",
      "password: ",
      "\\",
      '"',
      "'",
      "[redacted]",
      "Bearer ",
      "://",
      "@",
      "{",
      "[",
      "\n",
      "ghp_",
      body(36),
      "<password>",
      "</",
      "--token "
    )
  )
  const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("").toWellFormed())

  it("a named secret on a line of its own is gone, whatever stands around it", () =>
    fc.assert(
      fc.asyncProperty(text, text, fc.stringMatching(/^[A-Za-z0-9]{12,24}$/), async (before, after, secret) => {
        fc.pre(!before.includes(secret) && !after.includes(secret))
        for (const line of [`api_key=${secret}`, `"token": "${secret}",`, `Authorization: Basic ${secret}`]) {
          assert.notInclude(await redact(`${before}\n${line}\n${after}`), secret)
        }
      }),
      { numRuns: 400 }
    ))

  it("what was protected once stays as it is, over the whole corpus", async () => {
    for (const { text } of cases<{ readonly text: string }>("secrets")) {
      const once = await redact(text)
      assert.strictEqual(await redact(once), once)
    }
  })

  it("structure stays: the same arrays, the same number of members, numbers and nulls as they were", () => {
    const shape = (value: Json): Json =>
      typeof value === "string"
        ? ""
        : Array.isArray(value)
          ? value.map(shape)
          : typeof value === "object" && value !== null
            ? Object.entries(value).map(([, member]) => (member === R ? "" : shape(member)))
            : value
    return fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), async (raw) => {
        const value: Json = JSON.parse(JSON.stringify(raw))
        const got = await redactJson(value).catch((error: Error) => error.message)
        if (got === "collision at /structured") return
        assert.deepStrictEqual(shape(got), shape(value))
      }),
      { numRuns: 300 }
    )
  })
})
