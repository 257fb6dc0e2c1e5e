/** The presentation history. base-protocol section 4, "History entry", and its bounds. */
import { Buffer } from "node:buffer"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { textBytes } from "../../src/protocol/CompactJson.ts"
import { success } from "../../src/protocol/Envelope.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"
import { entriesOf, entryCountOf, entrySources, fillPage, parseCursor } from "../../src/store/HistoryEntries.ts"
import type { SessionRecord } from "../../src/store/SessionRecord.ts"
import type { HistoryEntry } from "../../src/store/SessionStore.ts"
import { assistant, notice, outcome, started, turn, user } from "./support.ts"

const plain = { taskId: null, cards: false }

const card: JsonObject = {
  schema_version: 1,
  card_id: "k",
  revision: 2,
  activity_id: "a",
  parent_card_id: null,
  role: "bash",
  title: "t",
  state: "finished",
  outcome: "success",
  lines: ["ls"]
}

/** Pages through a list of records as a client does, and gives all pages. */
const pagesOf = (records: ReadonlyArray<SessionRecord>, limit: number, options = plain) => {
  const pages: Array<ReadonlyArray<HistoryEntry>> = []
  for (let cursor: string | null = null; ; ) {
    const start = parseCursor(cursor)
    if (start === null) throw new Error("not a cursor")
    const stored = records.map((record, at) => ({ seq: at + 1, record })).filter(({ seq }) => seq >= start.seq)
    const page = fillPage(entrySources(stored, options), start, limit)
    pages.push(page.entries)
    cursor = page.cursor
    if (cursor === null) return pages
    assert.match(cursor, /^[A-Za-z0-9._:-]{1,128}$/)
  }
}

const kinds = (records: ReadonlyArray<SessionRecord>) =>
  records.flatMap((record) => entriesOf(record, plain)).map((entry) => entry.kind)

