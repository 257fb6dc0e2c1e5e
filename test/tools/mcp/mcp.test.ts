/** product section 2 (MCP), base-protocol sections 3 (Closing), 6 and 7: servers that behave, and servers that do not. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { Children } from "../../../src/platform/Children.ts"
import { statNow } from "../../../src/platform/ProcFs.ts"
import type { Json, JsonObject } from "../../../src/protocol/Json.ts"
import type { McpServerSettings } from "../../../src/settings/Settings.ts"
import { type McpOptions, type McpServers, startMcp } from "../../../src/tools/mcp/startMcp.ts"
import { callTool } from "../builtin/Bench.ts"

const alive = (pid: number) => {
  const stat = statNow(pid)
  return stat !== undefined && stat.state !== "Z" && stat.state !== "X"
}

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "mc-mcp-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const nasty = (plan: JsonObject, more: Partial<McpServerSettings> = {}): McpServerSettings => ({
  name: "kit",
  command: process.execPath,
  args: [join(import.meta.dirname, "nastyServer.mjs"), JSON.stringify(plan)],
  env: {},
  cwd: import.meta.dirname,
  required: true,
  ...more
})

const packaged = (name: string, ...args: ReadonlyArray<string>): McpServerSettings => ({
  ...nasty({}),
  args: [join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol", name, "dist/index.js"), ...args]
})

/** Starts servers in a home of their own. */
const start = (mcp: ReadonlyArray<McpServerSettings>, options: McpOptions = {}) =>
  Effect.gen(function* () {
    const home = yield* folder
    const services = yield* Effect.provide(
      Effect.context<Children | Scope.Scope>(),
      Children.layer({ mark: `mcp-${home.replaceAll("/", ".")}`, home, secretEnv: new Set() })
    )
    return yield* Effect.provide(startMcp({ mcp }, options), services)
  })

const call = ({ tools }: McpServers, name: string, args: JsonObject = {}) => {
  const tool = tools.find((one) => one.name === name)
  return tool === undefined ? Effect.die(new Error(`no tool ${name}`)) : callTool(tool, args)
}

