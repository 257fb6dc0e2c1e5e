/** Stored texts and what is made of damaged ones. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodePermissions, encodePermissions } from "../../src/store/PermissionsRecord.ts"
import { decodeRecord, encodeRecord } from "../../src/store/RecordCodec.ts"
import type { CallTimeline, SessionRecord } from "../../src/store/SessionRecord.ts"
import { decodeTimeline, encodeTimeline } from "../../src/store/TimelineCodec.ts"
import { notice, outcome, turn } from "./support.ts"

const rest = { entryId: "x", createdAt: "2026-01-01T00:00:00.000Z", runId: "r" }

const samples: ReadonlyArray<SessionRecord> = [
  ...turn("c"),
  notice("n"),
  {
    ...outcome("d"),
    status: "failure",
    outcome: { success: false, text: "", error: { code: "tool_failed", message: "m" } }
  },
  { ...outcome("e"), outcome: { success: true, text: "", structured: null, error: null }, parentKey: "c", taskId: "t" },
  { kind: "compaction", keepFrom: "x", summary: "s", clearedResults: ["c"], ...rest },
  { kind: "run_finished", status: "cancelled", usage: { input_tokens: 1, output_tokens: 2 }, ...rest },
  { kind: "run_finished", status: "failed", usage: null, ...rest }
]

const permissions = {
  version: 1,
  mode: "inspect",
  profile: null,
  depth: 2,
  direct: [{ name: "read", fingerprint: null }],
  code_mode: []
} as const

const timeline: CallTimeline = {
  callKey: "c",
  callId: "u",
  runId: "r",
  activityId: "a",
  parentActivityId: null,
  taskId: null,
  name: "client__a",
  registeredMs: 1,
  publishedMs: 2.5,
  deadlineMs: null,
  settledMs: 9,
  winner: "reply",
  status: "success"
}

/** The object with each member in turn missing, and with each of a wrong type. */
const damages = (value: object): ReadonlyArray<string> =>
  Object.keys(value).flatMap((key) => {
    const without = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
    return [JSON.stringify(without), JSON.stringify({ ...value, [key]: [[7]] })]
  })

describe("record codec", () => {
  it("gives back every kind of record, an explicit null apart from an omission", () => {
    for (const record of samples) assert.deepStrictEqual(decodeRecord(encodeRecord(record)), record)
  })

  it("takes no record that lacks a member or has one of a wrong type", () => {
    for (const record of samples) {
      for (const text of damages(record)) assert.isUndefined(decodeRecord(text), text)
    }
    for (const text of ["", "null", "[]", "{", '{"kind":"user"}', '"user"']) assert.isUndefined(decodeRecord(text))
  })

  it("never throws, whatever it reads", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void decodeRecord(text)))
  })
})

describe("permissions record (section 7)", () => {
  it("is given back as it was saved", () => {
    assert.deepStrictEqual(decodePermissions(encodePermissions(permissions)), permissions)
  })

  it("no record, or a list that was never saved: absent, which grants no client tool", () => {
    assert.strictEqual(decodePermissions(null), "absent")
    const { direct: _, ...legacy } = { ...permissions, mode: "standard" }
    assert.strictEqual(decodePermissions(JSON.stringify(legacy)), "absent")
  })

  it("an inspect session whose lists are missing does not gain by it", () => {
    const { code_mode: _, ...partial } = permissions
    assert.strictEqual(decodePermissions(JSON.stringify(partial)), "damaged")
  })

  it("a tool saved without a fingerprint has none", () => {
    const text = JSON.stringify({ ...permissions, direct: [{ name: "client__a" }] })
    const decoded = decodePermissions(text)
    assert.deepStrictEqual(typeof decoded === "object" && decoded.direct, [{ name: "client__a", fingerprint: null }])
  })

  it("anything else is damaged", () => {
    const odd = [
      ...["", "{", "null", "[]", "7"],
      ...Object.keys(permissions).map((key) => JSON.stringify({ ...permissions, [key]: { odd: true } })),
      JSON.stringify({ ...permissions, version: 2 }),
      JSON.stringify({ ...permissions, mode: undefined }),
      JSON.stringify({ ...permissions, depth: -1 }),
      JSON.stringify({ ...permissions, direct: [{ fingerprint: null }] }),
      JSON.stringify({ ...permissions, direct: [{ name: "read", fingerprint: 7 }] })
    ]
    for (const text of odd) assert.strictEqual(decodePermissions(text), "damaged", text)
  })
})

describe("timeline rows", () => {
  it("are given back, or recognised as damaged", () => {
    assert.deepStrictEqual(decodeTimeline(encodeTimeline(timeline)), timeline)
    for (const text of [...damages(timeline), "", "[]"]) assert.isUndefined(decodeTimeline(text), text)
  })
})