describe("history entries", () => {
  it("an entry has exactly its members; tool only for tools, tool_card only when negotiated", () => {
    const [entry] = entriesOf(user("hi"), plain)
    const names = ["entry_id", "kind", "created_at", "text", "part", "parts", "task_id"]
    assert.deepStrictEqual(Object.keys(entry ?? {}), names)
    const tool = { ...outcome("c"), taskId: "task", card }
    assert.deepStrictEqual(Object.keys(entriesOf(tool, plain)[0] ?? {}).sort(), [...names, "tool"].sort())
    const [shown] = entriesOf(tool, { taskId: null, cards: true })
    assert.deepStrictEqual(shown?.tool_card, card)
    assert.deepStrictEqual(shown?.tool, { name: "client__a", status: "success" })
    assert.strictEqual(shown?.task_id, "task")
    assert.strictEqual(entriesOf(user("hi"), { taskId: null, cards: true })[0]?.tool_card, null)
  })

  it("a name that the model made up, of any length, still fits into a page and a frame", () => {
    for (const name of ["n".repeat(100_000), "\u0001".repeat(60_000), `\ud83d\ude00${"\ud800".repeat(50_000)}`]) {
      const [entry] = entriesOf({ ...outcome("c"), name }, { taskId: null, cards: true })
      assert.isAtMost(textBytes(entry?.tool?.name ?? name), 128)
      assert.isTrue(entry?.tool?.name.isWellFormed())
    }
  })

  it("raw arguments and results never enter it, and a tool's text is empty", () => {
    const entries = turn("c").flatMap((record) => entriesOf(record, { taskId: null, cards: true }))
    assert.notInclude(JSON.stringify(entries), "SENTINEL")
    assert.deepStrictEqual(
      entries.filter((entry) => entry.kind === "tool").map((entry) => entry.text),
      [""]
    )
  })

  it("only user, assistant, tool and notice are shown; a response of calls alone is shown by its calls", () => {
    assert.deepStrictEqual(kinds([...turn("c"), notice("n")]), ["user", "tool", "assistant", "notice"])
    assert.deepStrictEqual(kinds([assistant("with text", ["c"]), assistant("")]), ["assistant", "assistant"])
    const rest = { entryId: "x", createdAt: "2026-01-01T00:00:00.000Z", runId: "r" }
    assert.deepStrictEqual(
      kinds([
        started("c"),
        { kind: "compaction", keepFrom: null, summary: "s", clearedResults: [], ...rest },
        { kind: "run_finished", status: "completed", usage: null, ...rest }
      ]),
      []
    )
  })

  it("a long text is split into parts of at most 16384 compact bytes, never cut", () => {
    for (const text of ["€".repeat(8000), '"\\'.repeat(10_000), "😀".repeat(9000), "\u0001".repeat(6000), ""]) {
      const entries = entriesOf(user(text), plain)
      assert.strictEqual(entries.map((entry) => entry.text).join(""), text)
      assert.strictEqual(entryCountOf(user(text)), entries.length)
      entries.forEach((entry, part) => {
        assert.isAtMost(textBytes(entry.text), 16_384)
        assert.deepStrictEqual([entry.part, entry.parts], [part, entries.length])
        assert.strictEqual(entry.entry_id, entries[0]?.entry_id)
      })
    }
  })

  it("a page has at most its limit of entries, 32768 bytes of them, and fits its frame with long ids", () => {
    const records = [user("\u0001".repeat(20_000)), ...Array.from({ length: 150 }, (_, at) => user(`m${at}`))]
    const pages = pagesOf(records, 100)
    for (const entries of pages) {
      assert.isAtMost(entries.length, 100)
      assert.isAtMost(Buffer.byteLength(JSON.stringify(entries)), 32_768)
      const id = "i".repeat(128)
      const frame = success(
        id,
        JSON.parse(JSON.stringify({ session_id: id, revision: id, entries, cursor: id, complete: false }))
      )
      assert.isBelow(Buffer.byteLength(frame), 65_536)
    }
    assert.deepStrictEqual(
      pages.flat(),
      records.flatMap((record) => entriesOf(record, plain))
    )
  })

  it("a card that would not fit is left out, never the entry", () => {
    const huge = { ...outcome("c"), card: { ...card, lines: ["x".repeat(40_000)] } }
    const deep = { ...outcome("d"), card: { ...card, lines: [[[[[[[[["deep"]]]]]]]]] } }
    const pages = pagesOf([huge, deep, { ...outcome("e"), card }], 100, { taskId: null, cards: true })
    assert.deepStrictEqual(
      pages.flat().map((entry) => entry.tool_card),
      [null, null, card]
    )
  })

  it("any limit gives the same entries in the same order, each once", () => {
    const text = fc.oneof(
      fc.string(),
      fc.integer({ min: 0, max: 40_000 }).map((length) => '"'.repeat(length))
    )
    const record = fc.oneof(
      text.map((value) => user(value)),
      text.map((value) => assistant(value, ["k"])),
      fc.constant(started("c")),
      fc.constant(outcome("c"))
    )
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), fc.integer({ min: 1, max: 7 }), (records, limit) => {
        const all = records.flatMap((one) => entriesOf(one, plain))
        assert.deepStrictEqual(pagesOf(records, limit).flat(), all)
      }),
      { numRuns: 60 }
    )
  })

  it("calls are shown in the order the model made them, whatever ended first; what a script called stands before it", () => {
    const inner = (key: string) => ({ ...outcome(key), parentKey: "b" })
    const records = [
      user("go"),
      assistant("two calls", ["a", "b", "c"]),
      outcome("c"),
      inner("b1"),
      inner("b2"),
      outcome("b"),
      outcome("a"),
      assistant("done"),
      user("again")
    ]
    const wanted = ["go", "two calls", "a", "b1", "b2", "b", "c", "done", "again"]
    const names = new Map(records.flatMap((one) => ("callKey" in one ? [[one.entryId, one.callKey] as const] : [])))
    for (let limit = 1; limit <= wanted.length; limit++) {
      const seen = pagesOf(records, limit)
        .flat()
        .map((entry) => names.get(entry.entry_id) ?? entry.text)
      assert.deepStrictEqual(seen, wanted, `limit ${limit}`)
    }
  })

  it("a foreign cursor is none", () => {
    for (const cursor of ["", "x", "1", "1.", "-1.0", "1.0.0", "1e3.0", "9999999999999999.0"]) {
      assert.isNull(parseCursor(cursor), cursor)
    }
  })
})
