import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import fc from "fast-check"
import { layer, makeHost, run, structured, text } from "./support.ts"

const tools = [
  { name: "client__lamp", description: "Red harbour lights.", inputSchema: { type: "object" } },
  {
    name: "read",
    description: "Reads a file.\nRed or not.",
    inputSchema: { type: "object", properties: { __proto__: {} } }
  }
]

const live = (name: string, test: Effect.Effect<void, never, never>) => it.live(name, () => test)
const provided = Effect.provide(layer())

describe("Code Mode: what a script sees (base-protocol 7)", () => {
  live(
    "list, search (all words, in name or description), describe and budget give values, also under await",
    Effect.gen(function* () {
      const value = yield* run(
        `const names = (xs) => xs.map((x) => x.name)
         return {
           list: tools.list(), awaited: names(await tools.list()),
           found: [names(tools.search("LIGHTS red")), names(await tools.search("red")), names(tools.search("lamp")), names(tools.search("red zebra")), names(tools.search(""))],
           lamp: await tools.describe("client__lamp"), none: tools.describe("client__none"), cut: tools.describe("client__lamp\\0x"),
           budget: [Object.keys(tools.budget()), (await tools.budget()).calls_left, tools.budget().bytes_left]
         }`,
        makeHost(tools).host
      )
      assert.deepStrictEqual(value, {
        list: tools.map(({ description, name }) => ({ name, description })),
        awaited: ["client__lamp", "read"],
        found: [["client__lamp"], ["client__lamp", "read"], ["client__lamp"], [], ["client__lamp", "read"]],
        lamp: { name: "client__lamp", description: "Red harbour lights.", input_schema: { type: "object" } },
        none: null,
        cut: null,
        budget: [["calls_left", "ms_left", "bytes_left"], 200, 8 * 1024 * 1024]
      })
    }).pipe(provided)
  )

  live(
    "content is the structured value, else {text}; a failure has error {code, message}; nothing returned is null",
    Effect.gen(function* () {
      const { calls, host, called } = makeHost()
      const script = yield* Effect.forkChild(
        run(
          `const rs = [await tools.call("client__wait"), await tools.call("client__wait", {n: 1}), await tools.call("client__fail", {}), await tools.call("client__none", {})]
           return [rs, tools.budget().calls_left]`,
          host
        )
      )
      const [first] = yield* called(1)
      if (first) yield* Deferred.succeed(first.answer, structured(null))
      const [, second] = yield* called(2)
      if (second) yield* Deferred.succeed(second.answer, text("only text"))
      const value = yield* Fiber.join(script)
      assert.deepStrictEqual(value, [
        [
          { success: true, content: null },
          { success: true, content: { text: "only text" } },
          { success: false, content: { text: "broken" }, error: { code: "client_tool_error", message: "broken" } },
          {
            success: false,
            content: { text: "no tool of this name" },
            error: { code: "tool_unknown", message: "no tool of this name" }
          }
        ],
        196
      ])
      assert.deepStrictEqual(
        calls.map((call) => call.args),
        [{}, { n: 1 }, {}, {}]
      )
      assert.strictEqual(yield* run(""), null)
      assert.strictEqual(yield* run("await tools.call('client__echo')"), null)
    }).pipe(provided)
  )

  live(
    "arguments that cannot be JSON reach the pipeline as null, which refuses them; a name is taken exactly",
    Effect.gen(function* () {
      const { calls, host } = makeHost()
      const value = yield* run(
        `const o = {}; o.o = o
         const bad = [o, { n: 10n }, { f() {} }, { n: NaN }, { a: [undefined] }, { p: tools.call("x") }, { s: "\\ud800" }, new Map(), { toJSON() { throw 1 } }]
         for (const args of bad) await tools.call("client__echo", args)
         for (const args of [[1], null, 5, "x", { u: undefined, d: new Date(0) }]) await tools.call("client__echo", args)
         await tools.call("client__echo\\0", {}); await tools.call("CLIENT__ECHO", {})
         return (await tools.call({ toString() { return "client__echo" } }, {})).error.code`,
        host
      )
      assert.strictEqual(value, "tool_unknown")
      assert.deepStrictEqual(
        calls.filter((call) => call.name === "client__echo").map((call) => call.args),
        [...Array(9).fill(null), [1], null, 5, "x", { d: "1970-01-01T00:00:00.000Z" }]
      )
      assert.deepStrictEqual(
        calls.map((call) => call.name).filter((name) => name !== "client__echo"),
        ["x", "client__echo\0", "CLIENT__ECHO"]
      )
    }).pipe(provided)
  )

  live(
    "a returned value is JSON or a clear error, never changed silently",
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [code: string, value: unknown]> = [
        ["return { u: undefined, d: new Date(0), n: null }", { d: "1970-01-01T00:00:00.000Z", n: null }],
        ["return { a: 1n }", 'the member "a" is a BigInt: JSON has none'],
        ["return [() => 1]", 'the member "0" is a function: JSON has none'],
        ["return Symbol()", "the value is a symbol: JSON has none"],
        ["return { n: 0 / 0 }", 'the member "n" is NaN or infinite: JSON has no such number'],
        ["return [undefined]", 'the member "0" is undefined inside an array: JSON has none'],
        ["return { r: tools.call('client__echo') }", 'the member "r" is a promise: await it first'],
        ["return new Map([[1, 2]])", "the value is a Map: JSON has none"],
        ["return [new Set()]", 'the member "0" is a Set: JSON has none'],
        ["return { e: new TypeError('x') }", 'the member "e" is an Error: give its message instead']
      ]
      for (const [code, value] of cases) {
        const expected =
          typeof value === "string" ? `tool_failed: the returned value is not JSON: TypeError: ${value}` : value
        assert.deepStrictEqual(yield* run(code), expected, code)
      }
      assert.strictEqual(
        yield* run("const o = {}; o.o = o; return o"),
        "tool_failed: the returned value is not JSON: TypeError: circular reference"
      )
      assert.strictEqual(yield* run("return '\\udc00'"), "tool_failed: the returned value is not JSON: lone surrogate")
      assert.match(
        String(yield* run("let a = []; for (let i = 0; i < 70; i++) a = [a]; return a")),
        /nested more than 64 deep/
      )
      const proto = yield* run(`return JSON.parse('{"__proto__":{"polluted":1},"ok":1}')`)
      assert.strictEqual(JSON.stringify(proto), '{"__proto__":{"polluted":1},"ok":1}')
      assert.strictEqual(Reflect.get({}, "polluted"), undefined)
    }).pipe(provided)
  )

  live(
    "an uncaught exception is told with its message and its line, bounded",
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [code: string, message: string]> = [
        ["\n\nthrow new Error('boom')", "the script failed at line 3: Error: boom"],
        [
          "const f = () => {\n  x.y = 1\n}\nawait null\nf()",
          "the script failed at line 2: ReferenceError: 'x' is not defined"
        ],
        ["throw { a: 1 }", 'the script failed: {"a":1}'],
        ["throw 'text'", "the script failed: text"],
        ["throw Symbol('s')", "the script failed: Symbol(s)"],
        ["throw undefined", "the script failed: undefined"],
        ["throw { get message() { throw 1 } }", "the script failed: a value that cannot be shown"],
        ["await Promise.reject(new RangeError('later'))", "the script failed at line 1: RangeError: later"]
      ]
      for (const [code, message] of cases) assert.strictEqual(yield* run(code), `tool_failed: ${message}`, code)
      assert.match(String(yield* run("return (((")), /^tool_failed: the script failed at line 1: SyntaxError: /)
      assert.isBelow(String(yield* run("throw new Error('x'.repeat(1e6))")).length, 1100)
    }).pipe(provided)
  )

  live(
    "every JSON value comes back from a call, and from the script, as it was",
    Effect.gen(function* () {
      const values = fc.sample(fc.jsonValue({ noUnicodeString: false, maxDepth: 4 }), 150)
      // -0 is 0 in JSON.
      const expected: unknown = JSON.parse(JSON.stringify(values))
      const value = yield* run(
        `const out = []
         for (const v of JSON.parse(${JSON.stringify(JSON.stringify(values))})) out.push((await tools.call("client__echo", { v })).content.v)
         return out`
      )
      assert.deepStrictEqual(value, expected)
    }).pipe(provided)
  )
})
