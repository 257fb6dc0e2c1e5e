import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { CodeModeLimits } from "../../src/agent/code-mode/CodeModeLimits.ts"
import { codeModeTool } from "../../src/agent/code-mode/codeModeTool.ts"
import { NestedCalls } from "../../src/agent/NestedCalls.ts"
import { ProtectedResults, ResultRejected, type ResultValue } from "../../src/broker/ProtectedResult.ts"
import { makeProtectedResults } from "../../src/broker/protected/ProtectedResultsLive.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"
import type { AgentTool, ToolContext } from "../../src/tools/Tool.ts"
import { layer, makeHost } from "./support.ts"

const context: ToolContext = {
  sessionId: "s",
  runId: "r",
  taskId: null,
  subagentId: null,
  callKey: "k",
  activityId: "a",
  surface: "direct",
  mode: "standard",
  progress: () => Effect.void,
  started: Effect.void,
  published: () => undefined,
  observed: () => undefined
}

const echo: AgentTool = {
  name: "client__echo",
  description: "Gives its arguments back.",
  inputSchema: { type: "object" },
  origin: "client",
  role: "generic",
  fingerprint: "f",
  compact: true,
  prepare: () => Effect.die("calls go through NestedCalls")
}

/** Calls the tool as the pipeline does. */
const execute = (args: JsonObject, call = makeHost().host.call) =>
  Effect.scoped(
    Effect.gen(function* () {
      const tool = yield* codeModeTool
      const prepared = yield* tool.prepare(args, context)
      assert.deepStrictEqual([prepared.approval, prepared.lines], [null, []])
      return yield* prepared.execute
    })
  ).pipe(Effect.provideService(NestedCalls, { tools: [echo], call }))

const secrets = Layer.effect(ProtectedResults, makeProtectedResults([]))
const provided = Effect.provide(Layer.mergeAll(layer(), secrets))

/** What is protected, and by which bound; rejects as told. */
const noted = (rule?: ResultRejected["rule"]) => {
  const seen: Array<readonly [ResultValue, number]> = []
  const protect = (value: ResultValue, maxBytes: number) => {
    seen.push([value, maxBytes])
    return rule ? Effect.fail(new ResultRejected({ rule, path: "/structured", message: "why" })) : Effect.succeed(value)
  }
  return {
    seen,
    layer: Layer.mergeAll(layer(), Layer.succeed(ProtectedResults, { protect, maskText: Effect.succeed }))
  }
}

describe("code_mode (base-protocol 7, product 2)", () => {
  it.live("takes one argument, code; its description tells the surface and the bounds", () =>
    Effect.gen(function* () {
      const tool = yield* codeModeTool
      assert.deepStrictEqual(
        [tool.name, tool.origin, tool.role, tool.fingerprint, tool.compact],
        ["code_mode", "builtin", "code_mode", null, true]
      )
      for (const words of ["64 KiB", "200 calls", "60 s", "approvals", "ms_left", "Promise.all", "256 KiB"]) {
        assert.include(tool.description, words)
      }
      for (const args of [{}, { code: 1 }, { code: "return 1", more: 1 }, { script: "return 1" }]) {
        assert.strictEqual((yield* Effect.flip(execute(args))).code, "tool_invalid_arguments")
      }
    }).pipe(provided)
  )

  it.live("a script calls the agent's tools, and its value is the structured content; nothing returned is null", () =>
    Effect.gen(function* () {
      const code = 'return [tools.list(), await tools.call("client__echo", { q: 1 })]'
      assert.deepStrictEqual(yield* execute({ code }), {
        text: "",
        structured: [
          [{ name: "client__echo", description: "Gives its arguments back." }],
          { success: true, content: { q: 1 } }
        ],
        isProtected: true
      })
      assert.deepStrictEqual(yield* execute({ code: "" }), { text: "", structured: null, isProtected: true })
    }).pipe(provided)
  )

  it.live("the returned value is protected as a whole, within 256 KiB", () => {
    const { layer, seen } = noted()
    return Effect.gen(function* () {
      yield* execute({ code: "return { a: 'x'.repeat(200000) }" })
      assert.deepStrictEqual(seen, [[{ text: "", structured: { a: "x".repeat(200_000) } }, 256 * 1024]])
    }).pipe(Effect.provide(layer))
  })

  it.live("a large value comes through the real protection, and a secret put together in a script does not", () =>
    Effect.gen(function* () {
      const rows = 'return Array.from({ length: 3000 }, (_, id) => ({ id, name: "record " + id, path: "/a/b/" + id }))'
      const output = yield* execute({ code: rows })
      assert.isAtLeast(JSON.stringify(output.structured).length, 140_000)
      const secret = yield* execute({
        code: 'return { ["pass" + "word"]: "hunter" + 2, note: "pass" + "word=hunter" + 2 }'
      })
      assert.deepStrictEqual(secret.structured, { password: "[redacted]", note: "password=[redacted]" })
    }).pipe(provided)
  )

  for (const [rule, code] of [
    ["too_large", "result_too_large"],
    ["collision", "result_rejected"],
    ["unscannable", "result_rejected"]
  ] as const) {
    it.live(`a value that is not protected (${rule}) is ${code}`, () =>
      Effect.map(Effect.flip(execute({ code: "return 1" })), (failure) =>
        assert.deepStrictEqual([failure.code, failure.output], [code, undefined])
      ).pipe(Effect.provide(noted(rule).layer))
    )
  }

  it.live("each failure has its code, and the message names the bound", () =>
    Effect.gen(function* () {
      const failures: ReadonlyArray<readonly [code: string, failure: string, message: RegExp]> = [
        ["throw new Error('boom')", "tool_failed", /line 1: Error: boom/],
        ["return (((", "tool_failed", /SyntaxError/],
        [`//${"x".repeat(CodeModeLimits.source_bytes)}`, "tool_invalid_arguments", /64 KiB/],
        ["return 'x'.repeat(300000)", "result_too_large", /256 KiB/],
        ["return 'x'.repeat(1e9)", "tool_failed", /32 MiB of heap/]
      ]
      for (const [code, failure, message] of failures) {
        const { code: given, message: told } = yield* Effect.flip(execute({ code }))
        assert.deepStrictEqual([given, message.test(told)], [failure, true], told)
      }
    }).pipe(provided)
  )

  it.live("interrupting the call interrupts the script's calls and waits for them", () =>
    Effect.gen(function* () {
      const { calls, host, called } = makeHost()
      const script = yield* Effect.forkChild(execute({ code: "await tools.call('client__wait', {})" }, host.call))
      const [call] = yield* called(1)
      yield* Fiber.interrupt(script)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(script)))
      assert.isTrue(call?.cancelled)
      assert.isFalse(call ? yield* Deferred.isDone(call.answer) : true)
      assert.strictEqual(calls.length, 1)
    }).pipe(provided)
  )
})
