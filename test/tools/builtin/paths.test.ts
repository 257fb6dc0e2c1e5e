/**
 * product section 2: a file is opened first and its real path checked on the opened handle; FIFOs, devices and `/proc`
 * are `path_denied` before any approval; `$MC_HOME` is denied; outside the workspace reading asks (`inspect`: denied) and
 * writing asks; protected places always ask.
 */
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Bench, makeBench, type Outcome } from "./Bench.ts"

const code = (outcome: Outcome) => outcome.failure?.code ?? "success"

describe("special files", () => {
  const paths = (bench: Bench) => {
    execFileSync("mkfifo", [join(bench.workspace, "pipe")])
    symlinkSync("/dev/zero", join(bench.workspace, "zero"))
    symlinkSync("/proc/self/environ", join(bench.workspace, "environ"))
    symlinkSync("/proc", join(bench.workspace, "processes"))
    return [
      "pipe",
      "zero",
      "environ",
      "processes",
      "processes/version",
      "/proc/self/environ",
      "/proc/version",
      "/proc/self/cwd/a.txt",
      "/proc/self/fd/0",
      "/dev/zero",
      "/dev/null",
      "/dev/tty",
      "/dev/fd/0"
    ]
  }

  it.live("are denied to every file tool, before any approval and at once", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench({ approvals: { bash: "ask", write: "ask" } })
      bench.write("a.txt", "x")
      for (const path of paths(bench)) {
        for (const [name, args] of [
          ["read", { path }],
          ["list_files", { path }],
          ["grep", { path, pattern: "x" }],
          ["find", { path, pattern: "x" }],
          ["write", { path, content: "x" }],
          ["edit", { path, old: "x", new: "y" }]
        ] as const) {
          const started = performance.now()
          const outcome = yield* bench.call(name, args)
          assert.deepStrictEqual([code(outcome), outcome.approval], ["path_denied", null], `${name} ${path}`)
          assert.isBelow(performance.now() - started, 1000)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("sockets too", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const path = join(bench.workspace, "socket")
      yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer()
          server.listen(path, () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      assert.strictEqual(code(yield* bench.call("read", { path: "socket" })), "path_denied")
      assert.strictEqual(code(yield* bench.call("write", { path: "socket", content: "x" })), "path_denied")
    }).pipe(Effect.scoped)
  )

  it.live("that take the place of a file between its check and its opening neither block nor are read", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const path = join(bench.workspace, "a.txt")
      const swap = `cd ${bench.workspace}; mkfifo pipe; echo text > plain; while :; do ln -sfn pipe t; mv -T t a.txt; ln -sfn plain t; mv -T t a.txt; done`
      const tool = bench.tools.find((one) => one.name === "bash")
      assert.isDefined(tool)
      const swapping = yield* Effect.forkChild(bench.call("bash", { command: swap }))
      while (!existsSync(path)) yield* Effect.sleep(10)
      for (let round = 0; round < 150; round++) {
        const outcome = yield* bench.call("read", { path: "a.txt" })
        assert.include(["text\n", undefined], outcome.output?.text)
        assert.include(["success", "path_denied", "tool_failed"], code(outcome))
      }
      void swapping
    }).pipe(Effect.scoped)
  )
})

