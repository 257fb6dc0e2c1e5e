/** product section 2, Built-in tools: `read`, `list_files`, `find`, `grep`. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { matcherOf } from "../../../src/tools/builtin/Glob.ts"
import { makeBench } from "./Bench.ts"

const KIB30 = 30 * 1024

describe("read", () => {
  it.live("gives a text file as it is: line ends, byte order mark and an unfinished last line included", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      for (const content of ["one\r\ntwo\n", "\ufefföß 😀 no end", "", "\n\n"]) {
        bench.write("a.txt", content)
        const { approval, output } = yield* bench.call("read", { path: "a.txt" })
        assert.deepStrictEqual([approval, output], [null, { text: content }])
      }
    }).pipe(Effect.scoped)
  )

  it.live("gives a range of lines and says where to go on", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("a.txt", "1\n2\n3\n4\n5")
      const text = (args: { offset?: number; limit?: number }) =>
        Effect.map(
          bench.call("read", { path: "a.txt", ...args }),
          ({ failure, output }) => output?.text ?? failure?.message
        )
      assert.strictEqual(yield* text({ offset: 2, limit: 2 }), "2\n3\n[lines 2 to 3 of 5 shown; go on with offset 4]")
      assert.strictEqual(yield* text({ offset: 4 }), "4\n5")
      assert.strictEqual(yield* text({ offset: 5, limit: 1 }), "5")
      assert.strictEqual(yield* text({ offset: 6 }), "the file has only 5 lines")
    }).pipe(Effect.scoped)
  )

  it.live(
    "is bounded to 30 KiB, on a line boundary, or inside a line that is too long by itself, never inside a character",
    () =>
      Effect.gen(function* () {
        const bench = yield* makeBench()
        bench.write("lines.txt", "0123456789\n".repeat(10_000))
        const lines = (yield* bench.call("read", { path: "lines.txt", limit: 10_000 })).output?.text ?? ""
        assert.isAtMost(Buffer.byteLength(lines), KIB30)
        const [, next] = /\n\[lines 1 to (\d+) of 10000 shown; go on with offset (\d+)\]$/.exec(lines) ?? []
        assert.strictEqual(lines.split("\n").length - 1, Number(next))
        bench.write("long.txt", `${"😀".repeat(20_000)}\nend`)
        const long = (yield* bench.call("read", { path: "long.txt" })).output?.text ?? ""
        assert.isAtMost(Buffer.byteLength(long), KIB30)
        assert.match(long, /^(😀)+\n\[only the beginning of line 1 of 2, which is too long\]$/u)
        const end = yield* bench.call("read", { path: "long.txt", offset: 2 })
        assert.strictEqual(end.output?.text, "end")
      }).pipe(Effect.scoped)
  )

  it.live("refuses binary files, directories, missing and very large files with a reason", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("image.png", Buffer.from([0x89, 0x50, 0, 1, 2]))
      mkdirSync(join(bench.workspace, "folder"))
      execFileSync("truncate", ["-s", "17M", join(bench.workspace, "huge")])
      bench.write("latin.txt", Buffer.from([0x67, 0x72, 0xfc, 0x6e]))
      const failure = (path: string) =>
        Effect.map(bench.call("read", { path }), (outcome) => [outcome.failure?.code, outcome.failure?.message])
      assert.deepStrictEqual(yield* failure("image.png"), ["tool_failed", "a binary file of 5 bytes"])
      assert.deepStrictEqual(yield* failure("folder"), [
        "tool_failed",
        "it is a directory; list_files shows what is in it"
      ])
      assert.deepStrictEqual(yield* failure("none"), ["tool_failed", "no such file or directory"])
      assert.deepStrictEqual(yield* failure("huge"), ["tool_failed", "the file is larger than 16777216 bytes"])
      assert.strictEqual((yield* bench.call("read", { path: "latin.txt" })).output?.text, "gr\ufffdn")
    }).pipe(Effect.scoped)
  )
})

describe("arguments", () => {
  it.live("are exact and closed: nothing is coerced or passed over, and the message has a pointer and no value", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      for (const [args, message] of [
        [{}, "invalid arguments: path is required"],
        [{ path: 5 }, "invalid arguments at /path: must be a string"],
        [{ path: "" }, "invalid arguments at /path: must not be empty"],
        [{ path: "SENTINEL\0" }, "invalid arguments at /path: must not contain a NUL character"],
        [{ path: "a", offset: "1" }, "invalid arguments at /offset: must be an integer from 1 to 1000000000"],
        [{ path: "a", limit: 0 }, "invalid arguments at /limit: must be an integer from 1 to 1000000000"],
        [{ path: "a", offset: 1.5 }, "invalid arguments at /offset: must be an integer from 1 to 1000000000"],
        [{ path: "a", "a/b": 1 }, "invalid arguments at /a~1b: unknown member"],
        [{ path: "a", constructor: 1 }, "invalid arguments at /constructor: unknown member"]
      ] as const) {
        const { failure } = yield* bench.call("read", args)
        assert.deepStrictEqual([failure?.code, failure?.message], ["tool_invalid_arguments", message])
      }
      for (const tool of bench.tools) {
        const schema = JSON.stringify(tool.inputSchema)
        assert.include(schema, '"additionalProperties":false', tool.name)
        assert.include(schema, '"type":"object"', tool.name)
      }
    }).pipe(Effect.scoped)
  )
})

describe("list_files", () => {
  it.live("lists one directory, sorted and marked, and keeps a name on one line", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("b.txt", "")
      bench.write("a/inner.txt", "")
      bench.write(".hidden", "")
      bench.write("odd\nname", "")
      symlinkSync("b.txt", join(bench.workspace, "link"))
      execFileSync("mkfifo", [join(bench.workspace, "pipe")])
      const { output } = yield* bench.call("list_files", {})
      assert.strictEqual(output?.text, ".hidden\na/\nb.txt\nlink@\nodd\\x0aname\npipe=")
      assert.strictEqual((yield* bench.call("list_files", { path: "a" })).output?.text, "inner.txt")
      assert.strictEqual((yield* bench.call("list_files", { path: "b.txt" })).failure?.message, "it is not a directory")
    }).pipe(Effect.scoped)
  )

  it.live("is bounded, and says how many entries are not shown", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      for (let index = 0; index < 2000; index++) bench.write(`${"n".repeat(40)}${index}`, "")
      const text = (yield* bench.call("list_files", {})).output?.text ?? ""
      assert.isAtMost(Buffer.byteLength(text), KIB30)
      const left = Number(/\n\[(\d+) more entries are not shown\]$/.exec(text)?.[1])
      assert.strictEqual(text.split("\n").length - 1 + left, 2000)
    }).pipe(Effect.scoped)
  )
})

describe("find and grep", () => {
  const tree = Effect.gen(function* () {
    const bench = yield* makeBench()
    bench.write(".gitignore", "ignored/\n*.log\n")
    bench.write("src/a.ts", "const needle = 1\nother\n")
    bench.write("src/deep/b.test.ts", "needle twice needle\n")
    bench.write("src/deep/c.js", "needle in js\n")
    bench.write("ignored/d.ts", "needle ignored\n")
    bench.write("e.log", "needle log\n")
    bench.write(".hidden/f.ts", "needle hidden\n")
    bench.write(".git/config", "needle git\n")
    bench.write("binary.ts", Buffer.from("needle\0needle"))
    symlinkSync(bench.home, join(bench.workspace, "src/linked"))
    return bench
  })

  it.live("find respects .gitignore, sees hidden files, never .git, and follows no link", () =>
    Effect.gen(function* () {
      const bench = yield* tree
      const found = (args: { pattern: string; path?: string }) =>
        Effect.map(bench.call("find", args), ({ failure, output }) => output?.text ?? failure?.code)
      assert.strictEqual(yield* found({ pattern: "*.ts" }), ".hidden/f.ts\nbinary.ts\nsrc/a.ts\nsrc/deep/b.test.ts")
      assert.strictEqual(yield* found({ pattern: "src/**/*.ts" }), "src/a.ts\nsrc/deep/b.test.ts")
      assert.strictEqual(yield* found({ pattern: "**/*.{js,test.ts}" }), "src/deep/b.test.ts\nsrc/deep/c.js")
      assert.strictEqual(yield* found({ pattern: "*.ts", path: "src/deep" }), "src/deep/b.test.ts")
      assert.match(`${yield* found({ pattern: "*.log" })}`, /^\[no file matches/)
      assert.strictEqual(yield* found({ pattern: "[z-a]" }), "tool_invalid_arguments")
    }).pipe(Effect.scoped)
  )

  it.live("grep gives path:line:text with the same rules, also for one file and with a glob", () =>
    Effect.gen(function* () {
      const bench = yield* tree
      const found = (args: { pattern: string; path?: string; glob?: string }) =>
        Effect.map(bench.call("grep", args), ({ failure, output }) => output?.text ?? failure?.code)
      assert.strictEqual(
        yield* found({ pattern: "needle" }),
        [
          ".hidden/f.ts:1:needle hidden",
          "src/a.ts:1:const needle = 1",
          "src/deep/b.test.ts:1:needle twice needle",
          "src/deep/c.js:1:needle in js"
        ].join("\n")
      )
      assert.strictEqual(
        yield* found({ pattern: "^needle", path: "src", glob: "*.js" }),
        "src/deep/c.js:1:needle in js"
      )
      assert.strictEqual(
        yield* found({ pattern: "needle", glob: "src/*/*.ts" }),
        "src/deep/b.test.ts:1:needle twice needle"
      )
      assert.match(`${yield* found({ pattern: "needle", glob: "*.log" })}`, /^\[no line matches/)
      assert.strictEqual(yield* found({ pattern: "oth?er", path: "src/a.ts" }), "src/a.ts:2:other")
      // A pattern that looks like an option is a pattern.
      assert.match(`${yield* found({ pattern: "--files" })}`, /^\[no line matches/)
      const { failure } = yield* bench.call("grep", { pattern: "(" })
      assert.strictEqual(failure?.code, "tool_failed")
      assert.include(failure?.output?.text ?? "", "unclosed group")
    }).pipe(Effect.scoped)
  )

  it.live("pass over FIFOs and links in the searched folder and do not wait for them", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      execFileSync("mkfifo", [join(bench.workspace, "pipe.txt")])
      symlinkSync("/dev/zero", join(bench.workspace, "zero.txt"))
      bench.write("a.txt", "needle")
      const started = performance.now()
      assert.strictEqual((yield* bench.call("grep", { pattern: "needle" })).output?.text, "a.txt:1:needle")
      assert.strictEqual((yield* bench.call("find", { pattern: "*.txt" })).output?.text, "a.txt")
      assert.isBelow(performance.now() - started, 3000)
    }).pipe(Effect.scoped)
  )

  it.live("leave out $MC_HOME where it lies in the searched folder", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("x[1]/secret.txt", "needle")
      bench.write("x1/open.txt", "needle")
      const tools = yield* makeBench({ workspace: bench.workspace, home: join(bench.workspace, "x[1]") })
      assert.strictEqual((yield* tools.call("grep", { pattern: "needle" })).output?.text, "x1/open.txt:1:needle")
      assert.strictEqual((yield* tools.call("find", { pattern: "*.txt" })).output?.text, "x1/open.txt")
      assert.strictEqual((yield* tools.call("read", { path: "x[1]/secret.txt" })).failure?.code, "path_denied")
      assert.strictEqual((yield* tools.call("list_files", { path: "x[1]" })).failure?.code, "path_denied")
    }).pipe(Effect.scoped)
  )

  it.live("are bounded and end early in a flood of hits, and say so", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("many.txt", "needle and some more words\n".repeat(200_000))
      bench.write("wide.txt", `${"needle ".repeat(100_000)}\n`)
      const text = (yield* bench.call("grep", { pattern: "needle", path: "many.txt" })).output?.text ?? ""
      assert.isAtMost(Buffer.byteLength(text), KIB30)
      assert.match(text, /\n\[there are more matches; search for something narrower\]$/)
      const wide = (yield* bench.call("grep", { pattern: "needle", path: "wide.txt" })).output?.text ?? ""
      assert.isAtMost(Buffer.byteLength(wide), 1200)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(process.getuid?.() === 0)("say when a folder could not be read", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      bench.write("a.txt", "needle")
      bench.write("closed/b.txt", "needle")
      chmodSync(join(bench.workspace, "closed"), 0)
      const { output } = yield* bench.call("grep", { pattern: "needle" })
      assert.strictEqual(output?.text, "a.txt:1:needle\n[some files could not be read]")
      chmodSync(join(bench.workspace, "closed"), 0o700)
    }).pipe(Effect.scoped)
  )
})

describe("globs", () => {
  it("mean what their description says, in linear time", () => {
    for (const [glob, yes, no] of [
      ["*.ts", ["a.ts", "x/y/a.ts", ".a.ts"], ["a.tsx", "a.ts/b"]],
      ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "x/src/a.ts"]],
      ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["lib/a.ts"]],
      ["**/test/**", ["test/a", "x/test/y/a"], ["tests/a"]],
      ["./a?.{js,m[jt]s}", ["ab.js", "x/ac.mts"], ["a.js", "ab.ms"]],
      ["[!a-c]x", ["dx"], ["ax", "/x"]],
      ["a{b", ["a{b"], ["ab"]],
      ["\\*", ["*"], ["a"]],
      ["a+(b)", ["a+(b)"], ["abb"]]
    ] as const) {
      const matches = matcherOf(glob)
      assert.deepStrictEqual(
        yes.filter((path) => !matches?.(path)),
        [],
        `${glob} should match`
      )
      assert.deepStrictEqual(
        no.filter((path) => matches?.(path)),
        [],
        `${glob} should not match`
      )
    }
    const started = performance.now()
    matcherOf(`${"*a".repeat(30)}b`)?.("a".repeat(250))
    assert.isBelow(performance.now() - started, 500)
  })
})
