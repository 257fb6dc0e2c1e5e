/** base-protocol section 6, Redaction: the service, on real threads. */
import type { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { makeScanner, SCAN_MS } from "../../src/broker/protected/Scanner.ts"
import type { ScanThread } from "../../src/broker/protected/ScanThread.ts"
import { service } from "./support.ts"

describe("protected results", () => {
  it.live("sanitizes and redacts text and structured value, and tells null from nothing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { protect } = yield* service("quiet.harbour+42")
        assert.deepStrictEqual(yield* protect({ text: "a\u0007 password=x" }, 32_768), {
          text: "a password=[redacted]"
        })
        assert.deepStrictEqual(yield* protect({ text: "", structured: null }, 32_768), { text: "", structured: null })
        assert.deepStrictEqual(
          yield* protect({ text: "quiet.harbour+42", structured: { token: 1, n: [1.5, "é"] } }, 32_768),
          {
            text: "[redacted]",
            structured: { token: "[redacted]", n: [1.5, "é"] }
          }
        )
      })
    )
  )

  it.live("rejects with a place and without a value", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { protect } = yield* service()
        const rejected = (value: Parameters<typeof protect>[0], bytes = 32_768) =>
          Effect.map(Effect.flip(protect(value, bytes)), ({ message, path, rule }) => {
            assert.notMatch(message, /SENTINEL/)
            return [rule, path]
          })
        const twins = { "token=SENTINEL1": 1, "token=SENTINEL2": 2 }
        assert.deepStrictEqual(yield* rejected({ text: "", structured: { deep: [twins] } }), [
          "collision",
          "/structured"
        ])
        assert.deepStrictEqual(yield* rejected({ text: "SENTINEL".repeat(5_000) }), ["too_large", "/text"])
        assert.deepStrictEqual(yield* rejected({ text: "pwd=1;".repeat(5_000) }), ["too_large", "/text"])
        assert.deepStrictEqual(yield* rejected({ text: "x".repeat(32_765), structured: "ab" }), [
          "too_large",
          "/structured"
        ])
        assert.deepStrictEqual(yield* protect({ text: "x".repeat(32_764), structured: "ab" }, 32_768), {
          text: "x".repeat(32_764),
          structured: "ab"
        })
      })
    )
  )

  it.live("what cannot be scanned in its time is rejected, never passed, and the next result is scanned again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { maskText, protect } = yield* service()
        const huge = { text: "plain words ".repeat(2_000_000) }
        const { path, rule } = yield* Effect.flip(protect(huge, Number.MAX_SAFE_INTEGER))
        assert.deepStrictEqual([rule, path], ["unscannable", "/text"])
        assert.strictEqual(yield* maskText("token=x"), "token=[redacted]")
        assert.strictEqual(yield* maskText("x".repeat(2_000_000)), "[redacted]")
      })
    )
  )

  it.live("the protocol's thread goes on while a result is scanned", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { protect } = yield* service()
        yield* protect({ text: "warm" }, 32_768)
        let ticks = 0
        const ticking = yield* Effect.forkChild(
          Effect.forever(
            Effect.andThen(
              Effect.sync(() => ticks++),
              Effect.sleep(1)
            )
          )
        )
        const all = Array.from({ length: 24 }, (_, n) => protect({ text: `${n} token=abc `.repeat(2_500) }, 1_000_000))
        yield* Effect.all(all, { concurrency: "unbounded", discard: true })
        yield* Fiber.interrupt(ticking)
        assert.isAtLeast(ticks, 20)
      })
    )
  )

  it.live("many at once: each gets its own, in the order in which they were handed in", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { protect } = yield* service()
        const order: Array<number> = []
        const one = (n: number) =>
          Effect.map(
            protect({ text: `${n} `.repeat(n % 3 === 0 ? 8_000 : 1), structured: [n] }, 65_536),
            ({ structured }) => {
              order.push(n)
              return structured
            }
          )
        const numbers = Array.from({ length: 64 }, (_, n) => n)
        const got = yield* Effect.forEach(numbers, one, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          got,
          numbers.map((n) => [n])
        )
        assert.deepStrictEqual(order, numbers)
      })
    )
  )

  it.live("an interrupted caller is forgotten, the others are served", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { protect } = yield* service()
        const waiting = yield* Effect.forkChild(protect({ text: "one" }, 100), { startImmediately: true })
        const other = yield* Effect.forkChild(protect({ text: "two" }, 100), { startImmediately: true })
        yield* Fiber.interrupt(waiting)
        assert.deepStrictEqual(yield* Fiber.join(other), { text: "two" })
      })
    )
  )

  it.live("closing the scope ends its threads and rejects what still waits", () =>
    Effect.gen(function* () {
      const threads: Array<Worker> = []
      const started = (worker: Worker) => threads.push(worker)
      process.on("worker", started)
      const scope = yield* Scope.make()
      const { protect } = yield* Scope.provide(service(), scope)
      yield* protect({ text: "warm" }, 100)
      const waiting = yield* Effect.forkChild(protect({ text: "token=x ".repeat(20_000) }, 1_000_000), {
        startImmediately: true
      })
      yield* Scope.close(scope, Exit.void)
      process.off("worker", started)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(waiting)))
      assert.strictEqual((yield* Effect.flip(protect({ text: "later" }, 100))).rule, "unscannable")
      assert.isAtLeast(threads.length, 1)
      // A thread that has ended has no number any more.
      assert.deepStrictEqual([...new Set(threads.map(({ threadId }) => threadId))], [-1])
    })
  )
})

