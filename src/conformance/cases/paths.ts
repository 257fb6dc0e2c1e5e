/** Where file tools may go, and what a name of a tool leads to. docs/tools.md, Where a path may lead. */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  agents,
  answering,
  type Case,
  c,
  call,
  cite,
  completed,
  completedOne,
  failedWith,
  runSteps,
  shown,
  tool
} from "../dsl.ts"

const clientTools = cite("client-tools")
const tools = cite("tools")

const neverOpened = tools(
  "FIFOs, sockets, devices and everything under /proc are path_denied, and so is $MC_HOME. Nobody is asked."
)

const allow = { approvals: { bash: "allow", write: "allow" } }
const results = { text: "{{results}}" }

export const paths: ReadonlyArray<Case> = [
  c(
    "paths.protected",
    tools(
      'So does writing in a protected place, also with "write": "allow": a path with .magi-code, .git, .vscode, .idea or .github in it, an AGENTS.md, in any folder'
    ),
    function* (t) {
      mkdirSync(t.file(".git/hooks"), { recursive: true })
      const b = yield* t.ready([tool("a")], { settings: allow })
      const guarded = [".git/hooks/pre-commit", ".magi-code/settings.json", ".vscode/tasks.json", "AGENTS.md"]
      const all = [...guarded, "plain.txt"]
      yield* b.turn([...all.map((path) => ({ calls: [call("write", { path, content: "new" })] })), { text: "end" }])
      const asked = yield* answering(b, ({ summary }) => summary.includes("AGENTS.md"))
      yield* t.equal(
        asked.map(({ kind, summary }) => [kind, guarded.find((path) => summary.includes(path))]),
        guarded.map((path) => ["write", path]),
        "questions, by kind and path"
      )
      yield* t.equal(
        all.map((path) => t.read(path)),
        ["", "", "", "new", "new"],
        "what the files hold: AGENTS.md alone was allowed, plain.txt is not asked about"
      )
    }
  ),

  c(
    "paths.outside",
    [
      tools(
        "Reading inside the workspace asks nobody, outside it asks. In an inspection reading outside is path_denied, and so is writing anywhere."
      ),
      neverOpened
    ],
    function* (t) {
      const path = join(t.root, "outside.txt")
      writeFileSync(path, "SENTINEL-OUT")
      yield* t.write("inside.txt", "inner words")
      const b = yield* t.ready([tool("a")], { settings: allow })
      const show = [{ calls: [call("read", { path })] }, results]

      yield* b.turn([{ calls: [call("read", { path: "inside.txt" }), call("read", { path })] }, results])
      const asked = yield* answering(b)
      yield* t.equal(
        asked.map(({ kind, summary }) => [kind, summary.includes("outside.txt")]),
        [["read", true]],
        "questions about a file inside and one outside"
      )
      const [inside, outside] = yield* completed(b)
      yield* t.equal(inside?.success, true, "success inside")
      yield* t.expect(JSON.stringify(inside).includes("inner words"), `the file inside is read: ${shown(inside)}`)
      yield* failedWith(outside, "approval_denied")

      yield* b.turn(show)
      yield* t.equal((yield* answering(b, () => true)).length, 1, "questions about the same file, asked again")
      const allowed = yield* completedOne(b)
      yield* t.expect(JSON.stringify(allowed).includes("SENTINEL-OUT"), `it is read once allowed: ${shown(allowed)}`)

      yield* b.turn([{ calls: [agents([show, "inspect"])] }, results])
      yield* t.equal(yield* answering(b, () => true), [], "questions of an inspection")
      const inspected = JSON.stringify(yield* completedOne(b))
      yield* t.expect(!inspected.includes("SENTINEL-OUT"), "an inspection does not read outside")
      yield* t.expect(inspected.includes("path_denied"), `an inspection is told path_denied: ${inspected}`)

      const settings = join(t.home, "settings.json")
      const home = [call("read", { path: settings }), call("write", { path: settings, content: "{}" })]
      yield* b.turn([{ calls: home }, results])
      yield* t.equal(yield* answering(b, () => true), [], "questions about MC_HOME")
      const refused = yield* completed(b)
      yield* t.equal(refused.length, 2, "results")
      for (const result of refused) yield* failedWith(result, "path_denied")
    }
  ),

  c("paths.special", neverOpened, function* (t) {
    execFileSync("mkfifo", [t.file("pipe")])
    const b = yield* t.ready([tool("a")], { settings: allow, env: { KIT_ENV: "SENTINEL-ENV" } })
    const special = ["/proc/self/environ", "/proc/version", "/dev/zero", "pipe"]
    yield* b.turn([{ calls: special.map((path) => call("read", { path })) }, results])
    yield* t.equal(yield* answering(b, () => true), [], "questions")
    const refused = yield* completed(b)
    yield* t.equal(refused.length, special.length, "results")
    for (const [i, result] of refused.entries()) {
      yield* t.expect(
        !result.success && result.error?.code === "path_denied",
        `${special[i]} should be path_denied, the model saw ${shown(result)}`
      )
      yield* t.expect(!/SENTINEL|Linux version/.test(JSON.stringify(result)), `${special[i]} is not read`)
    }
  }),

  c(
    "paths.names-exact",
    [
      clientTools(
        "A name is taken exactly as given. Only a registered client tool may begin with client__, and a call by any other name never reaches one: a client tool does not stand in for a built-in tool that is disabled."
      ),
      clientTools("tool_unknown | no such tool, or it is disabled or outside the agent's permissions"),
      tools("An approval setting of deny is approval_denied.")
    ],
    function* (t) {
      const settings = {
        approvals: { bash: "deny", write: "deny" },
        capabilities: { tools: { disabled: ["read"] } }
      }
      const b = yield* t.ready([tool("read"), tool("bash")], { settings })
      const names = ["read", "Read", "READ", "bash", "client__Read", "Client__read", " client__read", "client_read"]
      names.push("mcp__kit__read")
      const seen = yield* runSteps(
        b,
        names.map((name) => call(name, name === "bash" ? { command: "echo x > ran" } : { path: "x" }))
      )
      const code = (name: string) =>
        name === "bash" ? "approval_denied" : name === "client__Read" ? "client_tool_not_permitted" : "tool_unknown"
      yield* t.equal(
        seen.map(({ error, success }) => [success, error?.code]),
        names.map((name) => [false, code(name)]),
        `results of ${names.join(", ")}`
      )
      const effects = [b.events("client.tool.call").length, b.events("approval.request").length, t.read("ran")]
      yield* t.equal(effects, [0, 0, ""], "calls, questions, what bash wrote")
      yield* b.turn([{ calls: [call("client__read", { path: "x" })] }, results])
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("a disabled read should not disable client__read")
      yield* b.accepted(e)
      yield* t.equal((yield* completedOne(b)).success, true, "success of client__read")
    }
  )
]
