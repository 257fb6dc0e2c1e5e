/** product section 2, Settings: defaults, the workspace file over the home file, paths, keys. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { loadSettings, trustStatus } from "../../src/settings/loadSettings.ts"
import { recordTrust } from "../../src/settings/Trust.ts"
import { inPlace, type Place } from "./support.ts"

/** Trusts the workspace's file as it is now. */
const trust = (place: Place) =>
  Effect.gen(function* () {
    const { sha256 = "", workspace } = yield* trustStatus(place.options)
    yield* recordTrust({ home: place.home, workspace, sha256 })
  })

describe("without files", () => {
  it.live("everything has its default, and the embedded offline model is there", () =>
    inPlace((place) =>
      Effect.gen(function* () {
        const settings = yield* place.load
        assert.deepStrictEqual(settings.model, { provider: "offline", model: "offline" })
        assert.deepStrictEqual([...settings.providers.keys()], ["offline"])
        assert.deepStrictEqual(settings.providers.get("offline")?.models, [
          { id: "offline", context_tokens: Number.MAX_SAFE_INTEGER, max_output_tokens: 8192 }
        ])
        assert.deepStrictEqual(settings.approvals, { bash: "ask", write: "allow" })
        assert.deepStrictEqual(settings.limits, { turn_steps: 50 })
        assert.deepStrictEqual(settings.capabilities, {
          disabled: [],
          code_mode: { enabled: true, compact_direct_tools: false, disabled: [] }
        })
        assert.deepStrictEqual(
          [settings.mcp, settings.hooks, settings.guardedPaths],
          [[], { before_tool: [], after_tool: [] }, []]
        )
        assert.strictEqual(settings.workspace, place.workspace)
      })
    )
  )
})

describe("the workspace file over the home file", () => {
  it.live("deep merge; arrays replace, but disabled lists unite and home hooks always stay, first", () =>
    inPlace((place) =>
      Effect.gen(function* () {
        place.atHome({
          schema_version: 2,
          model: { provider: "p", model: "a" },
          providers: { p: { kind: "openai", base_url: "http://127.0.0.1:1/v1", models: ["a", "b"] } },
          capabilities: {
            tools: { disabled: ["one", "two"], code_mode: { disabled: ["x"], compact_direct_tools: true } }
          },
          hooks: { before_tool: [{ command: ["h1"], timeout_ms: 9 }], after_tool: [{ command: ["h2"] }] },
          mcp: { servers: { s: { command: "c", args: ["1", "2"], env: { A: "1", B: "2" } } } },
          agents: { r: { instructions: "home", tools: ["read"] } }
        })
        place.atWorkspace({
          model: { model: "c" },
          providers: {
            p: { models: [{ id: "c", context_tokens: 5, temperature: 0.5 }] },
            q: { kind: "anthropic", models: ["z"] }
          },
          capabilities: {
            tools: { disabled: ["two", "three"], code_mode: { disabled: [], compact_direct_tools: false } }
          },
          hooks: { before_tool: [{ command: ["w1"], tools: ["read"], on_failure: "block" }] },
          mcp: { servers: { s: { args: ["3"], env: { B: "3" }, required: false }, t: { command: "d" } } },
          agents: { r: { instructions: "workspace" } }
        })
        yield* trust(place)
        const settings = yield* place.load
        assert.deepStrictEqual(settings.model, { provider: "p", model: "c" })
        assert.deepStrictEqual([...settings.providers.keys()], ["p", "q", "offline"])
        const p = settings.providers.get("p")
        assert.strictEqual(p?.base_url, "http://127.0.0.1:1/v1")
        assert.deepStrictEqual(p?.models, [{ id: "c", context_tokens: 5, max_output_tokens: 8192, temperature: 0.5 }])
        assert.deepStrictEqual(settings.capabilities, {
          disabled: ["one", "two", "three"],
          code_mode: { enabled: true, compact_direct_tools: false, disabled: ["x"] }
        })
        assert.deepStrictEqual(
          settings.hooks.before_tool.map(({ command, on_failure, timeout_ms, tools }) => [
            command,
            tools,
            timeout_ms,
            on_failure
          ]),
          [
            [["h1"], [], 9, "warn"],
            [["w1"], ["read"], 5000, "block"]
          ]
        )
        assert.deepStrictEqual(
          settings.hooks.after_tool.map(({ command }) => command),
          [["h2"]]
        )
        assert.deepStrictEqual(settings.mcp, [
          { name: "s", command: "c", args: ["3"], env: { A: "1", B: "3" }, cwd: place.workspace, required: false },
          { name: "t", command: "d", args: [], env: {}, cwd: place.workspace, required: true }
        ])
        assert.deepStrictEqual(settings.agents.get("r"), { instructions: "workspace", tools: ["read"] })
      })
    )
  )

  it.live(
    "relative commands and script paths resolve against their settings file; a bare word is looked for in PATH",
    () =>
      inPlace((place) =>
        Effect.gen(function* () {
          place.atHome({
            providers: { o: { kind: "offline", script: "steps.json" } },
            hooks: {
              before_tool: [{ command: ["./hook.sh", "./arg"] }, { command: ["node"] }, { command: ["/abs/x"] }]
            }
          })
          place.atWorkspace({
            providers: { w: { kind: "offline", script: "../steps.json" } },
            hooks: { after_tool: [{ command: ["bin/hook"] }] },
            mcp: { servers: { s: { command: "../server" } } }
          })
          yield* trust(place)
          const settings = yield* place.load
          assert.strictEqual(settings.providers.get("o")?.script, join(place.home, "steps.json"))
          assert.strictEqual(settings.providers.get("w")?.script, join(place.workspace, "steps.json"))
          assert.deepStrictEqual(
            settings.hooks.before_tool.map(({ command }) => command),
            [[join(place.home, "hook.sh"), "./arg"], ["node"], ["/abs/x"]]
          )
          assert.deepStrictEqual(
            settings.hooks.after_tool.map(({ command, cwd }) => [command, cwd]),
            [[[join(place.workspace, ".magi-code", "bin", "hook")], place.workspace]]
          )
          assert.deepStrictEqual(
            settings.mcp.map(({ command }) => command),
            [join(place.workspace, "server")]
          )
        })
      )
  )

  it.live("started in the folder that holds MC_HOME, the two files are one and need no trust", () =>
    inPlace((place) =>
      Effect.gen(function* () {
        place.atWorkspace({ providers: { p: { kind: "openai", models: ["m"] } }, model: { provider: "p", model: "m" } })
        const options = { ...place.options, home: join(place.workspace, ".magi-code") }
        const settings = yield* loadSettings(options)
        assert.deepStrictEqual(settings.model, { provider: "p", model: "m" })
      })
    )
  )
})

