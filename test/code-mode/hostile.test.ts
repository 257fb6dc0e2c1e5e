import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Sandbox } from "../../src/agent/code-mode/Sandbox.ts"
import type { SandboxPool } from "../../src/agent/code-mode/SandboxPool.ts"
import { threadCpuMillis } from "../../src/platform/threadCpu.ts"
import { layer, makeHost, onlySpareLeft, run, threads } from "./support.ts"

const stackOverflow = /(InternalError|SyntaxError): stack overflow$/
const fullHeap = /^tool_failed: the script took more than its 32 MiB of heap/

/** Scripts that end by themselves or by the bound of what they take, and how. */
const ending: ReadonlyArray<readonly [what: string, code: string, value: RegExp]> = [
  ["recursion", "const f = () => f(); f()", stackOverflow],
  ["recursion through sort", "const f = () => [2, 1].sort(f); f()", stackOverflow],
  ["recursion through replace", "const f = () => 'a'.replace(/a/, f); f()", stackOverflow],
  ["recursion through toJSON", "const o = { toJSON() { return JSON.stringify(o) } }; return o", stackOverflow],
  ["recursion through a getter", "const o = { get a() { return this.a } }; return o.a", stackOverflow],
  ["recursion through a proxy", "const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x", stackOverflow],
  ["recursion through classes", "class A { constructor() { new A() } }; new A()", stackOverflow],
  ["recursion through generators", "function* g() { yield* g() }; return [...g()]", stackOverflow],
  ["recursion through async functions", "const f = async () => { await f() }; await f()", stackOverflow],
  [
    "a long chain of proxies",
    "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x",
    stackOverflow
  ],
  [
    "a long chain of bound functions",
    "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f()",
    fullHeap
  ],
  ["deep source: parentheses", "return eval('('.repeat(1e5) + ')'.repeat(1e5))", stackOverflow],
  ["deep source: arrows", "return eval('a=>'.repeat(3e4) + 1)", stackOverflow],
  ["deep source: blocks", "return eval('{'.repeat(1e5))", stackOverflow],
  ["deep source: calls", "return eval('f('.repeat(1e5))", stackOverflow],
  ["deep source: unary", "return eval('- '.repeat(1e5) + 1)", stackOverflow],
  ["deep source: templates", "return eval('`${'.repeat(3e4))", stackOverflow],
  ["deep JSON", "return JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", stackOverflow],
  ["deep regular expression", "return new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5)).test('')", stackOverflow],
  ["regular expression with large repeats", "return /(?:a{1000}){1000}/.test('a'.repeat(1e6))", /^true$/],
  ["flat without end", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity)", stackOverflow],
  ["string by doubling", "let s = 'x'; for (;;) s += s", /string too long/],
  [
    "string by doubling, as a name",
    "let s = 'x'; while (s.length < 2 ** 28) s += s; return (await tools.call(s, {})).error.code",
    fullHeap
  ],
  [
    "string by doubling, as a query",
    "let s = 'x'; while (s.length < 2 ** 28) s += s; return tools.search(s)",
    fullHeap
  ],
  [
    "string by doubling, as arguments",
    "let s = 'x'; while (s.length < 2 ** 28) s += s; return (await tools.call('client__echo', { s })).content",
    /^null$/
  ],
  [
    "string by doubling, thrown",
    "let s = 'x'; while (s.length < 2 ** 28) s += s; throw s",
    /a value that cannot be shown/
  ],
  ["string by doubling, as a message", "let s = 'x'; while (s.length < 2 ** 28) s += s; throw new Error(s)", fullHeap],
  ["string by doubling, returned", "let s = 'x'; while (s.length < 2 ** 28) s += s; return s", fullHeap],
  ["string by padding", "return 'x'.padEnd(2 ** 29, 'y')", fullHeap],
  ["string by replacement", "return 'x'.repeat(1e6).replace(/x/g, '$&'.repeat(1000))", fullHeap],
  ["string by joining", "return Array(1e6).join('x'.repeat(1000))", fullHeap],
  ["typed arrays", "const a = []; for (;;) a.push(new Uint8Array(1e7))", fullHeap],
  ["array with holes", "const a = []; a.length = 2 ** 32 - 1; return a", /undefined inside an array/],
  ["array, filled", "return new Array(2 ** 31).fill(0)", fullHeap],
  ["array of arguments", "return Math.max(...Array(1e7))", fullHeap],
  ["large numbers", "let n = 3n; for (;;) n *= n", /BigInt is too large/],
  ["large power", "return String(7n ** 1000000n).length", /BigInt is too large/],
  ["symbols", "const a = []; for (;;) a.push(Symbol('x'.repeat(1000)))", fullHeap],
  [
    "functions from text",
    "for (let i = 0; ; i++) globalThis['f' + i] = new Function('return ' + i + ' /*' + 'x'.repeat(1000) + '*/')",
    fullHeap
  ],
  ["rejections", "for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x'))", /^null$/],
  ["thenable returned", "return { then() {} }", /never happens/],
  [
    "calls while the value is read",
    "return { toJSON() { for (let i = 0; i < 300; i++) tools.call('client__echo', {}); return 1 } }",
    /^1$/
  ],
  [
    "built-ins replaced",
    "for (const k of Object.getOwnPropertyNames(globalThis)) { try { globalThis[k] = () => { throw 1 } } catch {} } return (await tools.call('client__echo', {})).success",
    /^true$/
  ],
  [
    "prototypes emptied",
    "const all = [Object, Function, Array, Promise, String, Error, RegExp]; for (let i = 0; i < all.length; i++) { const keys = Reflect.ownKeys(all[i].prototype); for (let j = 0; j < keys.length; j++) { try { delete all[i].prototype[keys[j]] } catch {} } } return (await tools.call('client__echo', {})).success",
    /^null$/
  ],
  [
    "prototypes that throw",
    "Object.defineProperty(Object.prototype, 'then', { get() { throw 1 } }); return (await tools.call('client__echo', {})).success",
    /^tool_failed: the script failed: 1$/
  ],
  [
    "setters on prototypes",
    "for (const k of ['success', 'content', '0', 'name']) Object.defineProperty(Object.prototype, k, { set() { throw 1 }, configurable: true }); return tools.list()",
    /cannot be shown/
  ],
  [
    "toJSON on prototypes",
    "String.prototype.toJSON = () => ({ a: 1 }); Object.prototype.toJSON = () => 5; return (await tools.call('client__echo', { a: 1 })).success",
    /^true$/
  ],
  [
    "instanceof replaced",
    "for (const C of [Promise, Map, Set, Error]) Object.defineProperty(C, Symbol.hasInstance, { value() { throw 1 } }); return {}",
    /not JSON: 1$/
  ],
  ["source text replaced", "Function.prototype.toString = () => 'x'; return 1", /^1$/],
  ["the function closed", "}), (() => { globalThis.x = 1 })(), (async () => {", /closes the function/],
  ["the function closed by a member", "} [globalThis.x = 1] = async () => {", /closes the function/],
  ["the function left in a comment", "return 1 /*", /line 1: SyntaxError/],
  ["the function left in a template", "return `", /line 1: SyntaxError/],
  ["zero bytes", "return '\0'.length + eval('1\\0')", /SyntaxError/],
  [
    "modules",
    "return [await import('node:fs').catch(() => 0), await import('data:text/javascript,1').catch(() => 0), typeof importScripts]",
    /^0,0,undefined$/
  ],
  ["module syntax", "import fs from 'node:fs'; return 1", /line 1: SyntaxError/],
  ["shared memory", "return [typeof SharedArrayBuffer, typeof Atomics]", /^[a-z]+,undefined$/],
  ["finalizers", "const r = new FinalizationRegistry(() => {}); for (;;) r.register({}, 1)", fullHeap],
  [
    "dates and locales",
    "return [new Date(8.64e15).toLocaleString('x'.repeat(100)), 'İ'.normalize('NFKD').length]",
    /^09.*,2$/
  ],
  [
    "sorting a lot",
    "return Array.from({ length: 3e5 }, (_, i) => (i * 7919) % 1000003).sort((a, b) => a - b).length",
    /^300000$/
  ]
]

