/**
 * With the store stalled nothing on the protocol's thread blocks, appends can be interrupted by whoever waits for them,
 * and closing is bounded. base-protocol section 3 (Closing).
 */
import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Logger, Scope } from "effect"
import { bundled, driver, freshHome, turn, user, WORKSPACE, withSession, withStore } from "./support.ts"

const held = new URL("./children/heldWorker.ts", import.meta.url)

const stall = (home: string): void => writeFileSync(join(dirname(home), "hold"), "")

const resume = (home: string): void => rmSync(join(dirname(home), "hold"), { force: true })

/** Milliseconds that an effect takes. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, (value) => ({ value, millis: performance.now() - start }))
  })

/** The longest time in which the event loop of this thread did not turn while `effect` ran. */
const longestBlock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let last = performance.now()
    let longest = 0
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    return Effect.ensuring(
      Effect.map(effect, () => longest),
      Effect.sync(() => clearInterval(timer))
    )
  })

/** A machine that is too busy to end a thread before so many milliseconds are over. */
const lateTermination = (millis: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const terminate = Worker.prototype.terminate
      Worker.prototype.terminate = async function (this: Worker) {
        await new Promise((resolve) => setTimeout(resolve, millis))
        return terminate.call(this)
      }
      return terminate
    }),
    (terminate) =>
      Effect.sync(() => {
        Worker.prototype.terminate = terminate
      })
  )

describe("a stalled store", () => {
  it.live("does not block the thread; an append that is waited for can be interrupted, and is made all the same", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(
        home,
        (store) =>
          Effect.gen(function* () {
            const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
            yield* session.append([user("before")])
            stall(home)
            const block = yield* longestBlock(
              Effect.gen(function* () {
                const fiber = yield* Effect.forkChild(session.append([user("in the middle")]), {
                  startImmediately: true
                })
                yield* Effect.sleep(300)
                const { millis } = yield* timed(Fiber.interrupt(fiber))
                assert.isBelow(millis, 100)
                const exit = yield* Fiber.await(fiber)
                assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
              })
            )
            assert.isBelow(block, 200)
            resume(home)
            const after = yield* session.append([user("after")])
            assert.strictEqual((yield* session.records).length, 3)
            assert.strictEqual(yield* session.revision, after)
          }),
        held
      )
    })
  )

  it.live("closing sessions and layer takes less than a second in all, and lets go of every lock", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const waiting = yield* Deferred.make<Exit.Exit<string, unknown>>()
      let from = 0
      yield* withStore(
        home,
        (store) =>
          Effect.gen(function* () {
            const sessions = yield* Effect.forEach(["a", "b", "c", "d"], (sessionId) =>
              store.create({ sessionId, workspace: WORKSPACE })
            )
            yield* Effect.forEach(sessions, (session) => session.append(turn("c")))
            const scope = yield* Scope.make()
            stall(home)
            yield* Effect.forEach(sessions, (session) =>
              Effect.forkIn(
                Effect.flatMap(Effect.exit(session.append([user("never answered")])), (exit) =>
                  Deferred.succeed(waiting, exit)
                ),
                scope,
                { startImmediately: true }
              )
            )
            yield* Effect.sleep(50)
            from = performance.now()
          }),
        held
      )
      assert.isBelow(performance.now() - from, 1000)
      // Whoever still waits is told, not left waiting.
      const exit = yield* Effect.timeout(Deferred.await(waiting), 500)
      assert.isTrue(Exit.isFailure(exit))
      resume(home)
      for (const id of ["a", "b", "c", "d"]) {
        yield* withSession(home, id, (session) =>
          Effect.map(session.records, (records) => assert.isAtLeast(records.length, 5))
        )
      }
    })
  )

  it.live("a worker that has closed everything is waited for: it is late, but no disk hangs", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* lateTermination(500)
      const logged: Array<string> = []
      const { millis } = yield* timed(
        withStore(home, (store) =>
          Effect.flatMap(store.create({ sessionId: "s", workspace: WORKSPACE }), (session) =>
            session.append([user("one")])
          )
        )
      ).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])))
      assert.isAbove(millis, 500)
      assert.deepStrictEqual(logged, [])
    })
  )

  it.live("what waits for it is bounded: past that appends fail at once", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withStore(
        home,
        (store) =>
          Effect.gen(function* () {
            const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
            yield* session.append([user("before")])
            stall(home)
            const fibers = yield* Effect.forEach(Array.from({ length: 1100 }), (_, n) =>
              Effect.forkChild(Effect.result(session.append([user(`m${n}`)])), { startImmediately: true })
            )
            yield* Effect.sleep(50)
            const refused = fibers.flatMap((fiber) => {
              const exit = fiber.pollUnsafe()
              return exit !== undefined && Exit.isSuccess(exit) ? [exit.value] : []
            })
            assert.isAtLeast(refused.length, 76)
            for (const result of refused) {
              assert.include(result._tag === "Failure" ? result.failure.message : "", "does not keep up")
            }
            resume(home)
            const results = yield* Effect.forEach(fibers, Fiber.join)
            const kept = results.filter((result) => result._tag === "Success").length
            assert.strictEqual(kept + refused.length, 1100)
            assert.strictEqual((yield* session.records).length, 1 + kept)
          }),
        held
      )
    })
  )

  it.live("a worker that dies fails what waits, its sessions are free, and the next open starts another", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const dying = new URL("./children/dyingWorker.ts", import.meta.url)
      yield* withStore(
        home,
        (store) =>
          Effect.gen(function* () {
            const session = yield* store.create({ sessionId: "s", workspace: WORKSPACE })
            yield* session.append([user("one")])
            const error = yield* Effect.flip(session.append([user("die")]))
            assert.include(error.message, "worker")
            yield* Effect.flip(session.append([user("two")]))
            const again = yield* store.open({ sessionId: "s", workspace: WORKSPACE })
            assert.strictEqual((yield* again.records).length, 1)
            yield* again.append([user("two")])
          }),
        dying
      )
      const other = yield* driver(yield* bundled, home)
      assert.isTrue((yield* other.ask({ op: "open", id: "s" })).ok)
    })
  )
})
