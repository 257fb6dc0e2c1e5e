/** What a workspace's settings file may do. docs/security.md, A hostile repository. */
import { answering, type Case, c, cite, type Json, type JsonObject, type ProviderStep, tool } from "../dsl.ts"

const protocol = cite("local-agent-protocol")
const security = cite("security")

const namesKey = protocol(
  "configuration_untrusted | the workspace's settings file asks for more than it may without trust; path names the key"
)
const nothingRead = security("Nothing of a workspace is read before initialize is admitted.")

export const trust: ReadonlyArray<Case> = [
  c(
    "trust.untrusted",
    [
      security("hooks, MCP servers | configuration_untrusted; nothing is started, also when the list is empty"),
      security("a provider of its own, or another address for yours | configuration_untrusted; no key leaves"),
      security(
        "looser approvals, a higher limit, Code Mode switched on, a full catalogue instead of a compact one | configuration_untrusted"
      ),
      namesKey
    ],
    function* (t) {
      const kinds: { readonly [key: string]: JsonObject } = {
        providers: { other: { kind: "openai", base_url: "http://127.0.0.1:9/v1", models: ["m"] } },
        hooks: { before_tool: [t.hook({ pid: t.file("hook.pid") })] },
        mcp: t.mcp({ pid: t.file("mcp.pid") }),
        approvals: { bash: "allow" }
      }
      for (const [key, value] of Object.entries(kinds)) {
        yield* t.workspaceSettings({ [key]: value })
        const b = yield* t.spawn()
        const { error } = yield* b.initialize([tool("a")])
        yield* t.equal(error?.code, "configuration_untrusted", `error of ${key}`)
        yield* t.expect(
          `${error?.path ?? ""} ${error?.message}`.includes(key),
          `the error should name ${key}: ${error?.path} ${error?.message}`
        )
        yield* t.equal((yield* b.ok("status")).state, "failed", "state")
      }
      yield* t.equal([t.exists("hook.pid"), t.exists("mcp.pid")], [false, false], "a hook, a server was started")
    }
  ),

  c(
    "trust.tighten",
    [
      security(
        'Until its file is trusted, a workspace may only tighten: select a model of a provider that your settings have, lower limits, make approvals stricter (deny, then ask, then allow), add to disabled lists, switch off with "enabled": false, and bring agents of its own.'
      ),
      protocol("turn_limit | the run has had as many model responses as the settings allow (limits.turn_steps)")
    ],
    function* (t) {
      const first = [
        { name: "bash", arguments: { command: "echo x > ran" } },
        { name: "write", arguments: { path: "w.txt", content: "x" } }
      ]
      const plan = (_: Json, n: number): ProviderStep => ({ calls: n === 0 ? first : [{ name: "client__b" }] })
      const provider = yield* t.provider(plan)
      const settings = {
        ...provider.settings,
        approvals: { bash: "ask", write: "allow" },
        capabilities: { tools: { disabled: ["grep"] } }
      }
      yield* t.workspaceSettings({
        $schema: "settings.schema.json",
        model: { provider: "local", model: "m2" },
        approvals: { bash: "deny", write: "ask" },
        limits: { turn_steps: 2 },
        capabilities: { tools: { disabled: ["client__b"], code_mode: { enabled: false } } },
        agents: { reviewer: { instructions: "x", tools: ["read"] } }
      })
      const b = yield* t.ready([tool("a"), tool("b")], { settings })
      yield* t.equal(b.init.selection.model, "m2", "model")
      yield* b.turn("go")
      const asked = yield* answering(b)
      yield* t.equal(
        asked.map(({ kind }) => kind),
        ["write"],
        "questions: bash is denied, write asks"
      )
      yield* t.equal([t.read("ran"), t.read("w.txt")], ["", ""], "what bash and write left")
      yield* t.equal((yield* b.finished()).data.error?.code, "turn_limit", "error of the run")
      yield* t.equal(provider.requests.length, 2, "responses of the model, of which 2 are allowed")
      yield* t.equal(b.events("client.tool.call").length, 0, "calls of a disabled tool")
      const offered = provider.tools(0)
      yield* t.equal(
        ["client__a", "client__b", "grep", "code_mode"].filter((name) => offered.includes(name)),
        ["client__a"],
        "offered, of client__a and what is disabled here, there, or switched off"
      )
    }
  ),

  c(
    "trust.recorded",
    [
      security(
        "Trust is the SHA-256 of the bytes that were read, at one real path: another path, another byte, and it is gone."
      ),
      security(
        '$MC_HOME/trust.json holds it: {"version":1,"workspaces":{"<real path of the workspace>":"<SHA-256, lowercase hex>"}}.'
      )
    ],
    function* (t) {
      yield* t.workspaceSettings({ mcp: t.mcp({ pid: t.file("mcp.pid") }) })
      yield* t.trust
      const trusting = yield* t.spawn()
      yield* trusting.initialized([tool("a")])
      yield* t.expect(t.exists("mcp.pid"), "the server of a trusted file is started")
      yield* t.workspaceSettings({ mcp: t.mcp({ pid: t.file("mcp2.pid") }) })
      const b = yield* t.spawn()
      const { error } = yield* b.initialize([tool("a")])
      yield* t.equal(error?.code, "configuration_untrusted", "error, once the file has changed")
      yield* t.expect(!t.exists("mcp2.pid"), "its server is not started")
    }
  ),

  c(
    "trust.preflight-first",
    [
      nothingRead,
      protocol(
        "Preflight. Before the agent touches a file, a setting, a key, the network or an MCP server it checks, in this order:"
      )
    ],
    function* (t) {
      yield* t.workspaceSettings({ mcp: t.mcp({ pid: t.file("mcp.pid") }) })
      const b = yield* t.spawn()
      const badTool = yield* b.initialize([tool("a", { timeout_ms: 1 })])
      yield* t.equal(badTool.error?.code, "invalid_params", "error for a bad registry")
      const badName = yield* b.initialize([tool("a")], ["nope"])
      yield* t.equal(badName.error?.code, "unsupported_capability", "error for an unknown capability")
      yield* t.equal((yield* b.ok("status")).state, "new", "state")
      const good = yield* b.initialize([tool("a")])
      yield* t.equal(good.error?.code, "configuration_untrusted", "error once the preflight has passed")
      yield* t.expect(!t.exists("mcp.pid"), "no server is started")
    }
  )
]