/** Scripts that only the time ends, or their heap where that is sooner. */
const endless: ReadonlyArray<readonly [what: string, code: string]> = [
  ["recursion that catches", "const f = () => { try { return f() } catch { return f() } }; return f()"],
  ["deep value", "let a = []; for (let i = 0; i < 2e4; i++) a = [a]; return a"],
  [
    "deep value, as arguments",
    "let a = []; for (let i = 0; i < 2e4; i++) a = { a }; return (await tools.call('client__echo', a)).success"
  ],
  ["regular expression without end", "return /^(?:(?:a+)+)+$/.test('a'.repeat(60) + '!')"],
  ["promises", "const a = []; for (;;) a.push(new Promise(() => {}))"],
  ["promises, settled", "const f = () => Promise.resolve().then(f); f(); f(); await new Promise(() => {})"],
  [
    "promises that double",
    "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})"
  ],
  ["microtasks without end", "for (;;) await null"],
  ["thenable without end", "const t = { then(f) { f(t) } }; await t"],
  ["async generator without end", "async function* g() { for (;;) yield 1 }; for await (const x of g());"],
  ["calls without waiting", "for (;;) tools.call('client__echo', {})"],
  [
    "calls without waiting, that wait",
    "for (let i = 0; i < 1e4; i++) tools.call('client__wait', {}); await new Promise(() => {})"
  ],
  [
    "calls that call",
    "const f = async () => { await tools.call('client__echo', {}); f(); f() }; await f(); await f(); for (;;) await tools.call('client__echo', {})"
  ],
  ["large arguments", "for (;;) await tools.call('client__echo', { s: 'x'.repeat(1e6) })"],
  ["endless while the value is read", "return { toJSON() { for (;;); } }"],
  ["endless while the exception is read", "throw { get message() { for (;;); } }"],
  ["endless in a getter of arguments", "await tools.call('client__echo', { get a() { for (;;); } })"],
  [
    "endless in a species",
    "class P extends Promise { static get [Symbol.species]() { for (;;); } }; return new P((f) => f(1)).then()"
  ],
  ["endless in finally", "for (;;) { try { for (;;); } finally { continue } }"],
  ["lists without end", "for (;;) tools.list()"],
  ["budget without end", "for (;;) tools.budget()"],
  ["descriptions without end", "const a = []; for (;;) a.push(tools.describe('client__echo'))"]
]

