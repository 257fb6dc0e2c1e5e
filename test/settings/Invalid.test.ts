/** product section 2: "An unknown key, a wrong type or an unreadable file fails initialize with `configuration_invalid` and a path". */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { InitializeFailed, RequestFailed } from "../../src/client/AgentErrors.ts"
import { SETTINGS_BYTES } from "../../src/settings/SettingsFile.ts"
import { inPlace, type Place } from "./support.ts"

const openai = { kind: "openai", base_url: "https://example.org/v1", models: ["m"] }
const many = (count: number, name = "m") => Array.from({ length: count }, (_, n) => `${name}${n}`)
const selected = { model: { provider: "p", model: "m0" } }

describe("a home file", () => {
  it.for([
    ["{", ""],
    ["", ""],
    ["[]", ""],
    ["\ufeff{}", ""],
    ["// comment\n{}", ""],
    ['{"limits":{},"limits":{}}', "/limits"],
    ['{"limits":{"turn_steps":1e999}}', "/limits/turn_steps"],
    [{ modle: {} }, "/modle"],
    [{ "": 1 }, "/"],
    [{ "a/b~c": 1 }, "/a~1b~0c"],
    [{ schema_version: 1 }, "/schema_version"],
    [{ schema_version: "2" }, "/schema_version"],
    [{ $schema: 5 }, "/$schema"],
    [{ model: "offline/offline" }, "/model"],
    [{ model: { provider: "nowhere" } }, "/model/provider"],
    [{ model: { model: "nothing" } }, "/model/model"],
    [{ limits: { turn_steps: "many" } }, "/limits/turn_steps"],
    [{ limits: { turn_steps: 0 } }, "/limits/turn_steps"],
    [{ limits: { turn_steps: 1.5 } }, "/limits/turn_steps"],
    [{ limits: { steps: 1 } }, "/limits/steps"],
    [{ approvals: { bash: "maybe" } }, "/approvals/bash"],
    [{ approvals: { bahs: "ask" } }, "/approvals/bahs"],
    [{ approvals: null }, "/approvals"],
    [{ capabilities: { tools: { disabled: "bash" } } }, "/capabilities/tools/disabled"],
    [{ capabilities: { tools: { disabled: ["bash", 5] } } }, "/capabilities/tools/disabled/1"],
    [{ capabilities: { tools: { code_mode: { enabled: "yes" } } } }, "/capabilities/tools/code_mode/enabled"],
    [{ providers: { p: {} } }, "/providers/p/kind"],
    [{ providers: { p: { kind: "other" } } }, "/providers/p/kind"],
    [{ providers: { p: { ...openai, api_key: "SENTINEL" } } }, "/providers/p/api_key"],
    [{ providers: { p: { ...openai, api_key_env: "not a name" } } }, "/providers/p/api_key_env"],
    [{ providers: { p: { ...openai, base_url: "ftp://example.org" } } }, "/providers/p/base_url"],
    [{ providers: { p: { ...openai, base_url: "https://u:SENTINEL@example.org" } } }, "/providers/p/base_url"],
    [{ providers: { p: { ...openai, base_url: "http://example.org", api_key_env: "K" } } }, "/providers/p/base_url"],
    [{ providers: { p: { ...openai, base_url: "http://127.evil.org", api_key_env: "K" } } }, "/providers/p/base_url"],
    [{ providers: { p: { ...openai, script: "x.json" } } }, "/providers/p/script"],
    [{ providers: { p: { kind: "offline", base_url: "https://example.org" } } }, "/providers/p/base_url"],
    [{ providers: { p: { ...openai, models: [{ context_tokens: 5 }] } } }, "/providers/p/models/0/id"],
    [
      { providers: { p: { ...openai, models: ["a", { id: "b", context_tokens: -1 }] } } },
      "/providers/p/models/1/context_tokens"
    ],
    [{ providers: { p: { ...openai, models: ["a", "b", "a"] } } }, "/providers/p/models/2"],
    [{ providers: { p: { ...openai, models: ["é".repeat(65)] } } }, "/providers/p/models/0"],
    [{ providers: { ["p".repeat(129)]: openai } }, `/providers/${"p".repeat(129)}`],
    [{ providers: { p: { ...openai, models: many(201) } }, ...selected }, "/providers"],
    [
      {
        providers: {
          ["p".repeat(40)]: { ...openai, models: many(199, "x".repeat(120)) },
          ["q".repeat(100)]: { ...openai, models: ["m0"] }
        },
        model: { provider: "q".repeat(100), model: "m0" }
      },
      "/providers"
    ],
    [{ hooks: { before_tool: [{ command: [] }] } }, "/hooks/before_tool/0/command/0"],
    [{ hooks: { before_tool: [{ command: "hook.sh" }] } }, "/hooks/before_tool/0/command"],
    [{ hooks: { before_tool: [{ command: ["a\0b"] }] } }, "/hooks/before_tool/0/command/0"],
    [{ hooks: { before_tool: [{ command: ["x"], on_failure: "ignore" }] } }, "/hooks/before_tool/0/on_failure"],
    [{ hooks: { before_tool: [{ command: ["x"], timeout_ms: 0 }] } }, "/hooks/before_tool/0/timeout_ms"],
    [{ hooks: { during_tool: [] } }, "/hooks/during_tool"],
    [{ mcp: { files: {} } }, "/mcp/files"],
    [{ mcp: { servers: { a_b: { command: "x" } } } }, "/mcp/servers/a_b"],
    [{ mcp: { servers: { ["s".repeat(25)]: { command: "x" } } } }, `/mcp/servers/${"s".repeat(25)}`],
    [{ mcp: { servers: { s: {} } } }, "/mcp/servers/s/command"],
    [{ mcp: { servers: { s: { command: "x", args: "y" } } } }, "/mcp/servers/s/args"],
    [{ mcp: { servers: { s: { command: "x", env: { A: 1 } } } } }, "/mcp/servers/s/env/A"],
    [{ agents: { a: { tools: "read" } } }, "/agents/a/tools"],
    [{ agents: { a: { instruction: "x" } } }, "/agents/a/instruction"]
  ] as const)("%#: refused", ([settings, path]) =>
    Effect.runPromise(
      inPlace((place) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(place.atHome(settings).load)
          assert.deepStrictEqual([error.code, error.path], ["configuration_invalid", path])
          assert.match(error.message, /^\$MC_HOME\/settings\.json: \S/)
          assert.notMatch(error.message, /SENTINEL|\n/)
        })
      )
    )
  )

  it.for([
    [{ $schema: "anything" }],
    [{ schema_version: 2 }],
    [{ providers: { p: { ...openai, base_url: "http://example.org", api_key_env: "K", insecure: true } } }],
    [{ providers: { p: { ...openai, base_url: "http://example.org" } } }],
    [{ providers: { p: { ...openai, base_url: "http://127.1.2.3:80", api_key_env: "K" } } }],
    [{ providers: { p: { ...openai, base_url: "http://[::1]:80", api_key_env: "K" } } }],
    [{ providers: { p: { ...openai, base_url: "http://localhost", api_key_env: "K" } } }],
    [{ providers: { p: { ...openai, models: ["é".repeat(64)] } } }],
    [{ providers: { p: { ...openai, models: many(200) } }, ...selected }],
    [{ providers: { offline: { kind: "offline", models: ["offline", "b"] } } }],
    ['{"agents":{"__proto__":{"instructions":"x"},"constructor":{}}}']
  ])("%#: taken", ([settings]) => Effect.runPromise(Effect.asVoid(inPlace((place) => place.atHome(settings).load))))
})

