/** base-protocol section 5: `approval.request` and `approval.closed`. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Approvals } from "../../src/agent/Approvals.ts"
import * as ApprovalsLive from "../../src/agent/ApprovalsLive.ts"
import { ProtectedResults } from "../../src/broker/ProtectedResult.ts"
import type { ApprovalNeed } from "../../src/tools/Tool.ts"
import { EventWriter, type OutputEvent } from "../../src/transport/FrameWriter.ts"

const identity = { sessionId: "s", runId: "r", taskId: "t", subagentId: "a" }

const makeApprovals = (maskText: (text: string) => string = (text) => text) =>
  Effect.gen(function* () {
    const frames: Array<OutputEvent> = []
    const context = yield* Layer.build(
      ApprovalsLive.layer.pipe(
        Layer.provide(
          Layer.mergeAll(
            Layer.succeed(EventWriter, {
              placeEvent: (event) => {
                frames.push(event)
                return { _tag: "Placed", admitted: Effect.void }
              },
              event: () => Effect.succeed("Placed")
            }),
            Layer.succeed(ProtectedResults, {
              protect: Effect.succeed,
              maskText: (text) => Effect.succeed(maskText(text))
            })
          )
        )
      )
    )
    const approvals = Context.get(context, Approvals)
    const ask = (need: Partial<ApprovalNeed> = {}) =>
      Effect.forkChild(Effect.exit(approvals.request({ kind: "bash", summary: "ls", ...need }, identity)), {
        startImmediately: true
      })
    const verdict = (fiber: Fiber.Fiber<Exit.Exit<void, { readonly code: string }>>) =>
      Effect.map(Fiber.join(fiber), (exit) => {
        if (Exit.isSuccess(exit)) return "allowed"
        const error = Exit.findErrorOption(exit)
        return error._tag === "Some" ? error.value.code : "interrupted"
      })
    const id = (nth: number) =>
      String(frames.filter((frame) => frame.event === "approval.request")[nth]?.data["approval_id"])
    return { approvals, ask, frames, id, verdict }
  })

describe("approvals", () => {
  it.effect("an answer is acknowledged before the events it causes; a second one is stale", () =>
    Effect.gen(function* () {
      const { approvals, ask, frames, id, verdict } = yield* makeApprovals()
      const fiber = yield* ask()
      assert.deepStrictEqual(frames[0]?.data, {
        session_id: "s",
        run_id: "r",
        approval_id: id(0),
        kind: "bash",
        summary: "ls",
        task_id: "t",
        subagent_id: "a",
        timeout_ms: 300_000
      })
      let framesThen = 0
      const answer = (runId: string, allow: boolean) =>
        approvals.answer({ runId, approvalId: id(0), allow }, () => {
          framesThen = frames.length
        })
      assert.isFalse(yield* answer("another run", true))
      assert.isTrue(yield* answer("r", true))
      assert.isFalse(yield* answer("r", false))
      assert.strictEqual(framesThen, 1)
      assert.strictEqual(yield* verdict(fiber), "allowed")
      assert.deepInclude(frames[1]?.data, { approval_id: id(0), reason: "answered" })
    })
  )

  it.effect("is denied after 300000 ms and not before", () =>
    Effect.gen(function* () {
      const { approvals, ask, frames, verdict } = yield* makeApprovals()
      const fiber = yield* ask()
      yield* TestClock.adjust(299_999)
      assert.strictEqual(yield* approvals.pending, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* verdict(fiber), "approval_denied")
      assert.deepInclude(frames[1]?.data, { reason: "timeout" })
      assert.strictEqual(yield* approvals.pending, 0)
    })
  )

  it.effect("a 17th pending is denied without an event; an ended one makes room", () =>
    Effect.gen(function* () {
      const { approvals, ask, frames, id, verdict } = yield* makeApprovals()
      for (let n = 0; n < 16; n++) yield* ask()
      assert.strictEqual(yield* verdict(yield* ask()), "approval_denied")
      assert.strictEqual(frames.length, 16)
      yield* approvals.answer({ runId: "r", approvalId: id(3), allow: false }, () => {})
      yield* ask()
      assert.strictEqual(yield* approvals.pending, 16)
    })
  )

  it.effect("interruption closes it as cancelled", () =>
    Effect.gen(function* () {
      const { approvals, ask, frames } = yield* makeApprovals()
      yield* Fiber.interrupt(yield* ask())
      assert.deepInclude(frames[1]?.data, { reason: "cancelled" })
      assert.strictEqual(yield* approvals.pending, 0)
    })
  )

  it.effect("control and bidirectional characters are escaped visibly, before anything is masked away", () =>
    Effect.gen(function* () {
      const { ask, frames } = yield* makeApprovals((text) => text.replace("hunter2", "[redacted]"))
      yield* ask({ summary: "echo \u202etwo\u001b[2K\u200e\u0007\t\r\u2028\u{e0041}\n--password hunter2" })
      assert.strictEqual(
        frames[0]?.data["summary"],
        "echo \\u202etwo\\u001b[2K\\u200e\\u0007\\u0009\\u000d\\u2028\\u{e0041}\n--password [redacted]"
      )
    })
  )

  it.effect("what does not fit is denied, unless something shorter may stand for it", () =>
    Effect.gen(function* () {
      const { ask, frames, verdict } = yield* makeApprovals()
      assert.strictEqual(yield* verdict(yield* ask({ summary: '"'.repeat(2049) })), "approval_denied")
      yield* ask({ summary: '"'.repeat(2048) })
      yield* ask({ summary: "x".repeat(4097), short: "1 file, SHA-256 …" })
      assert.deepStrictEqual(
        frames.map((frame) => String(frame.data["summary"]).length),
        [2048, 17]
      )
    })
  )

  it.effect("what could not be scanned shows nothing of what will run, and is denied", () =>
    Effect.gen(function* () {
      const { ask, frames, verdict } = yield* makeApprovals(() => "[redacted]")
      assert.strictEqual(yield* verdict(yield* ask()), "approval_denied")
      assert.strictEqual(frames.length, 0)
    })
  )
})
