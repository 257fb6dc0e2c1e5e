/** product section 1, `conformance`: runs against our own built backend, tells what failed, in each form of output. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type { CaseResult } from "../../src/conformance/index.ts"
import { escapeXml, junit } from "../../src/conformance/report/junit.ts"
import { magi, root } from "../cli/support.ts"
import { cli } from "../process/support/Built.ts"

const folder = mkdtempSync(join(tmpdir(), "conformance-test-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const own = [process.execPath, cli, "serve", "--stdio"]
/** Answers each line with a frame that has a blank in it. */
const spaced = [
  process.execPath,
  "-e",
  `process.stdin.on("data", () => console.log('{"version":1, "id":null,"error":{"code":"invalid_request","message":"<&>"}}'))`
]

/** The names of the elements in document order; throws where tags are not balanced or a character stands bare. */
const elements = (xml: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  const open: Array<string> = []
  const rest = xml
    .replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "")
    .replaceAll(/<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g, (_, close: string, name: string, __, empty: string) => {
      if (close !== "") assert.strictEqual(open.pop(), name)
      else {
        names.push(name)
        if (empty === "") open.push(name)
      }
      return ""
    })
  assert.deepStrictEqual(open, [])
  assert.notMatch(rest, /[<>"]|&(?!(?:amp|lt|gt|quot|#\d+);)/)
  return names
}

describe("magi-code conformance", { timeout: 60_000 }, () => {
  it("passes against our own backend: a group, for people", () => {
    const { status, stderr, stdout } = magi(["conformance", "--filter", "framing.b", "--", ...own])
    assert.strictEqual(stderr, "")
    assert.strictEqual(stdout, "4 passed, 0 failed\n")
    assert.strictEqual(status, 0)
  })

  it("--json is one object a case on stdout", () => {
    const { status, stderr, stdout } = magi(["conformance", "--json", "--filter", "envelope.v", "--", ...own])
    const { cites, ms, ...result }: CaseResult = JSON.parse(stdout)
    assert.deepStrictEqual(result, { id: "envelope.version", status: "passed", problems: [], frames: [] })
    assert.strictEqual(cites[0]?.page, "local-agent-protocol")
    assert.isAbove(ms, 0)
    assert.strictEqual(stderr, "1 passed, 0 failed\n")
    assert.strictEqual(status, 0)
  })

  it("names the case, the sentence, what happened and the last frames, and writes JUnit", () => {
    const file = join(folder, "report.xml")
    const { status, stdout } = magi(["conformance", "--filter", "framing.bad-utf8", "--junit", file, "--", ...spaced])
    assert.strictEqual(status, 1)
    assert.match(stdout, /^FAIL framing\.bad-utf8\n {5}docs\/local-agent-protocol\.md: valid UTF-8, no byte order mark/)
    assert.include(stdout, "white space between tokens")
    assert.match(stdout, /\n {7}#1 -> .*"method":"session.open"/)
    assert.match(stdout, /\n {7}#1 <- \{"version":1, "id":null/)
    assert.match(stdout, /\n0 passed, 1 failed\n$/)
    const xml = readFileSync(file, "utf8")
    assert.deepStrictEqual(elements(xml), ["testsuites", "testsuite", "testcase", "failure"])
    assert.include(xml, 'classname="framing" name="framing.bad-utf8"')
  })

  it("who stops reading ends it as Ctrl-C does: nothing that it started is left", async () => {
    const args = ["conformance", "--json", "--jobs", "2", "--filter", "framing", "--", ...own]
    const child = spawn(process.execPath, ["--no-warnings", join(root, "src/cli/main.ts"), ...args], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "ignore"]
    })
    child.stdout.once("data", () => child.stdout.destroy())
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 130)
    assert.deepStrictEqual(
      readdirSync(folder).filter((name) => name.startsWith("magi-code-conformance-")),
      []
    )
  })

  it("a command that cannot be started, a filter without a case, options that clash: one line each", () => {
    for (const [args, code, said] of [
      [["--", "./no-such-agent"], 1, "cannot be started: ENOENT"],
      [["--filter", "xyzzy", "--", ...own], 2, 'no case has "xyzzy"'],
      [["--filter", "framing.bom"], 2, "behind --"],
      [["--json", "--junit", "x", "--", ...own], 2, "do not go together"],
      [["--jobs", "0", "--", ...own], 2, "--jobs"],
      [["--junit", join(folder, "none", "x.xml"), "--", ...own], 1, "cannot be written: ENOENT"]
    ] as const) {
      const { status, stderr, stdout } = magi(["conformance", ...args])
      assert.strictEqual(status, code, stderr)
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^magi-code conformance: [^\n]*\n$/)
      assert.include(stderr, said)
    }
  })
})

describe("JUnit", () => {
  it("holds whatever a backend wrote, well-formed", () => {
    const odd = `<a b="c">&amp;\u0000\u001b[31m\ud800\ufffe\r\n]]></a>`
    const base = { cites: [{ page: "tools" as const, sentence: odd }], problems: [], frames: [], ms: 1234 }
    const xml = junit([
      { ...base, id: "a.passed", status: "passed" },
      { ...base, id: "a.failed", status: "failed", problems: [odd], frames: [odd] },
      { ...base, id: "b.skipped", status: "skipped", reason: odd }
    ])
    const cases = ["testcase", "testcase", "failure", "testcase", "skipped"]
    assert.deepStrictEqual(elements(xml), ["testsuites", "testsuite", ...cases])
    assert.include(xml, 'tests="3" failures="1" errors="0" skipped="1" time="3.702"')
    assert.strictEqual(escapeXml('é😀<&>"\n'), "é😀&lt;&amp;&gt;&quot;&#10;")
  })
})
