/** docs/library.md, Recycling, with the built agent: processes, a stored session and its lock. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { Agent } from "../../src/client/Agent.ts"
import { make as makeTools } from "../../src/client/PlainTools.ts"
import { descendants } from "../process/support/processes.ts"

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url))

const script = (...steps: ReadonlyArray<object>) => `script:${JSON.stringify(steps)}`
const calling = (word: string) =>
  script({ calls: [{ name: "client__note", arguments: { word } }] }, { text: `noted ${word}` })

/** The built agent with one tool, which keeps the words that it was called with. */
const opened = Effect.gen(function* () {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "magi-recycle-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  )
  for (const folder of ["home", "work"]) mkdirSync(join(root, folder), { mode: 0o700 })
  const settings = (text: string) => writeFileSync(join(root, "home", "settings.json"), text)
  const models = [{ id: "first" }, { id: "second" }]
  const local = { kind: "openai", base_url: "http://127.0.0.1:9", models: models.map(({ id }) => id) }
  const good = JSON.stringify({ providers: { local } })
  settings(good)
  const words: Array<string> = []
  const tools = yield* makeTools([
    {
      name: "note",
      description: "Keeps a word.",
      input_schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
      execute: ({ word }: { readonly word: string }) => {
        words.push(word)
        return "kept"
      }
    }
  ])
  const ended: Array<number | null> = []
  const agent = yield* Agent.make({
    words: [process.execPath, cli, "serve", "--stdio"],
    cwd: join(root, "work"),
    env: { MC_HOME: join(root, "home") },
    tools,
    onEnd: ({ exitCode }) => ended.push(exitCode)
  })
  const texts = Stream.runCollect(agent.history({ limit: 2 })).pipe(
    Effect.map((items) => items.map((item) => (item.kind === "tool" ? item.name : item.text)))
  )
  return { agent, ended, good, settings, texts, words }
})

const of = (word: string) => [calling(word), "client__note", `noted ${word}`]
const children = Effect.sync(() => descendants(process.pid))

describe("recycle with the built agent", { timeout: 60_000 }, () => {
  it.live("in mid-life: the history goes on, calls are made once, one child is left, and none at the end", () =>
    Effect.gen(function* () {
      const outside = yield* children
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { agent, ended, texts, words } = yield* opened
          const created = yield* agent.createSession
          const [first] = (yield* children).filter((pid) => !outside.includes(pid))
          const instance = agent.info.instance_id
          yield* agent.run(calling("one"))
          const before = yield* texts
          assert.deepStrictEqual(before, of("one"))
          const { session } = yield* agent.recycle
          assert.strictEqual(session?.session_id, created.session_id)
          assert.notStrictEqual(agent.info.instance_id, instance)
          assert.deepStrictEqual(ended, [0])
          const left = (yield* children).filter((pid) => !outside.includes(pid))
          assert.lengthOf(left, 1)
          assert.notInclude(left, first)
          assert.deepStrictEqual(yield* texts, before)
          // Two requests at the same time as a recycle, and a turn after it.
          const [meanwhile] = yield* Effect.all([agent.models, agent.recycle, agent.status], { concurrency: 3 })
          assert.isNotEmpty(meanwhile.entries)
          assert.strictEqual((yield* agent.run(calling("two"))).text, "noted two")
          assert.deepStrictEqual(yield* texts, [...of("one"), ...of("two")])
          assert.deepStrictEqual(words, ["one", "two"])
        })
      )
      assert.deepStrictEqual(
        (yield* children).filter((pid) => !outside.includes(pid)),
        []
      )
    })
  )

  it.live("whose new child cannot initialize leaves the one before, with its session and its lock", () =>
    Effect.gen(function* () {
      const { agent, good, settings, texts } = yield* opened
      yield* agent.createSession
      yield* agent.run(calling("one"))
      const instance = agent.info.instance_id
      settings('{ "no_such_key": 1 }')
      const exit = yield* Effect.exit(agent.recycle)
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      assert.deepInclude(error, { reason: "not_opened", inUse: true })
      assert.deepInclude(error?.cause, { _tag: "InitializeFailed", code: "configuration_invalid" })
      assert.strictEqual(agent.info.instance_id, instance)
      assert.strictEqual((yield* agent.run(calling("two"))).status, "completed")
      settings(good)
      yield* agent.recycle
      assert.deepStrictEqual(yield* texts, [...of("one"), ...of("two")])
    }).pipe(Effect.scoped)
  )

  it.live("after the agent was killed in a run: what was saved goes on, the call is not repeated", () =>
    Effect.gen(function* () {
      const outside = yield* children
      const { agent, texts, words } = yield* opened
      yield* agent.createSession
      yield* agent.run(calling("one"))
      const run = yield* Effect.forkChild(
        Effect.exit(
          agent.run(script({ calls: [{ name: "client__note", arguments: { word: "two" } }] }, { delay_ms: 30_000 }))
        )
      )
      while (words.length < 2) yield* Effect.sleep(5)
      for (const pid of yield* children) if (!outside.includes(pid)) process.kill(pid, "SIGKILL")
      const exit = yield* Fiber.join(run)
      assert.strictEqual(
        Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit))?._tag : undefined,
        "TransportLost"
      )
      const { session } = yield* agent.recycle
      assert.isTrue(session?.durable)
      assert.strictEqual((yield* agent.run(calling("three"))).status, "completed")
      assert.deepStrictEqual(words, ["one", "two", "three"])
      const after = yield* texts
      assert.deepStrictEqual(after.slice(0, 3), of("one"))
      assert.deepStrictEqual(after.slice(-3), of("three"))
    }).pipe(Effect.scoped)
  )

  it.live("a session that is opened again brings its model: another can be chosen after it", () =>
    Effect.gen(function* () {
      const { agent } = yield* opened
      yield* agent.createSession
      yield* agent.selectModel({ provider: "local", model: "first" })
      yield* agent.recycle
      assert.deepInclude(yield* agent.selection, { provider: "local", model: "first" })
      assert.deepInclude(yield* agent.selectModel({ provider: "local", model: "second" }), { model: "second" })
    }).pipe(Effect.scoped)
  )
})
