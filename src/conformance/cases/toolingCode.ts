/** Code Mode's values and bounds. docs/code-mode.md. */
import { at, type Case, c, cite, code, completed, failedWith, history, type Json, shown, tool } from "../dsl.ts"

const codeMode = cite("code-mode")
const protocol = cite("local-agent-protocol")

/** A script of exactly so many bytes. */
const sized = (bytes: number) => code("return 1//".padEnd(bytes, "x"))

/** A script that reads a file so often; it gives how many succeeded, or where one was refused. */
const reading = (times: number) =>
  code(`
    for (let n = 0; n < ${times}; n++) {
      const read = await tools.call("read", { path: "x.txt" })
      if (!read.success) return { after: n, code: read.error.code }
    }
    return ${times}
  `)

export const toolingCode: ReadonlyArray<Case> = [
  c(
    "tooling.code-shapes",
    [
      codeMode("tools.list() | [{name, description}]: what this agent may call from Code Mode"),
      codeMode(
        "tools.search(query) | the same, where all words of the query occur in name or description, whatever their case"
      ),
      codeMode("tools.describe(name) | {name, description, input_schema} or null"),
      codeMode("tools.budget() | {calls_left, ms_left, bytes_left}"),
      codeMode("Nothing returned is null."),
      protocol("Calls made inside Code Mode have entries of their own")
    ],
    function* (t) {
      const b = yield* t.ready([
        tool("a", { description: "Red harbour lights." }),
        tool("b", { description: "Red roofs." })
      ])
      const shapes = code(`
        const result = await tools.call("client__a", {})
        return {
          members: Object.keys((await tools.list())[0]).sort(),
          found: (await tools.search("lights RED")).map((one) => one.name),
          described: await tools.describe("client__b"),
          unknown: await tools.describe("client__none"),
          budget: await tools.budget(),
          result
        }
      `)
      const nothing = code('await tools.call("client__none", {})')
      yield* b.turn([{ calls: [shapes, nothing] }, { text: "{{results}}" }])
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* b.accepted(e, { structured: [1] })
      const [first, second] = yield* completed(b)
      const seen = (name: string): Json => at(first?.content, name) ?? null
      yield* t.equal(
        ["members", "found", "described", "unknown", "result"].map(seen),
        [
          ["description", "name"],
          ["client__a"],
          { name: "client__b", description: "Red roofs.", input_schema: { type: "object" } },
          null,
          { success: true, content: [1] }
        ],
        "what list, search, describe (twice) and call gave"
      )
      const budget = seen("budget")
      yield* t.equal(at(budget, "calls_left"), 199, "calls left after one")
      const millis = Number(at(budget, "ms_left"))
      yield* t.expect(millis > 0 && millis <= 60_000, `milliseconds left: ${shown(budget)}`)
      const bytes = Number(at(budget, "bytes_left"))
      yield* t.expect(bytes > 0 && bytes <= 8 * 2 ** 20, `bytes left: ${shown(budget)}`)
      yield* t.equal([second?.success, second?.content], [true, null], "a script that returns nothing")
      const named = (yield* history(b)).flatMap((entry) => (entry.tool === undefined ? [] : [entry.tool.name]))
      yield* t.equal(named.sort(), ["client__a", "client__none", "code_mode", "code_mode"], "tools in the history")
    }
  ),

  c(
    "tooling.code-bounds",
    [
      codeMode("64 KiB of source, UTF-8 | tool_invalid_arguments; nothing runs"),
      codeMode(
        "200 tools.calls, refused ones included | the 201st gives success: false with tool_failed; the script goes on"
      ),
      codeMode("256 KiB returned, compact bytes; 64 containers deep | result_too_large")
    ],
    function* (t) {
      yield* t.write("x.txt", "x")
      const tooMuch = code('return "z".repeat(256 * 1024)')
      const calls = [sized(65_536), sized(65_537), tooMuch, reading(200), reading(201)]
      yield* t.scripted([{ calls }, { text: "{{results}}" }])
      const b = yield* t.ready()
      yield* b.turn("go")
      const [fits, tooLong, returned, all, oneMore] = yield* completed(b, { timeout: 15_000 })
      yield* t.equal(fits?.success, true, "success of a source of 65536 bytes")
      yield* failedWith(tooLong, "tool_invalid_arguments")
      yield* failedWith(returned, "result_too_large")
      yield* t.equal(all?.content, 200, "calls of a script that makes 200")
      yield* t.equal(oneMore?.content, { after: 200, code: "tool_failed" }, "the 201st call")
    },
    { limit: 30_000 }
  )
]
