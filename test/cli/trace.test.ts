/** product section 1: "the timeline of a run: a row per activity and call, its deadline, outcome and who won a race". */
import { createHash } from "node:crypto"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { fromRunFile } from "../../src/cli/trace/fromRunFile.ts"
import { fromStore } from "../../src/cli/trace/fromStore.ts"
import { htmlPage, jsonIsland } from "../../src/cli/trace/htmlPage.ts"
import { textTable } from "../../src/cli/trace/textTable.ts"
import type { CallTimeline } from "../../src/store/SessionRecord.ts"
import { folder, magi, manyCalls } from "./support.ts"

const of = { session_id: "s", run_id: "r" }
const call = { ...of, call_id: "c1", task_id: null, subagent_id: null }
const event = (t: number, name: string, data: object) =>
  JSON.stringify({ type: "event", t, sequence: 1, event: name, data })
const evil = "</script><script>alert(1)</script>\u001b[31m\u202e"

const raced = [
  event(10, "run.started", { ...of, provider: "p", model: "m" }),
  event(20, "activity.started", { ...of, activity_id: "a1", parent_id: null, kind: "tool", name: evil, task_id: null }),
  event(21, "client.tool.call", { ...call, name: evil, arguments: { secret: "s3cret" }, timeout_ms: 100 }),
  JSON.stringify({ type: "reply", t: 120, call_id: "c1", status: "success" }),
  event(122, "client.tool.cancel", { ...call, reason: "timeout" }),
  event(123, "activity.finished", {
    ...of,
    activity_id: "a1",
    status: "failure",
    call_id: "c1",
    code: "client_tool_timeout"
  }),
  event(130, "run.finished", { ...of, status: "completed", error: null }),
  JSON.stringify({ type: "outcome", t: 131, status: "completed", text: "" }),
  ""
].join("\n")

describe("a run file", () => {
  it("gives one row for a call and its activity, with its deadline and who won", () => {
    const { rows, runs, slots } = fromRunFile("run.jsonl", raced)
    assert.strictEqual(rows.length, 1)
    const { deadline, end, start, winner } = rows[0] ?? assert.fail("no row")
    assert.deepStrictEqual({ deadline, end, start, winner }, { deadline: 111, end: 113, start: 10, winner: "deadline" })
    assert.include(rows[0]?.also.join() ?? "", "reply")
    assert.deepStrictEqual(runs, [{ id: "r", status: "completed", start: 0, end: 120 }])
    assert.deepStrictEqual(
      slots.map(([, pending]) => pending),
      [0, 1, 0]
    )
  })

  it("whose last line is cut off is read to there; another line that is none is named", () => {
    assert.include(fromRunFile("f", raced.slice(0, -20)).notes.join(), "cut off")
    assert.throws(() => fromRunFile("f", `${raced}[]\n`), /f: line 9/)
    assert.throws(() => fromRunFile("f", ""), /empty/)
  })

  it("as text gives a run its length only where one is known", () => {
    const lengthOf = (end: number) =>
      textTable({
        ...fromRunFile("run.jsonl", raced),
        rows: [],
        runs: [{ id: "r", status: "completed", start: 0, end }]
      })
    assert.include(lengthOf(120), "run r: completed, 120 ms\n")
    assert.include(lengthOf(0), "run r: completed\n")
  })

  it("as text holds no escape sequence and no argument", () => {
    const text = textTable(fromRunFile("run.jsonl", raced))
    assert.notMatch(text, /[\u001b\u202e]/)
    assert.notInclude(text, "s3cret")
    assert.include(text, "won by deadline")
  })
})

describe("a stored session", () => {
  it("puts runs of two processes one after the other", () => {
    const row = (runId: string, callKey: string, at: number): CallTimeline => ({
      callKey,
      callId: `id-${callKey}`,
      runId,
      activityId: `a-${callKey}`,
      parentActivityId: null,
      taskId: null,
      name: "client__a",
      registeredMs: at,
      publishedMs: at + 1,
      deadlineMs: at + 100,
      settledMs: at + 10,
      winner: "reply",
      status: "success"
    })
    const { length, rows } = fromStore({
      format: "magi-code.session",
      version: 1,
      session: {
        id: "s",
        workspace: "/w",
        createdAt: "",
        updatedAt: "",
        title: null,
        selection: null,
        delegated: false,
        firstRunId: "r1",
        permissions: null
      },
      records: [],
      timeline: [row("r1", "k1", 90_000), row("r2", "k2", 5)]
    })
    assert.deepStrictEqual(
      rows.map(({ deadline, end, start }) => [start, end, deadline]),
      [
        [0, 10, 100],
        [60, 70, 160]
      ]
    )
    assert.strictEqual(length, 70)
  })
})

describe("the page", () => {
  it("is self-contained: everything is forbidden but the script and style that it holds", () => {
    const page = htmlPage(manyCalls(3))
    assert.include(page, "default-src 'none'")
    const script = page.match(/<script>([\s\S]*)<\/script>/)?.[1] ?? ""
    const style = page.match(/<style>([\s\S]*)<\/style>/)?.[1] ?? ""
    for (const text of [script, style]) {
      assert.include(page, `'sha256-${createHash("sha256").update(text).digest("base64")}'`)
    }
    assert.notMatch(page, /https?:|<link|<img|\son[a-z]+=|innerHTML|insertAdjacent|document\.write/)
    assert.isBelow(Buffer.byteLength(htmlPage(manyCalls(0))), 300 * 1024)
  })

  it("no name ends the data or becomes markup", () => {
    const page = htmlPage(fromRunFile(evil, raced))
    assert.strictEqual(page.split("</script>").length, 3)
    assert.notInclude(page, "alert(1)</script>")
    const island = jsonIsland({ name: `${evil}<!--\u2028` })
    assert.notMatch(island, /[<>\u2028]/)
    assert.deepStrictEqual(JSON.parse(island), { name: `${evil}<!--\u2028` })
    assert.notInclude(page, "s3cret")
  })

  it("is written for its owner alone; what cannot be written is one line", () => {
    const cwd = folder()
    writeFileSync(join(cwd, "run.jsonl"), raced)
    assert.strictEqual(magi(["trace", "run.jsonl", "--html", "out.html"], { cwd }).status, 0)
    assert.strictEqual(statSync(join(cwd, "out.html")).mode & 0o777, 0o600)
    assert.include(readFileSync(join(cwd, "out.html"), "utf8"), "<!doctype html>")
    const { status, stderr } = magi(["trace", "run.jsonl", "--html", "no/where.html"], { cwd })
    assert.strictEqual(status, 1)
    assert.match(stderr, /^magi-code trace: no\/where\.html cannot be written: [^\n]*\n$/)
    assert.strictEqual(magi(["trace", "nothing-here"], { cwd }).status, 1)
  }, 60_000)
})