describe("a thread that does not answer", () => {
  it.live(`is terminated after ${SCAN_MS} ms and the spare, which is warm, takes the next result`, () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      let started = 0
      /** The first thread never answers; the others do. */
      const start = () =>
        Effect.acquireRelease(
          Effect.sync((): ScanThread => {
            const name = `thread ${++started}`
            const silent = started === 1
            return {
              ready: Effect.void,
              scan: ({ result }) => {
                events.push(`${name} scans ${result.text}`)
                return silent ? Effect.never : Effect.succeed({ _tag: "Protected", value: result })
              }
            }
          }),
          () => Effect.sync(() => events.push("terminated"))
        )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const scanner = yield* makeScanner([], start, { spareMs: 0 })
          yield* Effect.sleep(20)
          const begun = performance.now()
          const verdicts = yield* Effect.all([scanner.scan({ text: "a" }, 1), scanner.scan({ text: "b" }, 1)], {
            concurrency: 2
          })
          assert.deepStrictEqual(
            verdicts.map((verdict) => verdict._tag),
            ["Rejected", "Protected"]
          )
          assert.isAtLeast(performance.now() - begun, SCAN_MS - 5)
          assert.isBelow(performance.now() - begun, SCAN_MS + 1_000)
          assert.deepStrictEqual(yield* scanner.scan({ text: "c" }, 1), { _tag: "Protected", value: { text: "c" } })
          assert.deepStrictEqual(
            events.filter((event) => event !== "terminated"),
            ["thread 1 scans a", "thread 2 scans b", "thread 2 scans c"]
          )
          assert.include(events, "terminated")
          assert.strictEqual(started, 3)
        })
      )
      assert.strictEqual(events.filter((event) => event === "terminated").length, 3)
    })
  )

  it.live("a thread that never comes up blocks nobody for ever", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const gone = yield* Deferred.make<void>()
        const start = () => Effect.succeed<ScanThread>({ ready: Effect.never, scan: () => Effect.never })
        const scanner = yield* makeScanner([], start, { startMs: 50 })
        const verdict = yield* Effect.onExit(scanner.scan({ text: "a" }, 1), () => Deferred.succeed(gone, undefined))
        assert.strictEqual(verdict._tag, "Rejected")
        yield* Deferred.await(gone)
      })
    )
  )
})