describe("outside the workspace", () => {
  it.live("reading asks and shows the real path; an inspection is denied, and not told what exists", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const outside = join(bench.root, "outside.txt")
      writeFileSync(outside, "SENTINEL")
      symlinkSync(outside, join(bench.workspace, "link.txt"))
      symlinkSync(bench.root, join(bench.workspace, "up"))
      for (const path of [outside, "../outside.txt", "link.txt", "up/outside.txt", "up/work/../outside.txt"]) {
        const { approval, output } = yield* bench.call("read", { path })
        assert.deepStrictEqual([approval?.kind, approval?.always, output?.text], ["read", true, "SENTINEL"], path)
        assert.include(approval?.summary ?? "", outside)
        const inspected = yield* bench.call("read", { path }, { mode: "inspect" })
        assert.deepStrictEqual([code(inspected), inspected.approval], ["path_denied", null], path)
      }
      for (const [name, args] of [
        ["list_files", { path: ".." }],
        ["find", { path: "up", pattern: "outside*" }],
        ["grep", { path: "..", pattern: "SENTINEL" }]
      ] as const) {
        const { approval, output } = yield* bench.call(name, args)
        assert.strictEqual(approval?.kind, "read", name)
        assert.include(output?.text ?? "", "outside.txt", name)
        assert.strictEqual(code(yield* bench.call(name, args, { mode: "inspect" })), "path_denied", name)
      }
      const missing = yield* bench.call("read", { path: "../none" }, { mode: "inspect" })
      assert.strictEqual(code(missing), "path_denied")
      const inside = yield* bench.call("read", { path: "up/work/none" }, { mode: "inspect" })
      assert.strictEqual(code(inside), "tool_failed")
    }).pipe(Effect.scoped)
  )

  it.live("what is there is not told before the approval: a failure asks first, as a success does", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const there = join(bench.root, "there.txt")
      const folder = join(bench.root, "folder")
      const none = join(bench.root, "none.txt")
      writeFileSync(there, "words")
      mkdirSync(folder)
      symlinkSync(none, join(bench.workspace, "link.txt"))
      symlinkSync("../folder", join(bench.workspace, "aside"))
      symlinkSync("link.txt", join(bench.workspace, "link2.txt"))
      for (const [name, args, real] of [
        ["read", { path: none }, none],
        ["read", { path: "../none.txt" }, none],
        ["read", { path: "link.txt" }, none],
        ["read", { path: "link2.txt" }, none],
        ["read", { path: "aside/none" }, join(folder, "none")],
        ["read", { path: "aside/../../there.txt/x" }, join(there, "x")],
        ["read", { path: folder }, folder],
        ["list_files", { path: there }, there],
        ["list_files", { path: none }, none],
        ["find", { path: there, pattern: "x" }, there],
        ["find", { path: none, pattern: "x" }, none],
        ["grep", { path: none, pattern: "x" }, none],
        ["write", { path: folder, content: "x" }, folder],
        ["write", { path: join(there, "x"), content: "x" }, join(there, "x")],
        ["write", { path: "aside/new/", content: "x" }, join(folder, "new")],
        ["edit", { path: none, old: "x", new: "y" }, none],
        ["edit", { path: folder, old: "x", new: "y" }, folder],
        ["edit", { path: there, old: "x", new: "y" }, there]
      ] as const) {
        const about = `${name} ${args.path}`
        const asked = yield* bench.call(name, args)
        assert.strictEqual(asked.approval?.always, true, about)
        assert.include(asked.approval?.summary ?? "", real, about)
        assert.notInclude(asked.approval?.summary ?? "", `${real}/`, about)
        assert.strictEqual(code(asked), "tool_failed", about)
        const inspected = yield* bench.call(name, args, { mode: "inspect" })
        assert.deepStrictEqual([code(inspected), inspected.approval], ["path_denied", null], about)
      }
      const link = yield* bench.call("write", { path: "link.txt", content: "x" })
      assert.deepStrictEqual([link.approval?.always, code(link)], [true, "path_denied"])
      const denies = yield* makeBench({ workspace: bench.workspace, approvals: { bash: "deny", write: "deny" } })
      for (const path of [none, there, folder]) {
        assert.strictEqual(code(yield* denies.call("write", { path, content: "x" })), "approval_denied", path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("what cannot be read inside is told at once, also through links", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      mkdirSync(join(bench.workspace, "folder"))
      symlinkSync(join(bench.workspace, "none"), join(bench.workspace, "link"))
      symlinkSync(bench.workspace, join(bench.root, "alias"))
      symlinkSync(bench.home, join(bench.workspace, "home"))
      for (const [path, expected] of [
        ["none", "tool_failed"],
        ["folder", "tool_failed"],
        ["link", "tool_failed"],
        [join(bench.root, "alias/none"), "tool_failed"],
        ["home/none", "path_denied"]
      ] as const) {
        const outcome = yield* bench.call("read", { path })
        assert.deepStrictEqual([code(outcome), outcome.approval], [expected, null], path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("a path that leads back inside by a link is inside", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("a.txt", "inner")
      symlinkSync(bench.workspace, join(bench.root, "alias"))
      const { approval, output } = yield* bench.call("read", { path: join(bench.root, "alias/a.txt") })
      assert.deepStrictEqual([approval, output?.text], [null, "inner"])
    }).pipe(Effect.scoped)
  )

  it.live("what is exchanged after the approval is not what is read or written", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const secret = join(bench.root, "secret.txt")
      writeFileSync(secret, "SENTINEL")
      bench.write("a.txt", "plain")
      const read = yield* bench.call(
        "read",
        { path: "a.txt" },
        {
          meanwhile: () => {
            rmSync(join(bench.workspace, "a.txt"))
            symlinkSync(secret, join(bench.workspace, "a.txt"))
          }
        }
      )
      assert.strictEqual(read.output?.text, "plain")

      bench.write("b.txt", "plain")
      const write = yield* bench.call(
        "write",
        { path: "b.txt", content: "new" },
        {
          meanwhile: () => {
            rmSync(join(bench.workspace, "b.txt"))
            symlinkSync(secret, join(bench.workspace, "b.txt"))
          }
        }
      )
      assert.deepStrictEqual([code(write), readFileSync(secret, "utf8")], ["path_denied", "SENTINEL"])

      // The folder is exchanged for a link to elsewhere: the write goes to the folder that was approved.
      bench.write("folder/c.txt", "plain")
      mkdirSync(join(bench.root, "elsewhere"))
      const moved = yield* bench.call(
        "write",
        { path: "folder/c.txt", content: "new" },
        {
          meanwhile: () => {
            renameSync(join(bench.workspace, "folder"), join(bench.workspace, "kept"))
            symlinkSync(join(bench.root, "elsewhere"), join(bench.workspace, "folder"))
          }
        }
      )
      assert.strictEqual(code(moved), "tool_failed")
      assert.deepStrictEqual(readdirSync(join(bench.root, "elsewhere")), [])
      assert.strictEqual(readFileSync(join(bench.workspace, "kept/c.txt"), "utf8"), "plain")

      // A folder that was to be made appears as a link.
      const made = yield* bench.call(
        "write",
        { path: "fresh/d.txt", content: "new" },
        { meanwhile: () => symlinkSync(join(bench.root, "elsewhere"), join(bench.workspace, "fresh")) }
      )
      assert.strictEqual(made.failure !== undefined, true)
      assert.deepStrictEqual(readdirSync(join(bench.root, "elsewhere")), [])
    }).pipe(Effect.scoped)
  )
})

