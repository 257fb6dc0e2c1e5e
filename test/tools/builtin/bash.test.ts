/** product section 2, `bash`; base-protocol section 3 (processes) and 4 (`turn.cancel`). */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { statNow } from "../../../src/platform/ProcFs.ts"
import { HeadAndTail } from "../../../src/tools/builtin/HeadAndTail.ts"
import { type Bench, makeBench } from "./Bench.ts"

const alive = (pid: number) => {
  const stat = statNow(pid)
  return stat !== undefined && stat.state !== "Z" && stat.state !== "X"
}

/** Waits until the command has written a pid. */
const pidIn = (bench: Bench, name: string): Effect.Effect<number> =>
  Effect.gen(function* () {
    const file = join(bench.workspace, name)
    for (;;) {
      const text = existsSync(file) ? readFileSync(file, "utf8") : ""
      if (/^\d+\n$/.test(text)) return Number(text)
      yield* Effect.sleep(10)
    }
  })

describe("bash", () => {
  it.live("runs in the workspace with closed stdin, both outputs in their order, without secrets", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const text = (command: string) => Effect.map(bench.call("bash", { command }), ({ output }) => output?.text)
      assert.strictEqual(yield* text("pwd; cat; echo over"), `${bench.workspace}\nover\n`)
      assert.strictEqual(yield* text("echo 1; echo 2 >&2; echo 3; echo 4 >&2"), "1\n2\n3\n4\n")
      assert.strictEqual(yield* text(`echo '"quoted"' "$0" $# 'a b'`), '"quoted" bash 0 a b\n')
      process.env["THE_KEY"] = "SENTINEL"
      assert.strictEqual(yield* text("echo [$THE_KEY]"), "[]\n")
      delete process.env["THE_KEY"]
    }).pipe(Effect.scoped)
  )

  it.live("a failing command is a failure with its output; a syntax error too", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const { failure } = yield* bench.call("bash", { command: "echo words; exit 3" })
      assert.deepStrictEqual(
        [failure?.code, failure?.message, failure?.output],
        ["tool_failed", "the command ended with exit code 3", { text: "words\n" }]
      )
      const killed = yield* bench.call("bash", { command: "kill -9 $$" })
      assert.strictEqual(killed.failure?.message, "the command was ended by SIGKILL")
      const wrong = yield* bench.call("bash", { command: "echo 'unfinished" })
      assert.strictEqual(wrong.failure?.code, "tool_failed")
      assert.include(wrong.failure?.output?.text ?? "", "unexpected EOF")
    }).pipe(Effect.scoped)
  )

  it.live("ends at its time limit with what was written so far; the limit is at most 600 s", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const started = performance.now()
      const { failure } = yield* bench.call("bash", { command: "echo early; sleep 30; echo late", timeout_ms: 400 })
      assert.deepStrictEqual([failure?.code, failure?.output?.text], ["tool_timeout", "early\n"])
      assert.isBelow(performance.now() - started, 1500)
      const long = yield* bench.call("bash", { command: "true", timeout_ms: 600_001 })
      assert.strictEqual(long.failure?.code, "tool_invalid_arguments")
    }).pipe(Effect.scoped)
  )

  it.live("keeps head and tail of a flood within 30 KiB, with a note", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const text = (yield* bench.call("bash", { command: "seq 100000 120000" })).output?.text ?? ""
      assert.isAtMost(Buffer.byteLength(text), 30 * 1024)
      assert.match(
        text,
        /^100000\n100001\n[^[]*\n\[the middle is left out: 140007 bytes of output in all\]\n[^[]*119999\n120000\n$/
      )
      const flood = yield* bench.call("bash", { command: "yes '€€€€' | head -c 30000000" })
      assert.isAtMost(Buffer.byteLength(flood.output?.text ?? ""), 30 * 1024)
      const binary = yield* bench.call("bash", { command: "head -c 29000 /dev/urandom" })
      assert.isAtMost(Buffer.byteLength(binary.output?.text ?? ""), 30 * 1024)
    }).pipe(Effect.scoped)
  )

  it.live("what it leaves running ends with the call, also what left its group or holds the output", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const started = performance.now()
      const { output } = yield* bench.call("bash", {
        command: "sleep 300 & echo $!; setsid sleep 300 & echo $!; (setsid nohup sleep 300 & echo $!) ; echo done"
      })
      assert.isBelow(performance.now() - started, 2000)
      const lines = (output?.text ?? "").trim().split("\n")
      assert.strictEqual(lines.at(-1), "done")
      assert.deepStrictEqual(lines.slice(0, -1).map(Number).filter(alive), [])
    }).pipe(Effect.scoped)
  )

  it.live("a descendant that hides from group and mark and holds the output does not hold the call", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const started = performance.now()
      const { output } = yield* bench.call("bash", { command: "setsid env -i sleep 4 & echo out" })
      assert.strictEqual(output?.text, "out\n")
      assert.isBelow(performance.now() - started, 2500)
    }).pipe(Effect.scoped)
  )

  it.live("cancelling it ends everything within half a second, what ignores signals included", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const fiber = yield* Effect.forkChild(
        bench.call("bash", {
          command:
            "trap '' TERM INT HUP; sleep 300 & echo $! > one.pid; setsid sleep 300 & echo $! > two.pid; wait; wait"
        })
      )
      const pids = [yield* pidIn(bench, "one.pid"), yield* pidIn(bench, "two.pid")]
      const started = performance.now()
      yield* Fiber.interrupt(fiber)
      assert.isBelow(performance.now() - started, 500)
      assert.deepStrictEqual(pids.filter(alive), [])
    }).pipe(Effect.scoped)
  )

  it.live("many at once do not mix", () =>
    Effect.gen(function* () {
      const bench = yield* makeBench()
      const texts = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => index),
        (index) =>
          Effect.map(bench.call("bash", { command: `echo ${index}; sleep 0.1; echo ${index}` }), (x) => x.output?.text),
        { concurrency: 6 }
      )
      assert.deepStrictEqual(
        texts,
        texts.map((_, index) => `${index}\n${index}\n`)
      )
    }).pipe(Effect.scoped)
  )
})

describe("head and tail", () => {
  it("of what fits is the text itself; a character is never cut; bytes that are not UTF-8 stay within the bound", () => {
    const of = (...chunks: ReadonlyArray<Uint8Array>) => {
      const kept = new HeadAndTail()
      for (const chunk of chunks) kept.push(chunk)
      return kept.text()
    }
    assert.strictEqual(of(), "")
    const exact = "x".repeat(30 * 1024)
    assert.strictEqual(of(Buffer.from(exact)), exact)
    const bytes = Buffer.from("😀".repeat(20_000))
    const text = of(...Array.from({ length: 800 }, (_, index) => bytes.subarray(index * 100, index * 100 + 100)))
    assert.match(text, /^(😀)+\n\[the middle is left out: 80000 bytes of output in all\]\n(😀)+$/u)
    assert.isAtMost(Buffer.byteLength(of(new Uint8Array(30 * 1024).fill(0xff))), 30 * 1024)
  })
})
