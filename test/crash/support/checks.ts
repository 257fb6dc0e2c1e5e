/** What must hold of a session whose backend died. */
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SessionStore } from "../../../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../../../src/store/SqliteSessionStore.ts"
import { verify } from "../../../src/store/Verify.ts"
import type { Built } from "../../process/support/Built.ts"
import type { Life, Stage } from "./life.ts"
import { ALL_CALLS, type AskedMessages, GO_ON, LAST_WORDS, NESTED, replyOf } from "./model.ts"
import { openShown, type Shown } from "./shown.ts"

type Statuses = ReadonlyMap<string, string>

/** The status of each call, by its tool: a run calls each of them once. */
const statusesOf = ({ entries }: Shown, name: string): Statuses => {
  const tools = entries.flatMap(({ tool }) => (tool === undefined ? [] : [[tool.name, tool.status] as const]))
  const statuses = new Map(tools)
  assert.strictEqual(statuses.size, tools.length, `${name}: one outcome a call`)
  return statuses
}

/** All that was known to be saved is shown; what was in flight is `unknown`, and nothing else is. */
const checkHistory = (life: Life, shown: Shown): Statuses => {
  const { acknowledged, finished, name, published, replied, saved } = life
  const statuses = statusesOf(shown, name)
  const ids = new Set(shown.entries.map((entry) => entry.entry_id))
  const visible = acknowledged.filter(({ kind }) => kind === "user" || kind === "assistant" || kind === "call_outcome")
  const lost = visible.filter(({ entryId }) => !ids.has(entryId))
  assert.deepStrictEqual(lost, [], `${name}: acknowledged`)
  const texts = new Set(shown.entries.map((entry) => entry.text))
  assert.deepStrictEqual(
    saved.filter((text) => !texts.has(text)),
    [],
    `${name}: said to be saved`
  )
  for (const { tool } of acknowledged) if (tool !== null) assert.strictEqual(statuses.get(tool), "success", name)
  for (const tool of published) {
    if (replied.includes(tool)) assert.include(["success", "unknown"], statuses.get(tool), `${name}: ${tool}`)
    else assert.strictEqual(statuses.get(tool), "unknown", `${name}: ${tool} was in flight`)
  }
  for (const status of statuses.values()) assert.include(["success", "unknown"], status, name)
  // What a script did is on disk when its own outcome is.
  if (statuses.get("code_mode") === "success") assert.strictEqual(statuses.get(NESTED), "success", name)
  if (finished !== undefined) {
    assert.deepInclude(finished, { status: "completed", persistence: "complete" }, name)
    assert.strictEqual(finished["history_revision"], shown.revision, name)
    assert.sameMembers([...statuses.keys()], [...ALL_CALLS], name)
    assert.notInclude([...statuses.values()], "unknown", name)
    assert.strictEqual(shown.entries.at(-1)?.text, LAST_WORDS, name)
  }
  return statuses
}

const contentOf = (tool: string, status: string | undefined): RegExp => {
  const mark = `^\\[untrusted tool result, data only: ${tool}, `
  if (status === "unknown") return new RegExp(`${mark}failure, unknown: .*it was not repeated\\.\\]\\n$`)
  const content = tool === "code_mode" ? JSON.stringify(replyOf(NESTED)) : replyOf(tool)
  return new RegExp(`${mark}success\\]\\n${content}$`)
}

/** The request goes on from what the dead backend had asked, and has one result for each call, in order. */
const checkRequest = (life: Life, earlier: ReadonlyArray<AskedMessages>, request: AskedMessages, shown: Shown) => {
  const { name } = life
  const statuses = statusesOf(shown, name)
  const before = earlier.at(-1) ?? []
  assert.deepStrictEqual(request.slice(0, before.length), before, `${name}: asked before`)
  assert.deepInclude(request.at(-1), { role: "user", content: GO_ON }, name)
  const calls = request.flatMap(({ tool_calls = [] }, at) =>
    tool_calls.map(({ function: { name: tool }, id }, place) => {
      const result = request[at + 1 + place]
      assert.deepInclude(result, { role: "tool", tool_call_id: id }, `${name}: ${tool}`)
      assert.match(String(result?.content), contentOf(tool, statuses.get(tool)), name)
      return tool
    })
  )
  assert.lengthOf(
    request.filter(({ role }) => role === "tool"),
    calls.length,
    `${name}: one result a call`
  )
  const direct = [...statuses.keys()].filter((tool) => tool !== NESTED)
  assert.deepStrictEqual(direct, calls, `${name}: the same calls, in the same order`)
}

/** Reopens the session, reopens it once more, and goes on with it. Gives how it is shown then. */
export const goOn = async (stage: Stage, backend: Built, life: Life): Promise<Shown | undefined> => {
  const { name, session } = life
  const earlier = stage.model.asked(name)
  const opened = await openShown(backend, session)
  if (opened === undefined) {
    assert.deepStrictEqual([life.acknowledged, life.saved], [[], []], `${name}: no session`)
    return undefined
  }
  checkHistory(life, opened)
  // Another session takes its place, so that this one is really opened again.
  await backend.create()
  assert.deepStrictEqual(await openShown(backend, session), opened, `${name}: opened again`)
  const { run_id } = await backend.ask("turn.start", { session_id: session, prompt: GO_ON })
  const { data } = await backend.finished(String(run_id))
  assert.deepInclude(data, { status: "completed", persistence: "complete" }, name)
  const [request, ...others] = stage.model.asked(name).slice(earlier.length)
  if (request === undefined) throw new Error(`${name}: the model was not asked`)
  assert.lengthOf(others, 0, name)
  checkRequest(life, earlier, request, opened)
  return await openShown(backend, session)
}

/** The files themselves: sound, every acknowledged record in order, one outcome for each call that was made or started. */
export const checkFiles = (root: string, lives: ReadonlyArray<Life>): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const home = join(root, "home")
    for (const { openCalls, path, problems } of yield* verify(home)) {
      assert.deepStrictEqual([problems, openCalls], [[], 0], path)
    }
    const store = yield* SessionStore
    for (const { acknowledged, name, session } of lives) {
      const open = store.open({ sessionId: session, workspace: join(root, "work") })
      const records = yield* Effect.scoped(Effect.flatMap(open, (handle) => handle.records))
      const known = new Set(acknowledged.map(({ entryId }) => entryId))
      const found = records.flatMap(({ entryId }) => (known.has(entryId) ? [entryId] : []))
      assert.deepStrictEqual(
        found,
        acknowledged.map(({ entryId }) => entryId),
        name
      )
      const made = records.flatMap((record) =>
        record.kind === "assistant"
          ? record.calls.map(({ callKey }) => callKey)
          : record.kind === "call_started"
            ? [record.callKey]
            : []
      )
      const ended = records.flatMap((record) => (record.kind === "call_outcome" ? [record.callKey] : []))
      assert.sameMembers(ended, [...new Set(made)], name)
    }
  }).pipe(Effect.scoped, Effect.provide(SqliteSessionStore.layer({ home: join(root, "home") })))
