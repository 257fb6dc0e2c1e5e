/** What a client shows of a run: catalogues, activities, cards, approvals. docs/local-agent-protocol.md, sections 9 to 11. */
import {
  activityOf,
  type Backend,
  type Case,
  c,
  call,
  cancelTurn,
  cite,
  completed,
  completedOne,
  type EventFrame,
  failedWith,
  oneCall,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const codeMode = cite("code-mode")
const protocol = cite("local-agent-protocol")
const tools = cite("tools")

const two = [tool("a"), tool("b")]

const answerOf = (b: Backend, asked: EventFrame<"approval.request">, allow: boolean) => ({
  session_id: b.session,
  run_id: b.run,
  approval_id: asked.data.approval_id,
  allow
})

const denied = protocol(
  "Denied are: allow false, no answer in 300000 ms, a cancelled run, and a 17th question while 16 wait. A denied call fails with approval_denied; the run goes on."
)
const closed = protocol("approval.closed | critical | approval_id, reason (answered, timeout, cancelled)")

export const surfaces: ReadonlyArray<Case> = [
  c(
    "surfaces.full",
    [
      clientTools("Permitted client tools are listed in the full and in the compact catalogue."),
      clientTools("capabilities.tools.disabled in the settings is for direct calls"),
      clientTools("Only a registered client tool may begin with client__"),
      tools("MCP | mcp__server__tool | src/tools/mcp/startMcp.ts")
    ],
    function* (t) {
      const model = yield* t.provider([])
      const capabilities = { tools: { disabled: ["client__b"] } }
      const b = yield* t.ready(two, { settings: { ...model.settings, mcp: t.mcp(), capabilities } })
      yield* b.turn("hello")
      yield* b.finished()
      const names = model.tools()
      for (const name of ["client__a", "mcp__kit__echo", "bash", "read", "code_mode", "subagents"]) {
        yield* t.expect(names.includes(name), `${name} should be in the catalogue ${names}`)
      }
      const ours = names.filter((name) => name.startsWith("client__"))
      yield* t.equal(ours, ["client__a"], "names of client tools: one is disabled, and an MCP server has client__x")
    }
  ),

  c(
    "surfaces.code-mode-off",
    codeMode("With capabilities.tools.code_mode.enabled: false in the settings there is no such tool."),
    function* (t) {
      const model = yield* t.provider([])
      const capabilities = { tools: { code_mode: { enabled: false } } }
      const b = yield* t.ready(two, { settings: { ...model.settings, capabilities } })
      yield* b.turn("hello")
      yield* b.finished()
      const names = model.tools()
      yield* t.equal(
        [names.includes("code_mode"), names.includes("client__a")],
        [false, true],
        `code_mode, client__a in the catalogue ${names}`
      )
    }
  ),

  c(
    "surfaces.cards",
    [
      protocol("An extension is there only if it was required."),
      protocol("A client tool's card has the role generic, the tool's name as its title and no lines."),
      protocol("A card in the state running is droppable, the final one critical"),
      protocol("tool_card | only with tool.cards: the last card of a tool, or null")
    ],
    function* (t) {
      const plain = yield* t.ready()
      yield* plain.accepted(yield* oneCall(plain))
      yield* completed(plain)
      yield* t.equal(plain.events("tool.card").length, 0, "cards that were not negotiated")
      const b = yield* t.ready([tool("a")], { capabilities: ["tool.cards"] })
      yield* b.accepted(yield* oneCall(b, { secret: "SENTINEL" }), { text: "SENTINEL" })
      yield* b.finished()
      const card = b.events("tool.card").at(-1)?.data.card
      const members = "schema_version card_id revision activity_id parent_card_id role title state outcome lines".split(
        " "
      )
      yield* t.keys(card, members, "card")
      yield* t.equal(
        [card?.role, card?.title, card?.state, card?.outcome, card?.lines],
        ["generic", "client__a", "finished", "success", []],
        "role, title, state, outcome, lines of the last card"
      )
      const { history_revision: revision } = yield* b.ok("status")
      const { entries } = yield* b.ok("history.page", { session_id: b.session, revision })
      for (const entry of entries) {
        const wanted = entry.kind === "tool" ? card : null
        yield* t.equal(entry.tool_card, wanted, `tool_card of the entry of kind ${entry.kind}`)
      }
      yield* t.expect(
        entries.some(({ kind }) => kind === "tool"),
        "the history has the call"
      )
    }
  ),

  c(
    "surfaces.activities",
    [
      protocol("Each activity that has started is finished exactly once, before run.finished."),
      protocol(
        "activity.finished | critical | activity_id, status (success, failure, cancelled), call_id or null, code or null"
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      const [good, bad] = yield* twoCalls(b)
      yield* b.accepted(good)
      yield* b.accepted(bad, { status: "error" })
      const end = yield* b.finished()
      const started = b.events("activity.started")
      yield* t.equal(
        started.map(({ data }) => [data.name, data.kind, data.task_id]),
        [
          ["client__a", "tool", null],
          ["client__a", "tool", null]
        ],
        "name, kind and task of the activities"
      )
      const finished = b.events("activity.finished")
      yield* t.equal(
        finished.map(({ data }) => data.activity_id).sort(),
        started.map(({ data }) => data.activity_id).sort(),
        "activities finished"
      )
      yield* t.equal(
        [activityOf(b, good)?.status, activityOf(b, bad)?.status],
        ["success", "failure"],
        "statuses, of a reply that succeeds and of an error"
      )
      yield* t.expect(
        finished.every(({ index }) => index < end.index),
        "they stand before run.finished"
      )
    }
  ),

  c(
    "surfaces.approval",
    [
      protocol(
        "approval.request | critical | approval_id, kind (bash, write, read), summary (at most 4096), task_id or null, subagent_id or null, timeout_ms (300000)"
      ),
      protocol(
        "approval.answer | session_id, run_id, approval_id, allow | accepted: true | no_session, stale_session, stale_run, stale_approval"
      ),
      protocol("The summary shows all that will run"),
      denied,
      closed
    ],
    function* (t) {
      const b = yield* t.ready()
      yield* b.turn([
        { calls: [call("bash", { command: "echo yes > allowed" })] },
        { calls: [call("bash", { command: "echo no > denied" })] },
        { text: "{{results}}" }
      ])
      const first = yield* b.event("approval.request")
      const { kind, subagent_id, summary, task_id, timeout_ms } = first.data
      yield* t.equal([kind, task_id, subagent_id, timeout_ms], ["bash", null, null, 300_000], "approval.request")
      yield* t.expect(summary.includes("echo yes > allowed"), `the summary should show the command, got ${summary}`)
      yield* t.equal((yield* b.ok("status")).pending_approvals, 1, "pending_approvals")
      const answer = answerOf(b, first, true)
      yield* b.refused("stale_approval", "approval.answer", { ...answer, approval_id: "other" })
      yield* b.refused("stale_run", "approval.answer", { ...answer, run_id: "other" })
      yield* t.equal(t.exists("allowed"), false, "the command ran before it was allowed")
      yield* b.ok("approval.answer", answer)
      yield* b.refused("stale_approval", "approval.answer", answerOf(b, first, false))
      const second = yield* b.event("approval.request", () => true, { from: first.index + 1 })
      yield* b.ok("approval.answer", answerOf(b, second, false))
      yield* failedWith(yield* completedOne(b), "approval_denied")
      yield* t.equal([t.read("allowed").trim(), t.exists("denied")], ["yes", false], "what the commands wrote")
      yield* t.equal(
        b.events("approval.closed").map(({ data }) => [data.approval_id, data.reason]),
        [first, second].map(({ data }) => [data.approval_id, "answered"]),
        "approval.closed"
      )
    }
  ),

  c("surfaces.approval-cancel", [denied, closed], function* (t) {
    const b = yield* t.ready()
    yield* b.turn([{ calls: [call("bash", { command: "echo x > ran" })] }])
    const asked = yield* b.event("approval.request")
    yield* cancelTurn(b)
    yield* t.equal((yield* b.finished()).data.status, "cancelled", "status")
    yield* t.equal(
      b.events("approval.closed").map(({ data }) => [data.approval_id, data.reason]),
      [[asked.data.approval_id, "cancelled"]],
      "approval.closed"
    )
    yield* t.equal(t.exists("ran"), false, "the command ran")
  })
]