describe("$MC_HOME", () => {
  it.live("is denied to every file tool, through links and by names that do not exist yet", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      writeFileSync(join(bench.home, "settings.json"), "{}")
      symlinkSync(bench.home, join(bench.workspace, "home"))
      for (const path of [
        join(bench.home, "settings.json"),
        "home/settings.json",
        join(bench.home, "none"),
        "../home"
      ]) {
        for (const [name, args] of [
          ["read", { path }],
          ["list_files", { path }],
          ["grep", { path, pattern: "x" }],
          ["find", { path, pattern: "x" }],
          ["write", { path, content: "x" }],
          ["edit", { path, old: "{", new: "y" }]
        ] as const) {
          const outcome = yield* bench.call(name, args)
          assert.deepStrictEqual([code(outcome), outcome.approval], ["path_denied", null], `${name} ${path}`)
        }
      }
      assert.deepStrictEqual(readdirSync(bench.home).sort().includes("none"), false)
    }).pipe(Effect.scoped)
  )
})

describe("writing", () => {
  it.live("asks for protected places at any depth and in any case, also where the settings allow writes", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const guarded = bench.write("scripts/hook.sh", "x")
      const tools = yield* makeBench({ workspace: bench.workspace, guardedPaths: [guarded] })
      mkdirSync(join(bench.workspace, "vs"))
      symlinkSync("vs", join(bench.workspace, ".vscode"))
      for (const [path, always] of [
        [".git/hooks/pre-commit", true],
        [".git", true],
        ["sub/.git/config", true],
        [".magi-code/settings.json", true],
        [".GitHub/workflows/x.yml", true],
        [".idea/x.xml", true],
        [".vscode/tasks.json", true],
        ["vs/tasks.json", true],
        ["AGENTS.md", true],
        ["sub/agents.md", true],
        ["scripts/hook.sh", true],
        ["scripts/./../scripts/hook.sh", true],
        ["../beside.txt", true],
        ["plain.txt", false],
        ["AGENTS.md.txt", false],
        [".gitignore", false],
        ["scripts/other.sh", false]
      ] as const) {
        const { approval } = yield* tools.call("write", { path, content: "new text" })
        assert.deepStrictEqual([approval !== null, approval?.always ?? false], [always, always], path)
        if (always) assert.include(approval?.summary ?? "", path)
        rmSync(join(bench.workspace, ".git"), { recursive: true, force: true })
      }
    }).pipe(Effect.scoped)
  )

  it.live("is denied where the settings deny it, is not for inspections, and asks where they ask", () =>
    Effect.gen(function* () {
      const deny = yield* makeBench({ approvals: { bash: "deny", write: "deny" } })
      deny.write("a.txt", "x")
      assert.strictEqual(code(yield* deny.call("write", { path: "a.txt", content: "y" })), "approval_denied")
      assert.strictEqual(code(yield* deny.call("edit", { path: "a.txt", old: "x", new: "y" })), "approval_denied")
      assert.strictEqual(code(yield* deny.call("bash", { command: "true" })), "approval_denied")
      assert.strictEqual(readFileSync(join(deny.workspace, "a.txt"), "utf8"), "x")

      const ask = yield* makeBench({ approvals: { bash: "ask", write: "ask" } })
      ask.write("a.txt", "old words")
      const write = yield* ask.call("write", { path: "a.txt", content: "new words" })
      assert.strictEqual(write.approval?.summary, `write a.txt\nreplaces ${ask.workspace}/a.txt\nnew text:\nnew words`)
      assert.notStrictEqual(write.approval?.always, true)
      const edit = yield* ask.call("edit", { path: "a.txt", old: "words", new: "text" })
      assert.strictEqual(
        edit.approval?.summary,
        `edit a.txt\nreplaces ${ask.workspace}/a.txt\nold text:\nwords\nnew text:\ntext`
      )
      const bash = yield* ask.call("bash", { command: "echo one\necho two", timeout_ms: 5000 })
      assert.strictEqual(bash.approval?.summary, `bash in ${ask.workspace}, at most 5 s:\necho one\necho two`)
      for (const [name, args] of [
        ["write", { path: "a.txt", content: "y" }],
        ["edit", { path: "a.txt", old: "text", new: "y" }],
        ["bash", { command: "true" }]
      ] as const) {
        const outcome = yield* ask.call(name, args, { mode: "inspect" })
        assert.isNotNull(outcome.failure?.code.match(/^(path|approval)_denied$/), name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of a long text has a short form: path, size, SHA-256, first lines", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench({ approvals: { bash: "ask", write: "ask" } })
      const content = "line of text\n".repeat(1000)
      const { approval } = yield* bench.call("write", { path: "long.txt", content })
      assert.include(approval?.summary ?? "", content)
      const short = approval?.short ?? ""
      const sha256 = execFileSync("sha256sum", [join(bench.workspace, "long.txt")])
        .toString()
        .slice(0, 64)
      assert.isAtMost(Buffer.byteLength(short), 2500)
      for (const part of ["write long.txt", "13000 bytes", sha256, "line of text\nline of text"]) {
        assert.include(short, part)
      }
    }).pipe(Effect.scoped)
  )

  it.live("does not follow a link that leads nowhere, and does not make a file of a folder's name", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      symlinkSync(join(bench.root, "nowhere"), join(bench.workspace, "link"))
      assert.strictEqual(code(yield* bench.call("write", { path: "link", content: "x" })), "path_denied")
      assert.strictEqual(code(yield* bench.call("write", { path: "link/x", content: "x" })), "path_denied")
      mkdirSync(join(bench.workspace, "folder"))
      assert.strictEqual(code(yield* bench.call("write", { path: "folder", content: "x" })), "tool_failed")
      assert.strictEqual(code(yield* bench.call("write", { path: "new/", content: "x" })), "tool_failed")
      bench.write("file", "x")
      assert.strictEqual(code(yield* bench.call("write", { path: "file/x", content: "x" })), "tool_failed")
      assert.isFalse(existsSync(join(bench.root, "nowhere")))
    }).pipe(Effect.scoped)
  )
})