describe("a file that is not one", () => {
  const fault = (arrange: (place: Place) => void) =>
    inPlace((place) =>
      Effect.gen(function* () {
        mkdirSync(join(place.workspace, ".magi-code"))
        mkdirSync(place.home)
        arrange(place)
        return yield* Effect.flip(place.load)
      })
    )

  it.live("a directory, a link, a FIFO, too many bytes, bytes that are no UTF-8: each is said", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [(path: string) => void, RegExp]> = [
        [(path) => mkdirSync(path), /is not a regular file|is a directory/],
        [(path) => symlinkSync("/dev/null", path), /symbolic link/],
        [(path) => symlinkSync("nowhere", path), /symbolic link/],
        [(path) => execFileSync("mkfifo", [path]), /is not a regular file/],
        [(path) => writeFileSync(path, `{}${" ".repeat(SETTINGS_BYTES)}`), /larger than/],
        [(path) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])), /not UTF-8/]
      ]
      for (const [arrange, message] of cases) {
        const home = yield* fault((place) => arrange(place.homeFile))
        assert.deepStrictEqual([home.code, home.path], ["configuration_invalid", ""])
        assert.match(home.message, message)
        assert.match(home.message, /^\$MC_HOME\/settings\.json: /)
        const workspace = yield* fault((place) => arrange(place.workspaceFile))
        assert.match(workspace.message, message)
        assert.match(workspace.message, /^\.magi-code\/settings\.json: /)
      }
    })
  )

  it.live("a .magi-code that is a link is refused", () =>
    Effect.gen(function* () {
      const error = yield* fault((place) => {
        rmSync(join(place.workspace, ".magi-code"), { recursive: true })
        mkdirSync(join(place.root, "elsewhere"))
        writeFileSync(join(place.root, "elsewhere", "settings.json"), "{}")
        symlinkSync(join(place.root, "elsewhere"), join(place.workspace, ".magi-code"))
      })
      assert.match(error.message, /its folder is a symbolic link/)
    })
  )

  it.live("a home, or a file in it, that others may write is refused", () =>
    Effect.gen(function* () {
      for (const mode of [0o777, 0o775, 0o702]) {
        const home = yield* fault((place) => chmodSync(place.home, mode))
        assert.match(home.message, /can be written by other users/)
      }
      const file = yield* fault((place) => {
        place.atHome({})
        chmodSync(place.homeFile, 0o666)
      })
      assert.match(file.message, /can be written by other users/)
    })
  )

  it.live("a fault names the file that it is in", () =>
    inPlace((place) =>
      Effect.gen(function* () {
        place.atHome({ model: { provider: "offline", model: "offline" } }).atWorkspace({ model: { model: "none" } })
        assert.match((yield* Effect.flip(place.load)).message, /^\.magi-code\/settings\.json: \/model\/model/)
        place.atHome({ model: { provider: "none" } }).atWorkspace({})
        assert.match((yield* Effect.flip(place.load)).message, /^\$MC_HOME\/settings\.json: \/model\/provider/)
        place.atHome({}).atWorkspace({ "\u001b[2J\u202e": 1 })
        assert.match((yield* Effect.flip(place.load)).message, /\/\\u\{1b\}\[2J\\u\{202e\} is an unknown key$/)
      })
    )
  )
})

describe("what a person is told", () => {
  it.effect("the place, and for the whole of a file none", () =>
    Effect.forEach(
      [
        ["[]", "configuration_invalid"],
        [{ "": 1 }, "configuration_invalid at /"],
        [{ approvals: null }, "configuration_invalid at /approvals"]
      ] as const,
      ([content, told]) =>
        inPlace((place) =>
          Effect.gen(function* () {
            const { code, message, path } = yield* Effect.flip(place.atHome(content).load)
            const refused = { code, reason: message, path }
            assert.strictEqual(
              new InitializeFailed(refused).message,
              `the agent could not be initialized: ${message} (${told})`
            )
            assert.strictEqual(
              new RequestFailed({ ...refused, method: "initialize" }).message,
              `initialize was refused: ${message} (${told})`
            )
          })
        )
    )
  )
})
