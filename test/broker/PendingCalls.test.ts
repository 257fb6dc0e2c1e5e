import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { type Ending, PendingCalls } from "../../src/broker/PendingCalls.ts"
import type { CallIdentity } from "../../src/protocol/CallIdentity.ts"

const identity = (call_id: string): CallIdentity => ({
  instance_id: "i",
  session_id: "s",
  run_id: "r",
  call_id,
  task_id: null,
  subagent_id: null
})

const accepted: Ending = { _tag: "Accepted", reply: { text: "ok", status: "success" } }
const cancelled: Ending = { _tag: "Cancelled", reason: "cancelled" }

const make = (capacity = 16) => {
  const log: Array<string> = []
  const pending = new PendingCalls({
    capacity,
    placeCancel: (call, reason) => log.push(`cancel:${reason} ${call.call_id} pending=${pending.size}`)
  })
  /** A published call whose waiter notes what it finds when it is told. */
  const published = (id: string) =>
    Effect.gen(function* () {
      const call = pending.register(identity(id))
      if (typeof call === "string") return yield* Effect.die(call)
      pending.publish(call, 1000n, () => "Placed")
      yield* Effect.forkChild(
        Effect.map(Deferred.await(call.ending), (ending) =>
          log.push(`told:${ending._tag} ${id} pending=${pending.size}`)
        ),
        { startImmediately: true }
      )
      return call
    })
  return { log, pending, published }
}

describe("PendingCalls: the one transition", () => {
  it.effect("settles once: whoever comes second learns that it lost, and nothing of it reaches the wire", () =>
    Effect.gen(function* () {
      const { log, pending, published } = make()
      const call = yield* published("a")
      assert.isTrue(pending.settle(call, accepted, () => log.push("acknowledged")))
      assert.isFalse(pending.settle(call, cancelled))
      assert.isFalse(pending.settle(call, accepted, () => log.push("acknowledged twice")))
      assert.strictEqual(pending.settleAll("shutdown"), 0)
      yield* Effect.yieldNow
      assert.deepStrictEqual(log, ["acknowledged", "told:Accepted a pending=0"])
    })
  )

  it.effect("the slot is free before the wire is told, and the wire before the waiter", () =>
    Effect.gen(function* () {
      const { log, pending, published } = make()
      const first = yield* published("a")
      const second = yield* published("b")
      pending.settle(first, accepted, () => log.push(`acknowledged pending=${pending.size}`))
      pending.settle(second, cancelled)
      yield* Effect.yieldNow
      assert.deepStrictEqual(log, [
        "acknowledged pending=1",
        "told:Accepted a pending=1",
        "cancel:cancelled b pending=0",
        "told:Cancelled b pending=0"
      ])
    })
  )

  it.effect("when all end, every slot is free before the first notice, and every notice before the first waiter", () =>
    Effect.gen(function* () {
      const { log, pending, published } = make()
      yield* published("a")
      yield* published("b")
      assert.strictEqual(
        pending.settleAll("run_finished", (call) => call.identity.run_id === "r"),
        2
      )
      yield* Effect.yieldNow
      assert.deepStrictEqual(log, [
        "cancel:run_finished a pending=0",
        "cancel:run_finished b pending=0",
        "told:Cancelled a pending=0",
        "told:Cancelled b pending=0"
      ])
    })
  )

  it("finds a published call strictly before its deadline, and never an unpublished one", () => {
    const { pending } = make()
    const call = pending.register(identity("a"))
    if (typeof call === "string") return assert.fail(call)
    assert.isUndefined(pending.find("a", 0n))
    pending.publish(call, 1000n, () => "Placed")
    assert.deepStrictEqual([pending.find("a", 999n), pending.find("a", 1000n)], [call, undefined])
    assert.isUndefined(pending.find("b", 0n))
  })

  it("an event that got no place is not published: its end sends no cancel", () => {
    const { log, pending } = make()
    const call = pending.register(identity("a"))
    if (typeof call === "string") return assert.fail(call)
    assert.strictEqual(
      pending.publish(call, 1000n, () => "Closed"),
      "Closed"
    )
    pending.close()
    assert.deepStrictEqual(log, [])
  })
})
