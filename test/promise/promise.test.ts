/** product section 4: the same core for programs without Effect. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { AgentLink } from "../../src/client/AgentLink.ts"
import { openAgent, type PlainTool, type PromiseAgent } from "../../src/client/promise.ts"
import { makeScriptedAgent, type ScriptedAgentOptions } from "../../src/testing/index.ts"
import * as Script from "../client/support/ScriptedAgent.ts"

const wordCount: PlainTool = {
  name: "word_count",
  description: "Count the words of a text.",
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => ({ words: text.split(" ").length })
}

/** A scripted agent that lives as long as `use`. */
const withAgent = async (
  onTurn: ScriptedAgentOptions["onTurn"],
  use: (scripted: Effect.Success<ReturnType<typeof makeScriptedAgent>>) => Promise<void>
) => {
  const scope = Scope.makeUnsafe()
  await use(await Effect.runPromise(Scope.provide(makeScriptedAgent({ onTurn }), scope)))
  await Effect.runPromise(Scope.close(scope, Exit.void))
}

type Told = "started" | "cancelled"

/** What the agent's side tells of its turns. */
class Turns {
  readonly #told: Array<Told> = []
  #wake: () => void = () => {}

  tell(what: Told): void {
    this.#told.push(what)
    this.#wake()
  }

