/** product section 4: the same core for programs without Effect. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { openAgent, type PlainTool } from "../../src/client/promise.ts"
import { makeScriptedAgent, type ScriptedAgentOptions } from "../../src/testing/index.ts"

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

  it("leaving a turn cancels it; aborting a run rejects and cancels it", async () => {
    await withAgent(
      () => Effect.never,
      async ({ link, requests }) => {
        await using agent = await openAgent({ link })
        await agent.createSession()
        let outcome: Promise<{ readonly status: string }>
        {
          await using turn = await agent.turn("wait")
          outcome = turn.outcome
        }
        assert.strictEqual((await outcome).status, "cancelled")
        const controller = new AbortController()
        const running = agent.run("wait", { signal: controller.signal })
        setImmediate(() => controller.abort())
        assert.strictEqual(
          await running.then(
            () => "ended",
            () => "rejected"
          ),
          "rejected"
        )
        assert.strictEqual(await agent.status().catch((error) => error.code), "unsupported_method")
        const cancels = (await Effect.runPromise(requests)).filter((method) => method === "turn.cancel")
        assert.isAtLeast(cancels.length, 1)
      }
    )
  })

  it("a tool that is refused rejects with its tagged error", async () => {
    const refused = await openAgent({ tools: [{ ...wordCount, input_schema: { type: "string" } }] }).catch(
      (error) => error
    )
    assert.strictEqual(refused._tag, "ToolRefused")
    assert.strictEqual(refused.path, "/input_schema/type")
  })
})
