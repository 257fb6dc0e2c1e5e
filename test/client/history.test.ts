/** base-protocol section 4, `history.page`; docs/library.md, History: a stream of one state of the history. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { Agent } from "../../src/client/Agent.ts"
import { HistoryParts } from "../../src/client/HistoryParts.ts"
import type { HistoryEntry } from "../../src/protocol/MethodResult.ts"
import * as ScriptedAgent from "./support/ScriptedAgent.ts"

const entry = (entry_id: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  entry_id,
  kind: "assistant",
  created_at: "2026-12-02T05:37:49.483Z",
  text: `text of ${entry_id}`,
  part: 0,
  parts: 1,
  task_id: null,
  ...more
})
const tool = entry("t", { kind: "tool", text: "", tool: { name: "client__x", status: "unknown" } })

describe("parts", () => {
  it("are joined over any number of pages; a tool has its own members", () => {
    const parts = new HistoryParts()
    const long = [0, 1, 2].map((part) => entry("long", { part, parts: 3, text: `${part}` }))
    assert.deepStrictEqual(parts.push([entry("a"), ...long.slice(0, 1)]), [
      {
        kind: "assistant",
        entry_id: "a",
        created_at: "2026-12-02T05:37:49.483Z",
        task_id: null,
        text: "text of a",
        complete: true
      }
    ])
    assert.strictEqual(parts.end(), "the history ends inside an entry")
    assert.deepStrictEqual(parts.push(long.slice(1, 2)), [])
    const rest = parts.push([...long.slice(2), tool])
    assert.deepStrictEqual(
      typeof rest === "string" ? rest : rest.map((item) => (item.kind === "tool" ? item.status : item.text)),
      ["012", "unknown"]
    )
    assert.isUndefined(parts.end())
  })

  it("of a text over 1 MiB are several items, and nothing is cut", () => {
    const parts = new HistoryParts()
    const items = Array.from({ length: 150 }, (_, part) =>
      parts.push([entry("long", { part, parts: 150, text: `${part},` })])
    ).flat()
    const texts = items.flatMap((item) => (typeof item !== "string" && item.kind !== "tool" ? [item] : []))
    assert.deepStrictEqual(
      texts.map(({ complete, entry_id }) => [entry_id, complete]),
      [
        ["long", false],
        ["long", false],
        ["long", true]
      ]
    )
    assert.strictEqual(texts.map(({ text }) => text).join(""), Array.from({ length: 150 }, (_, n) => `${n},`).join(""))
  })

  it("that break the protocol are a fault", () => {
    const wrong: ReadonlyArray<ReadonlyArray<HistoryEntry>> = [
      [entry("a", { part: 1, parts: 2 })],
      [entry("a", { parts: 2 }), entry("b")],
      [entry("a", { parts: 3 }), entry("a", { part: 2, parts: 3 })],
      [entry("a", { parts: 3 }), entry("a", { part: 1, parts: 2 })],
      [entry("a", { part: 1, parts: 1 })],
      [entry("a", { kind: "tool" })],
      [{ ...tool, parts: 2 }]
    ]
    for (const entries of wrong) assert.isString(new HistoryParts().push(entries), JSON.stringify(entries))
  })
})

const opened = Effect.gen(function* () {
  const script = yield* ScriptedAgent.make()
  const agent = yield* Agent.over(script.link)
  yield* agent.createSession
  return { agent, script }
})

const page = (entries: ReadonlyArray<HistoryEntry>, revision: string, cursor: string | null) => ({
  session_id: ScriptedAgent.SESSION,
  revision,
  entries,
  cursor,
  complete: cursor === null
})

describe("history", () => {
  it.effect("asks for a page when it is read, each with the revision of the first", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened
      const reading = yield* Effect.forkChild(Stream.runCollect(agent.history({ limit: 2 })))
      const first = yield* script.take("history.page")
      assert.deepStrictEqual(first.params, { session_id: ScriptedAgent.SESSION, revision: "h-1", limit: 2 })
      yield* script.answer(first.id, page([entry("a"), entry("b", { parts: 2, text: "1" })], "h-1", "c-1"))
      const second = yield* script.take("history.page")
      assert.deepInclude(second.params, { revision: "h-1", cursor: "c-1", limit: 2 })
      yield* script.answer(second.id, page([entry("b", { part: 1, parts: 2, text: "2" })], "h-1", null))
      const items = yield* Fiber.join(reading)
      assert.deepStrictEqual(
        items.map((item) => (item.kind === "tool" ? item.name : item.text)),
        ["text of a", "12"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("reads no page that nobody wants", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened
      const reading = yield* Effect.forkChild(Stream.runCollect(Stream.take(agent.history(), 1)))
      const first = yield* script.take("history.page")
      yield* script.answer(first.id, page([entry("a"), entry("b")], "h-1", "c-1"))
      assert.lengthOf(yield* Fiber.join(reading), 1)
      yield* Effect.yieldNow
      assert.lengthOf(
        script.seen.filter(({ method }) => method === "history.page"),
        1
      )
    }).pipe(Effect.scoped)
  )

  it.effect("knows the revision of the last run", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened
      const turn = yield* agent.turn("go")
      yield* script.finish()
      yield* turn.outcome
      yield* Effect.forkChild(Stream.runCollect(agent.history()))
      assert.strictEqual((yield* script.take("history.page")).params.revision, "h-2")
    }).pipe(Effect.scoped)
  )

  const status = (history_revision: string) => ({
    state: "ready",
    instance_id: ScriptedAgent.INSTANCE,
    session_id: ScriptedAgent.SESSION,
    durable: true,
    run_id: null,
    history_revision,
    selection: null,
    pending_approvals: 0,
    pending_client_calls: 0,
    requests_used: 3
  })

  it.effect("asks once for the present revision; a change while it reads is stale_revision", () =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened
      const reading = yield* Effect.forkChild(Effect.exit(Stream.runCollect(agent.history())))
      yield* script.fail((yield* script.take("history.page")).id, "stale_revision")
      yield* script.answer((yield* script.take("status")).id, status("h-9"))
      const again = yield* script.take("history.page")
      assert.strictEqual(again.params.revision, "h-9")
      yield* script.answer(again.id, page([entry("a")], "h-9", "c-1"))
      yield* script.fail((yield* script.take("history.page")).id, "stale_revision")
      const exit = yield* Fiber.join(reading)
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      assert.deepInclude(error, { _tag: "RequestFailed", code: "stale_revision" })
      assert.lengthOf(
        script.seen.filter(({ method }) => method === "status"),
        1
      )
    }).pipe(Effect.scoped)
  )

  const lossOf = (
    ...pages: ReadonlyArray<readonly [ReadonlyArray<HistoryEntry>, string, string | null, complete?: boolean]>
  ) =>
    Effect.gen(function* () {
      const { agent, script } = yield* opened
      const reading = yield* Effect.forkChild(Effect.exit(Stream.runCollect(agent.history())))
      for (const [entries, revision, cursor, complete] of pages) {
        const { id } = yield* script.take("history.page")
        const given = page(entries, revision, cursor)
        yield* script.answer(id, complete === undefined ? given : { ...given, complete })
      }
      yield* Effect.ignore(agent.lost)
      const exit = yield* Fiber.join(reading)
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      return error?._tag === "TransportLost" ? error.reason : undefined
    }).pipe(Effect.scoped)

  it.effect("pages that the protocol does not promise are a loss", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* lossOf([[entry("a")], "h-1", "c"], [[entry("b")], "h-2", null]), "unclean_frame")
      assert.strictEqual(yield* lossOf([[entry("a")], "h-1", null, false]), "unclean_frame")
      assert.strictEqual(yield* lossOf([[entry("a", { parts: 2 })], "h-1", null]), "unclean_frame")
      assert.strictEqual(yield* lossOf([[entry("a", { part: 1, parts: 2 })], "h-1", null]), "unclean_frame")
    })
  )
})
