/** How a process ends, and what it answers meanwhile. docs/local-agent-protocol.md, sections 5 and 13. */
import { type Case, c, cite, oneCall, sleep } from "../dsl.ts"

const protocol = cite("local-agent-protocol")

const exitZero = protocol("0 | shutdown, the end of the input, SIGTERM, SIGINT")
const endInOneStep = protocol(
  "All pending client calls end in one step, each with client.tool.cancel and reason shutdown; then the run is cancelled."
)

export const lifecycle: ReadonlyArray<Case> = [
  c(
    "lifecycle.shutdown",
    [endInOneStep, protocol("The answer comes before anything else that closing brings."), exitZero],
    function* (t) {
      const b = yield* t.ready()
      const call = yield* oneCall(b)
      const started = performance.now()
      const answer = yield* b.request("shutdown")
      yield* t.equal(answer.result, { accepted: true }, "answer")
      const end = yield* b.ended(2600)
      yield* t.expect(end.at - started < 2300, `the exit took ${Math.round(end.at - started)} ms`)
      yield* t.equal(end.code, 0, "exit code")
      const [cancel] = b.cancels(call.data.call_id)
      const [finish] = b.events("run.finished")
      yield* t.equal([cancel?.data.reason, finish?.data.status], ["shutdown", "cancelled"], "notice and run")
      const order = [answer.index, cancel?.index, finish?.index]
      yield* t.equal(
        order,
        [...order].sort((one, other) => Number(one) - Number(other)),
        "order: answer, notice, run.finished"
      )
    }
  ),

  c("lifecycle.shutting-down", protocol("closing | nothing | shutting_down"), function* (t) {
    const b = yield* t.ready()
    yield* oneCall(b)
    yield* b.raw(["shutdown", "status", "session.create"].map((m, i) => b.requestLine(m, {}, `s${i}`)).join(""))
    yield* t.expect((yield* b.response("s0")).result, "shutdown")
    yield* t.equal((yield* b.response("s1")).error?.code, "shutting_down", "status")
    yield* t.equal((yield* b.response("s2")).error?.code, "shutting_down", "session.create")
    yield* b.ended()
  }),

  c("lifecycle.eof", [endInOneStep, exitZero], function* (t) {
    const b = yield* t.ready()
    const call = yield* oneCall(b)
    yield* b.eof
    yield* t.equal((yield* b.ended(2600)).code, 0, "exit code")
    yield* t.equal(
      b.cancels(call.data.call_id).map(({ data }) => data.reason),
      ["shutdown"],
      "notices"
    )
    yield* t.equal(
      b.events("run.finished").map(({ data }) => data.status),
      ["cancelled"],
      "run.finished"
    )
  }),

  c(
    "lifecycle.sigterm",
    [
      protocol(
        "shutdown, the end of the input, SIGTERM, SIGINT, an oversized frame and a failed transport lead to closing"
      ),
      exitZero
    ],
    function* (t) {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const b = yield* t.ready()
        const call = yield* oneCall(b)
        yield* b.kill(signal)
        yield* t.equal((yield* b.ended(2600)).code, 0, `exit code after ${signal}`)
        const reasons = b.cancels(call.data.call_id).map(({ data }) => data.reason)
        yield* t.equal(reasons, ["shutdown"], `notices after ${signal}`)
      }
    }
  ),

  c("lifecycle.eof-at-once", exitZero, function* (t) {
    const b = yield* t.spawn()
    yield* b.eof
    yield* t.equal((yield* b.ended()).code, 0, "exit code")
    yield* t.equal([b.frames.length, t.exists(t.home)], [0, false], "frames, MC_HOME")
  }),

  c(
    "lifecycle.partial-at-eof",
    protocol("A rest without an LF at the end of the input was never a frame and is not executed."),
    function* (t) {
      const b = yield* t.spawn()
      yield* b.raw(b.requestLine("status", {}, "cut").trimEnd())
      yield* sleep(200)
      yield* b.eof
      yield* t.equal((yield* b.ended()).code, 0, "exit code")
      yield* t.equal(b.frames.length, 0, "frames")
    }
  ),

  c(
    "lifecycle.flags",
    protocol("A terminal on either of the two is refused with exit code 1, and so is any argument beside --stdio."),
    function* (t) {
      const b = yield* t.spawn({ args: ["--bogus"] })
      b.expectExit(1)
      yield* b.ended()
      yield* t.equal(b.frames.length, 0, "frames")
      yield* t.expect(
        b.stderr.trim() !== "" && !/\n\s+at /.test(b.stderr),
        "one clear message on stderr, no stack trace"
      )
    }
  )
]
