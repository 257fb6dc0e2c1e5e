/** Stored sessions, their history, and the selected model. docs/local-agent-protocol.md, sections 7 and 8. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import {
  at,
  type Case,
  c,
  cite,
  completed,
  completedOne,
  history,
  type JsonObject,
  oneCall,
  textBytes,
  tool
} from "../dsl.ts"

const protocol = cite("local-agent-protocol")
const clientTools = cite("client-tools")

const openErrors = protocol(
  "session.open | run_active, session_not_found, session_busy, workspace_mismatch, session_invalid"
)
const listResult = protocol(
  "session.list | revision? and cursor? (both or neither), limit? | entries (session_id, title or null, updated_at, entry_count), revision, cursor or null, complete"
)
const pageResult = protocol(
  "history.page | session_id, revision, cursor?, limit? | session_id, revision, entries, cursor or null, complete"
)
const textParts = protocol("parts | how many there are; a long text is divided between characters, never cut")

export const sessions: ReadonlyArray<Case> = [
  c(
    "sessions.create",
    [
      protocol("session.create | – | session_id, durable: false, history_revision"),
      protocol(
        "A created session is on disk with its first run: until then durable is false, and no list shows the session."
      ),
      listResult,
      openErrors
    ],
    function* (t) {
      const b = yield* t.ready(null)
      const created = yield* b.ok("session.create")
      yield* t.keys(created, ["session_id", "durable", "history_revision"], "session.create")
      yield* t.equal(created.durable, false, "durable")
      yield* t.expect(created.session_id !== b.session, "each session has an id of its own")
      const list = yield* b.ok("session.list")
      yield* t.keys(list, ["entries", "revision", "cursor", "complete"], "session.list")
      yield* t.equal([list.entries, list.cursor, list.complete], [[], null, true], "a list without sessions")
      yield* b.refused("stale_session", "turn.start", { session_id: b.session, prompt: "x" })
      yield* b.refused("session_not_found", "session.open", { session_id: "none" })
    }
  ),

  c(
    "sessions.reopen",
    [
      protocol("session.open | session_id | session_id, durable: true, history_revision, title or null"),
      listResult,
      clientTools("A top-level session saves nothing and uses the registry of the process that opened it.")
    ],
    function* (t) {
      const first = yield* t.ready([tool("old")])
      yield* first.turn([{ text: "first answer" }])
      yield* first.finished()
      yield* first.eof
      yield* first.ended()
      const b = yield* t.ready([tool("a")], { session: first.session })
      const { entries: listed } = yield* b.ok("session.list")
      yield* t.equal(
        listed.map(({ session_id }) => session_id),
        [first.session],
        "sessions listed"
      )
      yield* t.keys(listed[0], ["session_id", "title", "updated_at", "entry_count"], "an entry of the list")
      yield* t.expect(!Number.isNaN(Date.parse(listed[0]?.updated_at ?? "")), "updated_at is a time")
      yield* t.expect((listed[0]?.entry_count ?? 0) >= 2, "entry_count counts the prompt and the answer")
      yield* t.equal(
        (yield* history(b)).map(({ kind, text }) => (kind === "user" ? kind : [kind, text])),
        ["user", ["assistant", "first answer"]],
        "history"
      )
      yield* b.accepted(yield* oneCall(b))
      yield* t.equal((yield* completedOne(b)).success, true, "a call of the present registry's tool")
    }
  ),

  c(
    "sessions.history-shape",
    [
      protocol("text | at most 16384 compact bytes; empty for a tool"),
      textParts,
      protocol("tool_card | only with tool.cards: the last card of a tool, or null"),
      protocol("history.page must name the current history_revision, which changes with every committed append."),
      protocol("message_id, part (from 0), parts, text (at most 16384): the whole final text, in place of the deltas")
    ],
    function* (t) {
      const b = yield* t.ready(null)
      const text = "€".repeat(8000)
      yield* b.turn([{ text }])
      const end = yield* b.finished()
      yield* t.equal(b.texts().at(-1), text, "text of message.reconcile")
      for (const { data } of b.events("message.reconcile")) {
        yield* t.expect(textBytes(data.text) <= 16_384, `a reconciled part of ${textBytes(data.text)} bytes`)
      }
      for (const { data } of b.events("message.delta")) {
        yield* t.expect(textBytes(data.text) <= 8192, `a delta of ${textBytes(data.text)} bytes`)
      }
      yield* b.refused("stale_revision", "history.page", { session_id: b.session, revision: "r-old" })
      const entries = yield* history(b)
      for (const entry of entries) {
        yield* t.expect(!("tool_card" in entry), "no tool_card where it was not negotiated")
        yield* t.expect(textBytes(entry.text) <= 16_384, `a part of ${textBytes(entry.text)} bytes`)
        yield* t.expect(!entry.text.includes("\ufffd"), "a part ends between characters")
      }
      const answer = entries.filter(({ kind }) => kind === "assistant")
      yield* t.expect(answer.length > 1, "24000 bytes do not stand in one part")
      yield* t.equal(answer.map((entry) => entry.text).join(""), text, "the parts together")
      const { history_revision } = yield* b.ok("status")
      yield* t.equal(history_revision, end.data.history_revision, "history_revision of status, as in run.finished")
    }
  ),

  c(
    "sessions.paging",
    [pageResult, protocol("A page has at most limit entries and 32768 compact bytes of them.")],
    function* (t) {
      const b = yield* t.ready(null)
      for (const text of ["answer 0", "answer 1", "answer 2"]) {
        yield* b.turn([{ text }])
        yield* b.finished()
      }
      const { history_revision: revision } = yield* b.ok("status")
      const kinds: Array<string> = []
      let pages = 0
      for (let more: JsonObject = {}; ; pages++) {
        const page = yield* b.ok("history.page", { session_id: b.session, revision, limit: 2, ...more })
        yield* t.expect(page.entries.length <= 2, `a page of ${page.entries.length} entries`)
        yield* t.equal(page.revision, revision, "revision of a page")
        yield* t.equal(page.complete, page.cursor === null, "complete, where the cursor is null")
        kinds.push(...page.entries.map(({ kind }) => kind))
        if (page.cursor === null) break
        yield* t.expect(pages < 6, "the cursor leads to the end")
        more = { cursor: page.cursor }
      }
      yield* t.equal(kinds, ["user", "assistant", "user", "assistant", "user", "assistant"], "kinds, over all pages")
    }
  ),

  c(
    "sessions.workspace",
    [
      protocol("A session belongs to the workspace it was made in."),
      protocol("Listing shows the top-level sessions of this workspace, newest first."),
      protocol("workspace_mismatch | it belongs to another workspace")
    ],
    function* (t) {
      const first = yield* t.ready(null)
      yield* first.turn([{ text: "x" }])
      yield* first.finished()
      yield* first.eof
      yield* first.ended()
      const cwd = join(t.root, "other")
      mkdirSync(cwd)
      const b = yield* t.spawn({ cwd })
      yield* b.initialized(null)
      yield* t.equal((yield* b.ok("session.list")).entries, [], "sessions of another workspace")
      yield* b.refused("workspace_mismatch", "session.open", { session_id: first.session })
    }
  ),

  c(
    "sessions.busy",
    [
      protocol(
        "From its first append, or from session.open on, a session is locked by this process (session_busy for any other) until another is attached or the process ends, however it ends."
      )
    ],
    function* (t) {
      const first = yield* t.ready()
      const e = yield* oneCall(first)
      const b = yield* t.spawn()
      yield* b.initialized(null)
      yield* b.refused("session_busy", "session.open", { session_id: first.session })
      yield* first.accepted(e)
      yield* completed(first)
      yield* first.eof
      yield* first.ended()
      const opened = yield* b.ok("session.open", { session_id: first.session })
      yield* t.equal(opened.session_id, first.session, "session, once the first process has ended")
    }
  ),

  c(
    "sessions.selection",
    [
      protocol(
        "selection.set | session_id, selection_revision, provider, model | selection (provider, model, revision), durable: true"
      ),
      protocol(
        "selection.set names the selection_revision it was decided on, so that two deciders do not overwrite each other. From then on the runs of this session ask that model."
      ),
      protocol("selection_invalid | the catalogue has no such model")
    ],
    function* (t) {
      const provider = yield* t.provider([{ text: "from m2" }])
      const b = yield* t.ready(null, { settings: provider.settings })
      const { entries } = yield* b.ok("model.catalog")
      yield* t.equal(
        entries.filter((one) => one.provider === "local").map(({ model }) => model),
        ["m", "m2"],
        "models of the catalogue"
      )
      const { revision } = b.init.selection
      const wanted: JsonObject = {
        session_id: b.session,
        selection_revision: revision,
        provider: "local",
        model: "m2"
      }
      yield* b.refused("stale_selection", "selection.set", { ...wanted, selection_revision: "other" })
      yield* b.refused("selection_invalid", "selection.set", { ...wanted, model: "none" })
      const { durable, selection } = yield* b.ok("selection.set", wanted)
      yield* t.equal([selection.provider, selection.model, durable], ["local", "m2", true], "result")
      yield* t.expect(selection.revision !== revision, "the selection has a new revision")
      yield* b.turn("hello")
      yield* b.finished()
      yield* t.equal(
        [at(provider.requests[0]?.body, "model"), b.events("run.started")[0]?.data.model],
        ["m2", "m2"],
        "model that was asked, and that run.started names"
      )
    }
  ),

  c("sessions.prompt-bound", protocol("A prompt is not blank and has at most 32768 bytes of UTF-8."), function* (t) {
    const b = yield* t.ready(null)
    const of = (bytes: number) => 'script:[{"text":"ok"}]'.padEnd(bytes)
    for (const prompt of ["", " \n\t", of(32_769), "é".repeat(16_385)]) {
      yield* b.refused("invalid_params", "turn.start", { session_id: b.session, prompt })
    }
    yield* b.turn(of(32_768))
    yield* t.equal((yield* b.finished()).data.status, "completed", "status after a prompt of 32768 bytes")
  })
]
