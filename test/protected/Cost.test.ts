/** base-protocol section 6, Redaction: "Scanning is bounded". What a stranger's text can make a scan cost. */
import { assert, describe, it } from "@effect/vitest"
import { makeRedactor } from "../../src/broker/protected/Redactor.ts"
import { threadCpuMillis } from "../../src/platform/threadCpu.ts"
import { cases } from "../protocol/corpus.ts"

const redactor = makeRedactor(["quiet.harbour+42"], () => 0)

const scan = (text: string, structured?: string) =>
  redactor.protect(structured === undefined ? { text } : { text, structured }, { maxBytes: 1e9, maxCpu: 1e9 })

/** Milliseconds, the best of some runs: noise only ever adds. */
const cost = async (text: string, runs = 5): Promise<number> => {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run += 1) {
    const begun = performance.now()
    await scan(text)
    best = Math.min(best, performance.now() - begun)
  }
  return best
}

/** Texts that begin again and again what a rule looks for, and never let it end. */
const hostile: ReadonlyArray<string> = [
  ..."a 0 / : = @ . - _ ~ + < > { [ ( \" ' ` \\ , ; & |".split(" "),
  " ",
  "\n",
  "\t",
  "0123456789abcdef",
  "aB3+/",
  "://",
  "http://@",
  "https://a:b",
  "mongodb://a:",
  "token=",
  "token=[",
  "token={",
  "token='",
  "token=,",
  "token: string ",
  "password: |\n ",
  "pwd=1;",
  "pass=",
  "secret_key=",
  '"token",',
  "-----BEGIN PRIVATE KEY-----\n",
  "-----END PRIVATE KEY-----",
  "bearer ",
  "Basic ",
  "Authorization: ",
  "curl -u a:",
  "curl --user ",
  "--token ",
  "<password>",
  "<a ",
  "ey",
  "eyJhbGciOiJIUzI1NiJ9.",
  "ghp_",
  "sk-",
  "sk-ant-api",
  "xoxb-1-",
  "glpat-",
  "A3-",
  "pat.",
  "SG.",
  "s.",
  "t1.",
  "Q~",
  "T3BlbkFJ",
  ".atlasv1.",
  "12345678:AA",
  "hooks.slack.com/services/",
  "BUNDLE_GEMS__CONTRIBSYS__COM ",
  "deadbeefdeadbeefdeadbeefdeadbeef-",
  "?sig=",
  "sumo access_id ",
  "artifactory ",
  "ZXlKaGJHY2",
  "\u001b]",
  "\u001b[",
  "\u009d",
  "\u001bP",
  "quiet.harbour+4"
]

describe("cost", () => {
  it("no pattern is quadratic: eight times the text costs about eight times as much", async () => {
    const slow: Array<string> = []
    const repeated = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
    for (const unit of hostile) {
      const small = await cost(repeated(unit, 8_192))
      // A quadratic pattern costs 64 times as much. Under 8 ms nobody need care, and the clock cannot tell.
      const isSlow = (large: number) => large > 8 && large / small > 24
      const first = await cost(repeated(unit, 65_536), 3)
      // A busy machine adds to all of three runs at times, but not to all of many.
      const large = isSlow(first) ? await cost(repeated(unit, 65_536), 25) : first
      if (isSlow(large)) slow.push(`${JSON.stringify(unit)}: ${small.toFixed(2)} ms, ${large.toFixed(2)} ms`)
    }
    assert.deepStrictEqual(slow, [])
  }, 60_000)

  it("the 99th percentile of 32 KiB is under 50 ms of processor time", async () => {
    const secrets = cases<{ readonly text: string }>("secrets").map(({ text }) => text)
    const all = secrets.join("\n")
    const texts = Array.from({ length: 200 }, (_, n) => {
      const from = (n * 4_099) % Math.max(1, all.length - 32_768)
      return all.slice(from, from + 32_768)
    })
    const times: Array<number> = []
    await scan(all.slice(0, 32_768))
    for (const [n, text] of texts.entries()) {
      const begun = threadCpuMillis()
      // Every second one as a structured value of many strings.
      await (n % 2 === 0 ? scan(text) : scan("", JSON.stringify(text.split("\n"))))
      times.push(threadCpuMillis() - begun)
    }
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
    console.log(`32 KiB dense with secrets: median ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms`)
    assert.isBelow(at(0.99), 50)
  })

  it("thousands of small strings cost no more than their text", async () => {
    const structured = JSON.stringify(Array.from({ length: 8_000 }, (_, n) => ({ k: n % 10 === 0 ? "token=x" : "a" })))
    await scan("", structured)
    const begun = threadCpuMillis()
    await scan("", structured)
    assert.isBelow(threadCpuMillis() - begun, 200)
  })
})