/** Runs a script and watches what it does to this process. */
const watched = (what: string, code: string) =>
  Effect.gen(function* () {
    let ticks = 0
    let longest = 0
    // Processor time of this thread: a machine that has others to serve holds the loop up too, but spends none of it here.
    let last = threadCpuMillis()
    const timer = setInterval(() => {
      const now = threadCpuMillis()
      longest = Math.max(longest, now - last)
      last = now
      ticks += 1
    }, 10)
    const { calls, host } = makeHost()
    const began = performance.now()
    const value = yield* run(code, host)
    const took = performance.now() - began
    clearInterval(timer)

    const shown = `${what}: ${JSON.stringify(value)?.slice(0, 200)} after ${Math.round(took)} ms`
    // A script that held this loop up would do so for as long as it runs.
    assert.isBelow(longest, 250, shown)
    if (took > 500) assert.isAbove(ticks, 5, shown)
    assert.isAtMost(JSON.stringify(value).length, 3000, shown)
    assert.isAtMost(calls.length, 200, shown)
    assert.isTrue(
      calls.every((call) => call.name !== "client__wait" || call.cancelled),
      shown
    )
    yield* onlySpareLeft
    return { value: String(value), took, shown }
  })

const bytes = Effect.sync(() => process.memoryUsage().rss)

/** Whatever ran, the process is as it was. */
const leavesNothing = (scripts: Effect.Effect<void, never, Sandbox | SandboxPool>) =>
  Effect.gen(function* () {
    yield* run("return 1")
    yield* onlySpareLeft
    const before = threads()
    const memory = yield* bytes
    yield* scripts
    assert.strictEqual(yield* run("return 1"), 1)
    yield* onlySpareLeft
    while (threads() > before) yield* Effect.sleep("5 millis")
    assert.isBelow((yield* bytes) - memory, 250 * 1024 * 1024)
  })

describe("Code Mode: hostile scripts", () => {
  it.live(
    `${ending.length} scripts that overflow, fill, replace or break out end as they should`,
    () =>
      leavesNothing(
        Effect.gen(function* () {
          for (const [what, code, value] of ending) {
            const end = yield* watched(what, code)
            assert.match(end.value, value, end.shown)
          }
        })
      ).pipe(Effect.provide(layer({ time_ms: 20_000 }))),
    120_000
  )

  it.live(
    `${endless.length} scripts without an end are ended by their bounds`,
    () =>
      leavesNothing(
        Effect.gen(function* () {
          for (const [what, code] of endless) {
            const end = yield* watched(what, code)
            assert.match(end.value, /^tool_timeout: |32 MiB of heap/, end.shown)
            assert.isBelow(end.took, 1600, end.shown)
          }
        })
      ).pipe(Effect.provide(layer({ time_ms: 500 }))),
    120_000
  )
})
