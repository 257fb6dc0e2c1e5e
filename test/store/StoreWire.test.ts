/** What one side packs is what the other unpacks. */
import { assert, describe, it } from "@effect/vitest"
import { entryCountOf } from "../../src/store/HistoryEntries.ts"
import { rowOfRecord } from "../../src/store/RecordCodec.ts"
import type { AnswerMessage, NewSession, RequestMessage } from "../../src/store/StoreMessages.ts"
import { packAnswers, packRequests, unpackAnswers, unpackRequests } from "../../src/store/StoreWire.ts"
import { notice, turn, user } from "./support.ts"

const create: NewSession = {
  workspace: '/w "quoted"',
  createdAt: "2026-01-01T00:00:00.000Z",
  title: null,
  delegated: true,
  permissions: '{"a":[]}'
}

const append = (id: number, session: string, records: Parameters<typeof rowOfRecord>[0][]): RequestMessage => ({
  id,
  request: {
    op: "append",
    session,
    create: id === 0 ? create : null,
    rows: records.map((record) => rowOfRecord(record, entryCountOf(record)))
  }
})

describe("requests to the store's worker", () => {
  it("arrive as they were sent: every body with its own row, whatever its text", () => {
    const requests: ReadonlyArray<RequestMessage> = [
      append(0, "s", [user("ä \u{1f600} \ud800 \u0000 \u2028")]),
      { id: 1, request: { op: "title", session: "s", title: "a \ud800 title" } },
      append(2, "t", [...turn("c")]),
      { id: 3, request: { op: "page", session: "s", revision: "r", cursor: null, limit: 3, cards: true } },
      append(4, "s", [notice(""), user("last")]),
      { id: 5, request: { op: "selection", session: "s", create: null, provider: "p", model: "m" } },
      { id: 6, request: { op: "stop" } }
    ]
    const packed = structuredClone(packRequests(requests, true))
    assert.deepStrictEqual(unpackRequests(packed), { requests, more: true })
    assert.deepStrictEqual(unpackRequests(structuredClone(packRequests([], false))), { requests: [], more: false })
  })
})

describe("answers of the store's worker", () => {
  it("arrive as they were sent", () => {
    const answers: ReadonlyArray<AnswerMessage> = [
      { ids: [1, 2], answer: { ok: true, reply: { op: "append", value: { revision: "h2-x" } } } },
      { ids: [3], answer: { ok: true, reply: { op: "title", value: null } } },
      { ids: [4], answer: { ok: false, kind: "persistence", message: "the disk is full" } },
      { ids: [5], answer: { ok: true, reply: { op: "read", value: { bodies: ["a"], next: 7 } } } }
    ]
    assert.deepStrictEqual(unpackAnswers(structuredClone(packAnswers(answers))), answers)
  })
})
