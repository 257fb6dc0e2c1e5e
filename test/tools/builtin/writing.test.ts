/** product section 2: `write` and `edit` (exact and unique, atomic, keeping mode, owner and line endings). */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replaceText } from "../../../src/tools/builtin/Replacement.ts"
import { makeBench } from "./Bench.ts"

const isRoot = process.getuid?.() === 0

describe("write", () => {
  it.live("makes a file with its folders, byte for byte", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const content = "\ufeffa\r\nb\0😀"
      const { approval, output } = yield* bench.call("write", { path: "new/deep/a.txt", content })
      assert.deepStrictEqual([approval, output?.text], [null, "created new/deep/a.txt (12 bytes)"])
      assert.strictEqual(readFileSync(join(bench.workspace, "new/deep/a.txt"), "utf8"), content)
      assert.strictEqual(statSync(join(bench.workspace, "new/deep/a.txt")).mode & 0o777, 0o666 & ~process.umask())
    }).pipe(Effect.scoped)
  )

  it.live("replaces a file in one rename, keeping its mode; a link stays a link to the replaced file", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const file = bench.write("a.sh", "old")
      chmodSync(file, 0o4751)
      symlinkSync("a.sh", join(bench.workspace, "link"))
      const before = statSync(file)
      const { output } = yield* bench.call("write", { path: "link", content: "new" })
      assert.strictEqual(output?.text, "replaced a.sh (3 bytes)")
      const after = statSync(file)
      assert.deepStrictEqual([readFileSync(file, "utf8"), after.mode, after.uid], ["new", before.mode, before.uid])
      assert.notStrictEqual(after.ino, before.ino)
      assert.deepStrictEqual(readdirSync(bench.workspace).sort(), ["a.sh", "link"])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!isRoot)("keeps the owner and group", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const file = bench.write("a.txt", "old")
      chownSync(file, 1234, 2345)
      chmodSync(file, 0o6755)
      yield* bench.call("write", { path: "a.txt", content: "new" })
      const { gid, mode, uid } = statSync(file)
      assert.deepStrictEqual([uid, gid, mode & 0o7777], [1234, 2345, 0o6755])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(isRoot)("leaves a read-only file alone", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      chmodSync(bench.write("a.txt", "old"), 0o444)
      const { failure } = yield* bench.call("write", { path: "a.txt", content: "new" })
      assert.strictEqual(failure?.message, "the operating system refuses access")
    }).pipe(Effect.scoped)
  )

  it.live("leaves the old file and nothing else behind where it cannot be done", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const name = "n".repeat(256)
      const { failure } = yield* bench.call("write", { path: name, content: "x" })
      assert.deepStrictEqual([failure?.code, failure?.message], ["tool_failed", "the name is too long"])
      assert.deepStrictEqual(readdirSync(bench.workspace), [])
    }).pipe(Effect.scoped)
  )

  it.live("a reader sees the old or the new text, never a part", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const [one, two] = ["1".repeat(200_000), "2".repeat(200_000)]
      const file = bench.write("a.txt", one)
      let wrong = 0
      let done = false
      yield* Effect.forkChild(
        Effect.gen(function* () {
          while (!done) {
            const seen = readFileSync(file, "utf8")
            if (seen !== one && seen !== two) wrong += 1
            yield* Effect.sleep(0)
          }
        })
      )
      for (let round = 0; round < 20; round++) {
        yield* bench.call("write", { path: "a.txt", content: round % 2 ? one : two })
      }
      done = true
      assert.strictEqual(wrong, 0)
    }).pipe(Effect.scoped)
  )
})