  async when(what: Told, times: number): Promise<void> {
    while (this.#told.filter((one) => one === what).length < times) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

describe("magi-code/promise", () => {
  it("a turn's events are iterated, its tools called, its outcome awaited", async () => {
    await withAgent(
      (run) => Effect.map(run.call("word_count", { text: "one two" }), (reply) => JSON.stringify(reply.structured)),
      async ({ link }) => {
        await using agent = await openAgent({ link, tools: [wordCount] })
        await agent.createSession()
        await using turn = await agent.turn("count")
        const seen: Array<string> = []
        for await (const event of turn.events) seen.push(event._tag === "Reply" ? "reply" : event.event)
        assert.deepStrictEqual(seen, ["run.started", "client.tool.call", "reply", "message.reconcile", "run.finished"])
        assert.strictEqual((await turn.outcome).text, '{"words":2}')
      }
    )
  })

  /** An agent whose turns never end by themselves; what it was asked, and how many of its turns are over. */
  const endless = async (
    use: (agent: PromiseAgent, seen: () => Promise<ReadonlyArray<string>>, turns: Turns) => Promise<void>
  ) => {
    const turns = new Turns()
    const played = Effect.onInterrupt(
      Effect.andThen(
        Effect.sync(() => turns.tell("started")),
        Effect.never
      ),
      () => Effect.sync(() => turns.tell("cancelled"))
    )
    await withAgent(
      () => played,
      async ({ link, requests }) => {
        await using agent = await openAgent({ link })
        await agent.createSession()
        await use(agent, () => Effect.runPromise(requests), turns)
      }
    )
  }
  const before = ["initialize", "session.create"]

  it("leaving a turn sends turn.cancel", () =>
    endless(async (agent, seen) => {
      let outcome: Promise<{ readonly status: string }>
      {
        await using turn = await agent.turn("wait")
        outcome = turn.outcome
      }
      assert.strictEqual((await outcome).status, "cancelled")
      assert.deepStrictEqual(await seen(), [...before, "turn.start", "turn.cancel"])
    }))

  it("aborting a run rejects, and the agent gets turn.cancel: its turn is over", () =>
    endless(async (agent, seen, turns) => {
      const controller = new AbortController()
      const running = agent.run("wait", { signal: controller.signal }).then(
        () => "ended",
        () => "rejected"
      )
      await turns.when("started", 1)
      assert.deepStrictEqual(await seen(), [...before, "turn.start"])
      controller.abort()
      assert.strictEqual(await running, "rejected")
      await turns.when("cancelled", 1)
      assert.deepStrictEqual(await seen(), [...before, "turn.start", "turn.cancel"])
    }))

  it("a run whose signal was aborted before it rejects, and no turn is started", () =>
    endless(async (agent, seen) => {
      const rejected = await agent.run("wait", { signal: AbortSignal.abort() }).catch((error) => error)
      assert.strictEqual(rejected.name, "AbortError")
      assert.strictEqual(await agent.status().catch((error) => error.code), "unsupported_method")
      assert.deepStrictEqual(await seen(), [...before, "status"])
    }))

  it("history is iterated, and recycle gives a fresh child with the session of the one before", async () => {
    const scope = Scope.makeUnsafe()
    const scripts: Array<Script.ScriptedAgent> = []
    const opened = { session_id: Script.SESSION, durable: true, history_revision: "h-1", title: null }
    const entry = { kind: "user", created_at: "2026-12-02T05:37:49.483Z", part: 0, parts: 1, task_id: null }
    const page = { session_id: Script.SESSION, revision: "h-1", cursor: null, complete: true }
    const answers = {
      status: {
        state: "ready",
        instance_id: Script.INSTANCE,
        session_id: Script.SESSION,
        durable: true,
        run_id: null,
        history_revision: "h-1",
        selection: null,
        pending_approvals: 0,
        pending_client_calls: 0,
        requests_used: 2
      },
      "session.open": opened,
      "history.page": { ...page, entries: ["a", "b"].map((id) => ({ ...entry, entry_id: id, text: id })) }
    }
    {
      await using agent = await openAgent({
        link: async () => {
          const script = await Effect.runPromise(Scope.provide(Script.make({ answers }), scope))
          scripts.push(script)
          return script.link
        },
        tools: [wordCount]
      })
      await agent.createSession()
      assert.deepStrictEqual(await agent.recycle(), { session: opened })
      assert.lengthOf(scripts, 2)
      const texts: Array<string> = []
      for await (const item of agent.history()) if (item.kind !== "tool") texts.push(item.text)
      assert.deepStrictEqual(texts, ["a", "b"])
      assert.deepStrictEqual(
        scripts[1]?.seen.map(({ method }) => method),
        ["initialize", "session.open", "history.page"]
      )
      assert.strictEqual(await agent.requestIdsLeft(), 4093)
      await agent.turn("go")
      const refused = await agent.recycle().catch((error) => error)
      assert.deepInclude(refused, { _tag: "RecycleFailed", reason: "run_active" })
      await scripts[1]?.close.pipe(Effect.runPromise)
    }
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("a link that does not come keeps no agent from closing, and one that comes too late is closed", async () => {
    const scope = Scope.makeUnsafe()
    const script = await Effect.runPromise(Scope.provide(Script.make(), scope))
    const asked = Promise.withResolvers<void>()
    const late = Promise.withResolvers<AgentLink>()
    const closed = Promise.withResolvers<void>()
    let links = 0
    const agent = await openAgent({
      link: () => {
        links += 1
        if (links === 1) return script.link
        asked.resolve()
        return late.promise
      }
    })
    const recycled = agent.recycle().catch((error) => error)
    await asked.promise
    await agent.close()
    assert.deepInclude(await recycled, { _tag: "RecycleFailed", reason: "closed" })
    late.resolve({ ...script.link, close: () => Effect.sync(() => closed.resolve()) })
    await closed.promise
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("what a link function throws is the reason why the agent was not started, or not recycled", async () => {
    const fails = () => Promise.reject(new Error("no link today"))
    const refused = await openAgent({ link: fails }).catch((error) => error)
    assert.deepInclude(refused, { _tag: "AgentNotStarted", reason: "no link today" })
    const scope = Scope.makeUnsafe()
    const script = await Effect.runPromise(Scope.provide(Script.make(), scope))
    let links = 0
    const agent = await openAgent({ link: () => (links++ === 0 ? script.link : fails()) })
    const recycled = await agent.recycle().catch((error) => error)
    assert.deepInclude(recycled, { _tag: "RecycleFailed", reason: "not_opened", inUse: true })
    await agent.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("a tool that is refused rejects with its tagged error", async () => {
    const refused = await openAgent({ tools: [{ ...wordCount, input_schema: { type: "string" } }] }).catch(
      (error) => error
    )
    assert.strictEqual(refused._tag, "ToolRefused")
    assert.strictEqual(refused.path, "/input_schema/type")
  })
})