describe("the official servers", () => {
  it.live("server-everything: its tools, results, errors, blocks that are not text", () =>
    Effect.gen(function* () {
      const servers = yield* start([packaged("server-everything", "stdio")])
      assert.deepStrictEqual(servers.notices, [])
      const echo = servers.tools.find(({ name }) => name === "mcp__kit__echo")
      assert.deepStrictEqual([echo?.origin, echo?.compact, echo?.fingerprint], ["mcp", false, null])
      assert.strictEqual(echo?.inputSchema["type"], "object")
      assert.deepStrictEqual((yield* call(servers, "mcp__kit__echo", { message: "hi \u00e9" })).output, {
        text: "Echo: hi \u00e9"
      })
      const wrong = yield* call(servers, "mcp__kit__echo", { message: 5 })
      assert.strictEqual(wrong.failure?.code, "tool_failed")
      const image = yield* call(servers, "mcp__kit__get-tiny-image")
      assert.match(image.output?.text ?? "", /\[image block not shown: image\/png\]/)
      const structured = yield* call(servers, "mcp__kit__get-structured-content", { location: "Chicago" })
      assert.deepStrictEqual(Object.keys(Object(structured.output?.structured)).sort(), [
        "conditions",
        "humidity",
        "temperature"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("server-filesystem: reads a file of its folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      writeFileSync(join(path, "a.txt"), "from the file")
      const servers = yield* start([packaged("server-filesystem", path)])
      const { output } = yield* call(servers, "mcp__kit__read_text_file", { path: join(path, "a.txt") })
      assert.strictEqual(output?.text, "from the file")
      const { failure } = yield* call(servers, "mcp__kit__read_text_file", { path: "/etc/passwd" })
      assert.strictEqual(failure?.code, "tool_failed")
      assert.include(failure?.output?.text ?? "", "denied")
    }).pipe(Effect.scoped)
  )
})

describe("starting", () => {
  const schema = { type: "object" }

  it.live("a server of an older revision is used like others; an unknown revision is not", () =>
    Effect.gen(function* () {
      for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
        const servers = yield* start([nasty({ version })])
        assert.strictEqual((yield* call(servers, "mcp__kit__tool", { a: 1 })).output?.text, 'called {"a":1}')
      }
      const failed = yield* Effect.flip(start([nasty({ version: "1999-01-01" })]))
      assert.deepStrictEqual(
        [failed.path, failed.message],
        [
          "/mcp/servers/kit",
          'MCP server "kit" could not be started: it speaks a revision of MCP that is not known here'
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live(
    "takes every page of the list, once, and leaves out what models or this program do not take, with a notice",
    () =>
      Effect.gen(function* () {
        const fits = "n".repeat(64 - "mcp__kit__".length)
        const log = join(yield* folder, "log")
        const servers = yield* start([
          nasty({
            log,
            pages: [
              [
                { name: "one", description: "First.", inputSchema: schema },
                { name: fits, inputSchema: schema, outputSchema: { type: "array" }, annotations: 5, icons: "none" },
                { name: `${fits}n`, inputSchema: schema }
              ],
              [
                { name: "one", inputSchema: schema },
                { name: "bad.name", inputSchema: schema },
                { name: "no-type", inputSchema: { properties: {} } },
                { name: "no-schema" },
                { name: 5, inputSchema: schema },
                "not a tool",
                { name: "big", inputSchema: { type: "object", description: "x".repeat(40_000) } },
                { name: "client__x", inputSchema: schema }
              ]
            ]
          })
        ])
        assert.deepStrictEqual(
          servers.tools.map(({ name }) => name),
          ["mcp__kit__one", `mcp__kit__${fits}`, "mcp__kit__no-type", "mcp__kit__client__x"]
        )
        assert.deepStrictEqual(servers.tools[2]?.inputSchema, { properties: {}, type: "object" })
        assert.deepStrictEqual(
          servers.notices.map((notice) => notice.replace(/^MCP server "kit": /, "")),
          [
            `a tool is left out, a name that models do not take (64 letters, digits, _ and - at most): "${fits}n"`,
            'a tool is left out, a name that it lists twice: "one"',
            'a tool is left out, a name that models do not take (64 letters, digits, _ and - at most): "bad.name"',
            'a tool is left out, a schema of more than 32768 bytes or 64 levels: "big"',
            "3 entries of its list are no tools and are left out"
          ]
        )
        yield* call(servers, "mcp__kit__one")
        assert.strictEqual(readFileSync(log, "utf8").match(/"tools\/list"/g)?.length, 2)
      }).pipe(Effect.scoped)
  )

  it.live(
    "that fails is one clear line, or a notice where the server is not required",
    () =>
      Effect.gen(function* () {
        const cases: ReadonlyArray<readonly [McpServerSettings, string]> = [
          [nasty({ die: 7 }), "it ended with exit code 7"],
          [nasty({ silent: true }), "it did not answer within 0.8 s"],
          [nasty({ loop: true }), "it sends more than a server may"],
          [nasty({ pages: [5] }), "its answer is not understood"],
          [nasty({}, { command: "no-such-command" }), "its command or folder does not exist (no-such-command)"],
          [nasty({}, { command: "sh", args: ["-c", "echo no protocol; sleep 60"] }), "it did not answer within 0.8 s"],
          [nasty({}, { command: "sh", args: ["-c", "exec yes"] }), "it sends more than a server may"]
        ]
        for (const [server, why] of cases) {
          const started = performance.now()
          const failed = yield* Effect.flip(start([server], { startMs: 800 }))
          assert.strictEqual(failed.message, `MCP server "kit" could not be started: ${why}`)
          assert.isBelow(performance.now() - started, 2500)
          const { notices, tools } = yield* start([{ ...server, required: false }, nasty({}, { name: "good" })], {
            startMs: 800
          })
          assert.deepStrictEqual([notices, tools.map(({ name }) => name)], [[failed.message], ["mcp__good__tool"]])
        }
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("of all servers is bounded, and a failed one leaves no process of any behind", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const servers = ["a", "b", "c", "d", "e", "f"].map((name) =>
        nasty({ silent: true, deaf: true, pid: join(path, name) }, { name, required: false })
      )
      const started = performance.now()
      const { notices } = yield* start(servers, { startMs: 700, allStartMs: 1000 })
      assert.isBelow(performance.now() - started, 3500)
      assert.strictEqual(notices.length, 6)
      const pids = ["a", "b", "c", "d", "e", "f"]
        .filter((name) => existsSync(join(path, name)))
        .map((name) => Number(readFileSync(join(path, name), "utf8")))
      assert.isAtLeast(pids.length, 4)
      assert.deepStrictEqual(pids.filter(alive), [])
    }).pipe(Effect.scoped)
  )
})

describe("a call", () => {
  const outcome = (plan: JsonObject, options: McpOptions = {}, args: JsonObject = {}) =>
    Effect.gen(function* () {
      const told: Array<string> = []
      // Too long for an argument.
      const file = join(yield* folder, "plan")
      writeFileSync(file, JSON.stringify(plan))
      const servers = yield* start([nasty({ file })], {
        callMs: 600,
        notice: (text) => Effect.sync(() => told.push(text)),
        ...options
      })
      const first = yield* call(servers, "mcp__kit__tool", args)
      return { ...first, told, servers }
    })

  it.live(
    "of a server that dies, hangs, floods or talks nonsense is a failed call and a notice, in bounded time",
    () =>
      Effect.gen(function* () {
        for (const [action, why, gone] of [
          ["exit", "it ended with exit code 9", true],
          ["partial", "it ended with exit code 0", true],
          ["close", "it closed its output", true],
          ["hang", "it did not answer within 0.6 s", false],
          ["line", "it sends more than a server may", true],
          ["flood", "it sends more than a server may", true],
          ["nonsense", "its answer is not understood", false]
        ] as const) {
          const started = performance.now()
          const { failure, servers, told } = yield* outcome(
            { call: action },
            { callMs: action === "hang" ? 600 : 5000 }
          )
          assert.deepStrictEqual(
            [failure?.code, failure?.message],
            ["mcp_unavailable", `the MCP server "kit" cannot be used: ${why}`],
            action
          )
          assert.isBelow(performance.now() - started, 4000, action)
          // The call fails first; the notice follows.
          while (action !== "nonsense" && told.length === 0) yield* Effect.sleep(5)
          const next = yield* call(servers, "mcp__kit__tool")
          assert.strictEqual(next.failure?.code, "mcp_unavailable", action)
          if (gone) assert.strictEqual(told.length, 1, `${action}: said once`)
        }
      }).pipe(Effect.scoped),
    40_000
  )

  it.live("is not disturbed by stray lines, other answers, repeated answers, requests of the server", () =>
    Effect.gen(function* () {
      const before =
        'stray line\n\n[1,2]\n{"jsonrpc":"1.0"}\n{"a":1}\nnull\n\xff\xfe not UTF-8\n{"jsonrpc":"2.0","method":"x"}\r\n'
      for (const plan of [{ before }, { call: "others" }, { call: "twice" }]) {
        const { output, servers } = yield* outcome(plan, {}, { a: [1, "\u2028"] })
        assert.strictEqual(output?.text, 'called {"a":[1,"\u2028"]}')
        assert.strictEqual((yield* call(servers, "mcp__kit__tool")).output?.text, "called {}")
      }
      const log = join(yield* folder, "log")
      const pings = yield* outcome({ call: "pings", log })
      assert.strictEqual(pings.output?.text, "called {}")
      const lines = readFileSync(log, "utf8")
      for (const ping of [0, 1, 2]) assert.include(lines, `{"jsonrpc":"2.0","id":"ping-${ping}","result":{}}`)
      assert.match(lines, /"id":"roots","error":\{"code":-32601/)
    }).pipe(Effect.scoped)
  )

  it.live("that the server refuses is a failed tool with its reason", () =>
    Effect.gen(function* () {
      const { failure, servers } = yield* outcome({ call: "refuse" })
      assert.deepStrictEqual([failure?.code, failure?.output], ["tool_failed", { text: "no such tool here" }])
      assert.strictEqual((yield* call(servers, "mcp__kit__tool")).failure?.code, "tool_failed")
    }).pipe(Effect.scoped)
  )

  it.live("tells once that the server changed its tools; the list stays", () =>
    Effect.gen(function* () {
      const { output, servers, told } = yield* outcome({ call: "change" })
      assert.strictEqual(output?.text, "called {}")
      assert.deepStrictEqual(told, [
        'MCP server "kit" changed its tools; the list of the start stays until the agent is started again'
      ])
      assert.strictEqual(servers.tools.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "gives text blocks joined by LF, names other blocks, and any structured value as it is",
    () =>
      Effect.gen(function* () {
        const content = [
          { type: "text", text: "one" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "text", text: "two" },
          { type: "resource_link", uri: "file:///x", name: "x" },
          { type: "resource", resource: { uri: "file:///y", text: "SENTINEL" } },
          { type: "from the future" },
          5
        ]
        const { output } = yield* outcome({ result: { content } })
        assert.deepStrictEqual(output, {
          text: [
            "one",
            "[image block not shown: image/png]",
            "two",
            "[resource_link block not shown: file:///x]",
            "[resource block not shown: file:///y]",
            "[from the future block not shown]",
            "[block not shown]"
          ].join("\n")
        })
        const values: ReadonlyArray<Json> = [
          null,
          0,
          "text",
          [1, [2]],
          JSON.parse('{"__proto__":{"a":1},"constructor":2}')
        ]
        for (const structuredContent of values) {
          const result = yield* outcome({ result: { content: [], structuredContent } })
          assert.strictEqual(JSON.stringify(result.output), JSON.stringify({ text: "", structured: structuredContent }))
        }
        const withoutContent = yield* outcome({ result: { structuredContent: { a: 1 } } })
        assert.deepStrictEqual(withoutContent.output, { text: "", structured: { a: 1 } })
        const error = yield* outcome({
          result: { content: [{ type: "text", text: "it broke" }], structuredContent: { a: 1 }, isError: true }
        })
        assert.deepStrictEqual(
          [error.failure?.code, error.failure?.output],
          ["tool_failed", { text: "it broke", structured: { a: 1 } }]
        )
        const nothing = yield* outcome({ result: { nothing: true } })
        assert.strictEqual(nothing.failure?.code, "mcp_unavailable")
      }).pipe(Effect.scoped),
    30_000
  )

  it.live("gives at most 32 KiB of a result to the model, with a note of what is left out", () =>
    Effect.gen(function* () {
      const size = (output: { readonly text: string; readonly structured?: Json } | undefined) =>
        Buffer.byteLength(output?.text ?? "") +
        (output?.structured === undefined ? 0 : Buffer.byteLength(JSON.stringify(output.structured)))
      const text = (length: number) => [{ type: "text", text: "é".repeat(length / 2) }]
      const fits = yield* outcome({ result: { content: text(32_768) } })
      assert.strictEqual(fits.output?.text, "é".repeat(16_384))
      const long = yield* outcome({ result: { content: text(200_000) } })
      assert.isAtMost(size(long.output), 32_768)
      assert.match(long.output?.text ?? "", /^é+\n\[only the beginning of 200000 bytes is shown\]$/)
      const both = yield* outcome({ result: { content: text(60_000), structuredContent: { a: "x".repeat(5000) } } })
      assert.isAtMost(size(both.output), 32_768)
      assert.strictEqual(Object(both.output?.structured).a.length, 5000)
      const value = yield* outcome({ result: { content: [], structuredContent: { a: "x".repeat(90_000) } } })
      assert.isAtMost(size(value.output), 32_768)
      assert.match(
        value.output?.text ?? "",
        /^\{"a":"x+\n\[only the beginning of 90008 bytes is shown; a structured value of 90008 bytes is left out\]$/
      )
    }).pipe(Effect.scoped)
  )

  it.live("that is cancelled tells the server so, and the next one works", () =>
    Effect.gen(function* () {
      const log = join(yield* folder, "log")
      const servers = yield* start([nasty({ call: "hang", log })])
      const fiber = yield* Effect.forkChild(call(servers, "mcp__kit__tool"))
      while (!readFileSync(log, "utf8").includes("tools/call")) yield* Effect.sleep(10)
      const started = performance.now()
      yield* Fiber.interrupt(fiber)
      assert.isBelow(performance.now() - started, 200)
      while (!readFileSync(log, "utf8").includes("notifications/cancelled")) yield* Effect.sleep(10)
    }).pipe(Effect.scoped)
  )

  it.live("many at once are answered each with its own", () =>
    Effect.gen(function* () {
      const servers = yield* start([nasty({})])
      const texts = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => index),
        (index) => Effect.map(call(servers, "mcp__kit__tool", { index }), ({ output }) => output?.text),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        texts,
        texts.map((_, index) => `called {"index":${index}}`)
      )
    }).pipe(Effect.scoped)
  )
})

describe("closing", () => {
  it.live("ends servers that ignore it, and all they started, together and in time", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const names = ["a", "b", "c"]
      const scope = yield* Scope.make()
      yield* start(
        names.map((name) =>
          nasty({ deaf: true, pid: join(path, name), children: join(path, `${name}.children`) }, { name })
        )
      ).pipe(Scope.provide(scope))
      const pids = names.flatMap((name) =>
        `${readFileSync(join(path, name), "utf8")} ${readFileSync(join(path, `${name}.children`), "utf8")}`
          .split(" ")
          .map(Number)
      )
      assert.deepStrictEqual([pids.length, pids.filter(alive).length], [9, 9])
      const started = performance.now()
      yield* Scope.close(scope, Exit.void)
      assert.isBelow(performance.now() - started, 1200)
      assert.deepStrictEqual(pids.filter(alive), [])
    }).pipe(Effect.scoped)
  )

  it.live("lets a server that goes by itself go, with no notice of its end", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const started = performance.now()
      yield* Effect.scoped(start([nasty({})], { notice: (text) => Effect.sync(() => told.push(text)) }))
      assert.isBelow(performance.now() - started, 2000)
      assert.deepStrictEqual(told, [])
    })
  )

  it.live("while it starts ends it as well", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "pid")
      const fiber = yield* Effect.forkChild(
        Effect.scoped(Effect.result(start([nasty({ silent: true, deaf: true, pid: path })])))
      )
      while (!existsSync(path) || readFileSync(path, "utf8") === "") yield* Effect.sleep(10)
      const started = performance.now()
      yield* Fiber.interrupt(fiber)
      assert.isBelow(performance.now() - started, 1200)
      assert.isFalse(alive(Number(readFileSync(path, "utf8"))))
    }).pipe(Effect.scoped)
  )
})