describe("edit", () => {
  it.live("replaces the one occurrence, or with all every one; anything else changes nothing", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const file = bench.write("a.txt", "one two two $& three")
      const edit = (args: { old: string; new: string; all?: boolean }) =>
        Effect.map(
          bench.call("edit", { path: "a.txt", ...args }),
          ({ failure, output }) => output?.text ?? failure?.message
        )
      assert.strictEqual(yield* edit({ old: "one", new: "$1 $& \\n" }), "edited a.txt (1 replacement)")
      assert.strictEqual(readFileSync(file, "utf8"), "$1 $& \\n two two $& three")
      assert.strictEqual(
        yield* edit({ old: "two", new: "x" }),
        "the old text occurs 2 times; give more of its surroundings, or all: true"
      )
      assert.strictEqual(yield* edit({ old: "TWO", new: "x" }), "the old text is not in the file; read it again")
      assert.strictEqual(
        yield* edit({ old: "two", new: "two" }),
        "invalid arguments at /new: must be another text than old"
      )
      assert.strictEqual(yield* edit({ old: "", new: "x" }), "invalid arguments at /old: must not be empty")
      assert.strictEqual(readFileSync(file, "utf8"), "$1 $& \\n two two $& three")
      assert.strictEqual(yield* edit({ old: "two", new: "", all: true }), "edited a.txt (2 replacements)")
      assert.strictEqual(readFileSync(file, "utf8"), "$1 $& \\n   $& three")
      const missing = yield* bench.call("edit", { path: "none", old: "a", new: "b" })
      assert.strictEqual(missing.failure?.message, "no such file; write makes one")
    }).pipe(Effect.scoped)
  )

  it.live("asks nobody about an edit that cannot be made, and works on the file as it is when it runs", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench({ approvals: { bash: "ask", write: "ask" } })
      const file = bench.write("a.txt", "one")
      const hopeless = yield* bench.call("edit", { path: "a.txt", old: "two", new: "x" })
      assert.deepStrictEqual([hopeless.approval, hopeless.failure?.code], [null, "tool_failed"])
      const changed = yield* bench.call(
        "edit",
        { path: "a.txt", old: "one", new: "1" },
        { meanwhile: () => writeFileSync(file, "one and more") }
      )
      assert.strictEqual(changed.output?.text, "edited a.txt (1 replacement)")
      assert.strictEqual(readFileSync(file, "utf8"), "1 and more")
      const twice = yield* bench.call(
        "edit",
        { path: "a.txt", old: "more", new: "less" },
        { meanwhile: () => writeFileSync(file, "more more") }
      )
      assert.strictEqual(twice.failure?.code, "tool_failed")
      assert.strictEqual(readFileSync(file, "utf8"), "more more")
    }).pipe(Effect.scoped)
  )

  it.live("does not tell what is in a file outside the workspace before the user allowed it", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      writeFileSync(join(bench.root, "b.txt"), "SENTINEL")
      for (const old of ["SENTINEL", "something else"]) {
        const { approval } = yield* bench.call("edit", { path: "../b.txt", old, new: "x" })
        assert.strictEqual(approval?.always, true)
      }
    }).pipe(Effect.scoped)
  )

  it.live("two edits of one file at the same time are both made", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const words = Array.from({ length: 30 }, (_, index) => `word${index};`)
      const file = bench.write("a.txt", words.join("\n"))
      symlinkSync("a.txt", join(bench.workspace, "b.txt"))
      const outcomes = yield* Effect.forEach(
        words,
        (word, index) =>
          bench.call("edit", { path: index % 2 ? "a.txt" : "b.txt", old: word, new: word.toUpperCase() }),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(
        outcomes.filter(({ failure }) => failure !== undefined),
        []
      )
      assert.strictEqual(readFileSync(file, "utf8"), words.join("\n").toUpperCase())
    }).pipe(Effect.scoped)
  )

  it.live("leaves bytes that are not UTF-8 as they are", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const file = bench.write("latin.txt", Buffer.from([0xfc, 0x20, 0x61, 0x20, 0xff, 0]))
      yield* bench.call("edit", { path: "latin.txt", old: "a", new: "bc" })
      assert.deepStrictEqual([...readFileSync(file)], [0xfc, 0x20, 0x62, 0x63, 0x20, 0xff, 0])
    }).pipe(Effect.scoped)
  )

  it("keeps the line endings of the file", () => {
    const edited = (content: string, old: string, fresh: string) => {
      const result = replaceText(Buffer.from(content), { old, fresh, all: false })
      return typeof result === "object" && "content" in result ? result.content.toString() : result
    }
    assert.strictEqual(edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n")
    assert.strictEqual(edited("a\r\nb\r\n", "a\r\nb", "x\r\ny"), "x\r\ny\r\n")
    assert.strictEqual(edited("a\r\nb\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\n")
    assert.strictEqual(edited("a\nb\n", "a\nb", "x\r\ny"), "x\r\ny\n")
    assert.strictEqual(edited("a\r\nb\nc", "b\nc", "x\ny"), "a\r\nx\ny")
    assert.strictEqual(edited("a\r\nb\nc", "a\nb", "x"), "missing")
    assert.deepStrictEqual(edited("aXaXa", "a", "b"), { times: 3 })
  })
})

describe("interruption", () => {
  it.live("a write that is cancelled before it runs leaves nothing; no temporary file is left after many", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      for (let round = 0; round < 30; round++) {
        const content = "x".repeat(10_000)
        yield* Effect.timeoutOption(bench.call("write", { path: `f${round}/a.txt`, content }), round % 6)
      }
      const left = execFileSync("find", [bench.workspace, "-name", ".magi-code-*"]).toString()
      assert.strictEqual(left, "")
      for (let round = 0; round < 30; round++) {
        const file = join(bench.workspace, `f${round}/a.txt`)
        if (existsSync(file)) assert.strictEqual(statSync(file).size, 10_000)
      }
    }).pipe(Effect.scoped)
  )
})