describe("keys", () => {
  it.live("come from the environment, are redacted values, and are known for literal redaction", () =>
    inPlace((place) =>
      Effect.gen(function* () {
        Object.assign(place.env, { KEY_ONE: "SENTINEL-ONE", KEY_TWO: "SENTINEL-TWO", KEY_EMPTY: "", OTHER: "x" })
        const openai = { kind: "openai", base_url: "https://example.org/v1", models: ["m"] }
        place.atHome({
          providers: {
            a: { ...openai, api_key_env: "KEY_ONE" },
            b: { ...openai, api_key_env: "KEY_TWO" },
            c: { ...openai, api_key_env: "KEY_TWO" },
            d: { ...openai, api_key_env: "KEY_EMPTY" },
            e: { ...openai, api_key_env: "KEY_UNSET" },
            f: openai
          }
        })
        const settings = yield* place.load
        const keys = [...settings.providers.values()].map(({ api_key }) =>
          api_key === null ? null : Redacted.value(api_key)
        )
        assert.deepStrictEqual(keys, ["SENTINEL-ONE", "SENTINEL-TWO", "SENTINEL-TWO", null, null, null, null])
        assert.deepStrictEqual(settings.secretValues.map(Redacted.value), ["SENTINEL-ONE", "SENTINEL-TWO"])
        assert.deepStrictEqual([...settings.secretEnv].sort(), ["KEY_EMPTY", "KEY_ONE", "KEY_TWO", "KEY_UNSET"])
        const { inspect } = yield* Effect.promise(() => import("node:util"))
        for (const shown of [
          inspect(settings, { depth: 9 }),
          JSON.stringify([...settings.providers]),
          String(settings.secretValues)
        ]) {
          assert.notMatch(shown, /SENTINEL/)
        }
      })
    )
  )
})

describe("guarded paths", () => {
  it.live(
    "name every executable of hooks and servers, and their arguments that are files of the workspace, also through links",
    () =>
      inPlace((place) =>
        Effect.gen(function* () {
          mkdirSync(join(place.workspace, "real"))
          writeFileSync(join(place.workspace, "real", "hook.mjs"), "")
          writeFileSync(join(place.workspace, "plain"), "")
          symlinkSync("real", join(place.workspace, "link"))
          place.atHome({
            hooks: {
              before_tool: [{ command: ["node", "link/hook.mjs", "--flag", "plain", "word", "real", "later/x.mjs"] }]
            },
            mcp: { servers: { s: { command: "./server", args: [join(place.root, "outside.mjs")] } } }
          })
          const { guardedPaths } = yield* place.load
          const inside = (...parts: ReadonlyArray<string>) => join(place.workspace, ...parts)
          for (const path of [
            inside("link", "hook.mjs"),
            inside("real", "hook.mjs"),
            inside("plain"),
            inside("later", "x.mjs"),
            join(place.home, "server")
          ]) {
            assert.include(guardedPaths, path)
          }
          assert.isTrue(
            guardedPaths.some((path) => /\/node$/.test(path)),
            "node itself"
          )
          for (const path of [inside("real"), inside("word"), inside("--flag"), join(place.root, "outside.mjs")]) {
            assert.notInclude(guardedPaths, path)
          }
        })
      )
  )
})
