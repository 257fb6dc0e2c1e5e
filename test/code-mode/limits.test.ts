import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Sandbox } from "../../src/agent/code-mode/Sandbox.ts"
import { layer, makeHost, onlySpareLeft, run, structured } from "./support.ts"

const MIB = 1024 * 1024
const provided = Effect.provide(layer())

describe("Code Mode: each limit, at its boundary (base-protocol 7)", () => {
  it.live("source 64 KiB, in UTF-8 bytes", () =>
    Effect.gen(function* () {
      const sized = (bytes: number) => `return 1//é${"x".repeat(bytes - 12)}`
      assert.strictEqual(yield* run(sized(65_536)), 1)
      assert.strictEqual(
        yield* run(sized(65_537)),
        "tool_invalid_arguments: the script is larger than 64 KiB and was not run"
      )
    }).pipe(provided)
  )

  it.live("200 inner calls, refused ones included; the 201st gives success: false with tool_failed", () =>
    Effect.gen(function* () {
      const { calls, host } = makeHost()
      const value = yield* run(
        `const rs = []
         for (let i = 0; i < 100; i++) rs.push(await tools.call("client__none", {}))
         for (let i = 0; i < 50; i++) rs.push(await tools.call(Symbol("no name"), {}))
         for (let i = 0; i < 50; i++) rs.push(await tools.call("client__echo", {}))
         return [rs.filter((r) => r.success).length, tools.budget().calls_left, await tools.call("client__echo", {}), tools.budget().calls_left]`,
        host
      )
      const message = "a script makes at most 200 calls"
      assert.deepStrictEqual(value, [
        50,
        0,
        { success: false, content: { text: message }, error: { code: "tool_failed", message } },
        0
      ])
      assert.strictEqual(calls.length, 150)
    }).pipe(provided)
  )

  it.live("the time is one for the script and its calls; ms_left counts down while a client takes its time", () =>
    Effect.gen(function* () {
      const { calls, host, called } = makeHost()
      const slow = yield* Effect.forkChild(
        run(
          'const a = tools.budget().ms_left; await tools.call("client__wait", {}); return [a, tools.budget().ms_left]',
          host
        )
      )
      const [call] = yield* called(1)
      yield* Effect.sleep("150 millis")
      if (call) yield* Deferred.succeed(call.answer, structured(1))
      const [before, after] = yield* Effect.map(Fiber.join(slow), (value) => (Array.isArray(value) ? value : []))
      assert.isTrue(typeof before === "number" && before <= 1500 && before > 900, `${before}`)
      assert.isTrue(typeof after === "number" && after <= before - 145 && after > 0, `${after}`)

      const message =
        "tool_timeout: the script did not end within 1.5 s (the time its calls and approvals took included) and was stopped"
      assert.strictEqual(yield* run('await tools.call("client__wait", {})', host), message)
      assert.isTrue(calls[1]?.cancelled)
      assert.strictEqual(yield* run("for (;;) {}", host), message)
      yield* onlySpareLeft
    }).pipe(Effect.provide(layer({ time_ms: 1500 })))
  )

  it.live("32 MiB of heap, whatever fills it", () =>
    Effect.gen(function* () {
      const fill = (mib: number) =>
        `const a = []; for (let i = 0; i < ${mib * 16}; i++) a.push(new ArrayBuffer(65536)); return a.length`
      assert.strictEqual(yield* run(fill(29)), 29 * 16)
      const message = /^tool_failed: the script took more than its 32 MiB of heap and was stopped/
      for (const code of [
        fill(36),
        "const a = []; for (;;) a.push({})",
        "const a = []; for (;;) a.push(new Array(1e4).fill(a.length))",
        "const a = []; for (let i = 0; ; i++) a.push(String(i).repeat(100))",
        "await null; const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        "return 'x'.repeat(2 ** 28)",
        "const s = 'x'.repeat(4e6); return JSON.parse('[' + Array(20).fill(JSON.stringify(s)).join() + ']')"
      ]) {
        assert.match(String(yield* run(code)), message, code)
      }
      yield* onlySpareLeft
    }).pipe(provided)
  )

  it.live("a full heap that the script goes on with hurts only itself", () =>
    Effect.gen(function* () {
      const value = yield* run(
        `let a = []; try { for (;;) a.push(new ArrayBuffer(1e6)) } catch (e) { a = a.length }
         return [a > 20, (await tools.call("client__echo", { again: true })).content]`
      )
      assert.deepStrictEqual(value, [true, { again: true }])
      // Results that find no room: the script ends by its heap, it does not read garbage.
      const big = "x".repeat(MIB - 2)
      const full = yield* run(
        'const a = []; try { for (;;) a.push(new ArrayBuffer(4096)) } catch {} const r = await tools.call("client__wait", {}); return r.content.length',
        { tools: [], call: () => Effect.succeed(structured(big)) }
      )
      assert.match(String(full), /32 MiB of heap/)
    }).pipe(provided)
  )

  it.live("1 MiB an inner result, 8 MiB in all, in compact bytes; the script is told, and goes on", () =>
    Effect.gen(function* () {
      const sizes = [MIB, MIB + 1, ...Array(7).fill(MIB), 1, 3]
      let next = 0
      const value = yield* run(
        `const rs = []
         for (let i = 0; i < ${sizes.length}; i++) {
           const r = await tools.call("client__sized", {})
           rs.push(r.success ? [r.content.length ?? r.content, tools.budget().bytes_left] : r.error)
         }
         return rs`,
        {
          tools: [],
          call: () =>
            Effect.sync(() => {
              const bytes = sizes[next++] ?? 0
              return structured(bytes === 1 ? 7 : "x".repeat(bytes - 2))
            })
        }
      )
      const allUsed = {
        code: "result_too_large",
        message: "the results of the script's calls are larger than 8 MiB in all; this one was not used"
      }
      assert.deepStrictEqual(value, [
        [MIB - 2, 7 * MIB],
        { code: "result_too_large", message: "the result is larger than 1 MiB and was not used" },
        ...[6, 5, 4, 3, 2, 1, 0].map((left) => [MIB - 2, left * MIB]),
        allUsed,
        allUsed
      ])
    }).pipe(provided)
  )

  it.live("256 KiB returned, in compact bytes", () =>
    Effect.gen(function* () {
      const bytes = 256 * 1024
      assert.strictEqual(yield* run(`return "x".repeat(${bytes - 2})`), "x".repeat(bytes - 2))
      const message = "result_too_large: the returned value is larger than 256 KiB and was not used"
      assert.strictEqual(yield* run(`return "x".repeat(${bytes - 1})`), message)
      assert.strictEqual(yield* run(`return "é".repeat(${bytes / 2})`), message)
      assert.strictEqual(yield* run("return 'x'.repeat(5e6)"), message)
    }).pipe(provided)
  )

  it.live("arguments are bounded before they leave the script: 1 MiB a call, 8 MiB in all", () =>
    Effect.gen(function* () {
      const { calls, host } = makeHost()
      const value = yield* run(
        `const big = { s: "x".repeat(2 ** 20) }, fits = { s: "x".repeat(2 ** 20 - 8) }
         const a = [await tools.call("client__echo", big), await tools.call("write", big)].map((r) => r.error.code)
         let n = 0
         for (let i = 0; i < 9; i++) if ((await tools.call("client__none", fits)).error.code === "tool_unknown") n++
         return [a, n]`,
        host
      )
      assert.deepStrictEqual(value, [["client_tool_payload_limit", "tool_invalid_arguments"], 8])
      assert.strictEqual(calls.length, 8)
    }).pipe(provided)
  )

  it.live("eight scripts run at a time; a further one waits, and runs", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { calls, host, called } = makeHost()
      const fibers = []
      for (let n = 0; n < 9; n++) {
        const code = `return (await tools.call("client__wait", {})).content`
        fibers.push(yield* Effect.forkChild(sandbox.run({ code, host })))
      }
      yield* called(8)
      yield* Effect.sleep("300 millis")
      assert.strictEqual(calls.length, 8)
      for (const call of calls) yield* Deferred.succeed(call.answer, structured("one"))
      const [last] = (yield* called(9)).slice(8)
      if (last) yield* Deferred.succeed(last.answer, structured("one"))
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), Array(9).fill("one"))
    }).pipe(provided)
  )
})
