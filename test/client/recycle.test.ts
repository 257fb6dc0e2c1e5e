/** docs/library.md, Recycling: a fresh child, the session opened again in it, never a replay; product section 5, Ids. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Agent, type AgentBehaviour } from "../../src/client/Agent.ts"
import { AgentNotStarted } from "../../src/client/AgentErrors.ts"
import * as ScriptedAgent from "./support/ScriptedAgent.ts"
import { echo, toolsOf } from "./support/tools.ts"

const settle = Effect.forEach(Array.from({ length: 80 }), () => Effect.yieldNow, { discard: true })

const status = (more: object = {}) => ({
  state: "ready",
  instance_id: ScriptedAgent.INSTANCE,
  session_id: ScriptedAgent.SESSION,
  durable: true,
  run_id: null,
  history_revision: "h-1",
  selection: null,
  pending_approvals: 0,
  pending_client_calls: 0,
  requests_used: 3,
  ...more
})
const sessionOpened = { session_id: ScriptedAgent.SESSION, durable: true, history_revision: "h-5", title: null }
const stored = { status: status(), "session.open": sessionOpened }

interface Child extends ScriptedAgent.ScriptedAgent {
  readonly methods: () => ReadonlyArray<string>
}

/** An agent whose n-th child is scripted by the n-th options, a string for one that cannot be started. */
const opened = (children: ReadonlyArray<ScriptedAgent.ScriptOptions | string>, more: AgentBehaviour = {}) =>
  Effect.gen(function* () {
    const scripts: Array<Child> = []
    const outer = yield* Effect.scope
    let made = 0
    const start = Effect.gen(function* () {
      const options = children[made] ?? "none is left"
      made += 1
      if (typeof options === "string") return yield* new AgentNotStarted({ command: "agent", reason: options })
      const script = yield* Scope.provide(ScriptedAgent.make(options), outer)
      scripts.push({ ...script, methods: () => script.seen.map(({ method }) => method) })
      return script.link
    })
    const scope = yield* Scope.fork(outer)
    const agent = yield* Scope.provide(Agent.over(start, { tools: toolsOf(echo), ...more }), scope)
    yield* agent.createSession
    const child = (n: number): Child => {
      const script = scripts[n]
      if (script === undefined) throw new Error(`there is no child ${n}`)
      return script
    }
    return { agent, child, scope }
  })

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined

const begin = ["initialize", "session.create"]

describe("recycle", () => {
  it.effect(
    "the session is let go by one child and opened in the next, which then gets everything; nothing is replayed",
    () =>
      Effect.gen(function* () {
        const { agent, child } = yield* opened([{ answers: stored }, { answers: stored }])
        const run = yield* Effect.forkChild(agent.run("first"))
        yield* settle
        yield* child(0).finish()
        yield* Fiber.join(run)
        assert.deepStrictEqual(yield* agent.recycle, { session: sessionOpened })
        assert.deepStrictEqual(child(0).methods(), [...begin, "turn.start", "status", "session.create"])
        yield* child(0).eof
        const second = yield* Effect.forkChild(agent.run("second"))
        yield* settle
        yield* child(1).finish()
        assert.strictEqual((yield* Fiber.join(second)).status, "completed")
        assert.deepStrictEqual(child(1).methods(), ["initialize", "session.open", "turn.start"])
        assert.deepInclude(child(1).seen.at(-1)?.params, { session_id: ScriptedAgent.SESSION, prompt: "second" })
        assert.deepStrictEqual(
          child(1).seen[0]?.params.client_tools.map(({ name }: { readonly name: string }) => name),
          ["client__echo"]
        )
      }).pipe(Effect.scoped)
  )

  it.effect("of a session without a run nothing is stored: the new child makes one, and tells so", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ answers: { status: status({ durable: false }) } }, {}])
      assert.isFalse((yield* agent.recycle).session?.durable)
      assert.deepStrictEqual(child(0).methods(), [...begin, "status"])
      assert.deepStrictEqual(child(1).methods(), begin)
    }).pipe(Effect.scoped)
  )

  it.effect("while a run is active it fails and nothing is sent; a cancelled run is waited for", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ answers: stored }, { answers: stored }])
      const turn = yield* agent.turn("go")
      const refused = failureOf(yield* Effect.exit(agent.recycle))
      assert.deepInclude(refused, { _tag: "RecycleFailed", reason: "run_active", inUse: true })
      assert.deepStrictEqual(child(0).methods(), [...begin, "turn.start"])
      yield* turn.cancel
      const recycling = yield* Effect.forkChild(agent.recycle)
      yield* settle
      assert.notInclude(child(0).methods(), "status")
      yield* child(0).finish("cancelled")
      assert.strictEqual((yield* Fiber.join(recycling)).session?.session_id, ScriptedAgent.SESSION)
    }).pipe(Effect.scoped)
  )

  it.effect("a run that begins in a request under way wins: the recycle fails, no second child is started", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ answers: stored, silent: ["turn.start"] }, { answers: stored }])
      const turn = yield* Effect.forkChild(Effect.scoped(Effect.andThen(agent.turn("go"), Effect.never)))
      const { id } = yield* child(0).take("turn.start")
      const recycling = yield* Effect.forkChild(Effect.exit(agent.recycle))
      yield* settle
      yield* child(0).answer(id, { run_id: ScriptedAgent.RUN, accepted: true })
      assert.deepInclude(failureOf(yield* Fiber.join(recycling)), { reason: "run_active" })
      assert.throws(() => child(1))
      yield* Fiber.interrupt(turn)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "what is asked meanwhile waits and goes to the new child; what was asked before is answered by the old one",
    () =>
      Effect.gen(function* () {
        const catalog = { entries: [], revision: "m-1" }
        const { agent, child } = yield* opened([
          { answers: stored, silent: ["model.catalog"] },
          { answers: { ...stored, "model.catalog": catalog }, silent: ["initialize"] }
        ])
        const before = yield* Effect.forkChild(agent.models)
        const { id } = yield* child(0).take("model.catalog")
        const recycling = yield* Effect.forkChild(agent.recycle)
        yield* settle
        const meanwhile = yield* Effect.forkChild(agent.models)
        const turn = yield* Effect.forkChild(agent.run("go"))
        yield* settle
        assert.deepStrictEqual(child(0).methods(), [...begin, "model.catalog"])
        yield* child(0).answer(id, { entries: [], revision: "m-0" })
        assert.strictEqual((yield* Fiber.join(before)).revision, "m-0")
        const initialize = yield* child(1).take("initialize")
        yield* settle
        assert.isUndefined(meanwhile.pollUnsafe())
        yield* child(1).answer(initialize.id, yield* initialized)
        assert.strictEqual((yield* Fiber.join(meanwhile)).revision, "m-1")
        yield* Fiber.join(recycling)
        yield* settle
        yield* child(1).finish()
        assert.strictEqual((yield* Fiber.join(turn)).status, "completed")
        assert.notInclude(child(0).methods(), "turn.start")
      }).pipe(Effect.scoped)
  )

  it.effect("is one at a time, and goes on though nobody waits for it any more", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ answers: stored, silent: ["status"] }, { answers: stored }])
      const first = yield* Effect.forkChild(agent.recycle)
      const asked = yield* child(0).take("status")
      const second = yield* Effect.forkChild(agent.recycle)
      yield* settle
      yield* Fiber.interrupt(first)
      yield* child(0).answer(asked.id, status())
      assert.deepStrictEqual(yield* Fiber.join(second), { session: sessionOpened })
      assert.throws(() => child(2))
    }).pipe(Effect.scoped)
  )
})

/** The answer of a scripted child to `initialize`, with the tools of these tests. */
const initialized = Effect.gen(function* () {
  const script = yield* ScriptedAgent.make()
  const agent = yield* Agent.over(script.link, { tools: toolsOf(echo) })
  return agent.info
}).pipe(Effect.scoped)

describe("a recycle that fails", () => {
  it.effect("to start or to initialize leaves the child before as it was", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([
        { answers: stored },
        "ENOENT",
        { answers: { ...stored, initialize: "configuration_invalid" } },
        { answers: stored }
      ])
      const first = failureOf(yield* Effect.exit(agent.recycle))
      assert.deepInclude(first, { reason: "not_opened", inUse: true })
      assert.strictEqual(first?.cause?._tag, "AgentNotStarted")
      const waiting = yield* Effect.forkChild(Effect.exit(agent.recycle))
      const meanwhile = yield* Effect.forkChild(agent.status)
      yield* Fiber.join(meanwhile)
      const second = failureOf(yield* Fiber.join(waiting))
      assert.deepInclude(second?.cause, { _tag: "InitializeFailed", code: "configuration_invalid" })
      yield* child(1).eof
      const run = yield* Effect.forkChild(agent.run("go"))
      yield* settle
      yield* child(0).finish()
      assert.strictEqual((yield* Fiber.join(run)).status, "completed")
      assert.deepStrictEqual(child(0).methods(), [...begin, "status", "turn.start"])
      assert.isDefined((yield* agent.recycle).session)
    }).pipe(Effect.scoped)
  )

  it.effect("to open the session gives it back to the child before", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([
        { answers: stored },
        { answers: { ...stored, "session.open": "session_busy" } }
      ])
      const failed = failureOf(yield* Effect.exit(agent.recycle))
      assert.deepInclude(failed, { reason: "session", inUse: true })
      assert.deepInclude(failed?.cause, { _tag: "RequestFailed", code: "session_busy" })
      assert.deepStrictEqual(child(0).methods(), [...begin, "status", "session.create", "session.open"])
      yield* child(1).eof
      const run = yield* Effect.forkChild(agent.run("go"))
      yield* settle
      yield* child(0).finish()
      assert.strictEqual((yield* Fiber.join(run)).status, "completed")
    }).pipe(Effect.scoped)
  )

  it.effect("and cannot give it back leaves no session: no turn goes into another one", () =>
    Effect.gen(function* () {
      const busy = { answers: { ...stored, "session.open": "session_busy" } }
      const { agent, child } = yield* opened([busy, busy])
      yield* Effect.exit(agent.recycle)
      assert.deepInclude(failureOf(yield* Effect.exit(agent.run("go"))), { code: "no_session" })
      assert.notInclude(child(0).methods(), "turn.start")
    }).pipe(Effect.scoped)
  )

  it.effect("because the agent is closed: both children get EOF", () =>
    Effect.gen(function* () {
      const { agent, child, scope } = yield* opened([{ answers: stored }, { silent: ["initialize"] }])
      const recycling = yield* Effect.forkChild(Effect.exit(agent.recycle))
      yield* settle
      assert.deepStrictEqual(child(1).methods(), ["initialize"])
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(failureOf(yield* Fiber.join(recycling)), { reason: "closed" })
      yield* child(0).eof
      yield* child(1).eof
      assert.deepInclude(failureOf(yield* Effect.exit(agent.recycle)), { reason: "closed" })
    }).pipe(Effect.scoped)
  )

  it.effect("because there is one link only", () =>
    Effect.gen(function* () {
      const script = yield* ScriptedAgent.make()
      const agent = yield* Agent.over(script.link)
      assert.deepInclude(failureOf(yield* Effect.exit(agent.recycle)), { reason: "no_link", inUse: true })
    }).pipe(Effect.scoped)
  )
})

describe("a child that is no use any more", () => {
  it.effect("is lost: the session is opened in the next one, and lost waits for the loss of that", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ answers: stored }, { answers: stored }, { answers: stored }])
      const run = yield* Effect.forkChild(Effect.exit(agent.run("go")))
      yield* settle
      yield* child(0).close
      yield* TestClock.adjust(1000)
      assert.strictEqual(failureOf(yield* Fiber.join(run))?._tag, "TransportLost")
      assert.deepStrictEqual(yield* agent.recycle, { session: sessionOpened })
      assert.deepStrictEqual(child(1).methods(), ["initialize", "session.open"])
      const lost = yield* Effect.forkChild(Effect.exit(agent.lost))
      yield* settle
      yield* agent.recycle
      yield* settle
      assert.isUndefined(lost.pollUnsafe())
      yield* child(2).close
      yield* TestClock.adjust(1000)
      assert.strictEqual(failureOf(yield* Fiber.join(lost))?._tag, "TransportLost")
    }).pipe(Effect.scoped)
  )

  it.effect("was lost before anything was saved: a new session", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{}, { answers: { "session.open": "session_not_found" } }])
      yield* Effect.forkChild(Effect.exit(agent.run("go")))
      yield* settle
      yield* child(0).close
      yield* TestClock.adjust(1000)
      assert.isFalse((yield* agent.recycle).session?.durable)
      assert.deepStrictEqual(child(1).methods(), ["initialize", "session.open", "session.create"])
    }).pipe(Effect.scoped)
  )

  it.effect("does not answer: what waits for it is lost with it after two seconds, and two more for its status", () =>
    Effect.gen(function* () {
      const { agent, child } = yield* opened([{ silent: ["status", "model.catalog"] }, {}])
      const stuck = yield* Effect.forkChild(Effect.exit(agent.models))
      yield* settle
      const recycling = yield* Effect.forkChild(agent.recycle)
      yield* settle
      yield* TestClock.adjust(1999)
      assert.throws(() => child(1))
      yield* TestClock.adjust(1)
      yield* settle
      assert.deepStrictEqual(child(1).methods(), ["initialize"])
      yield* TestClock.adjust(2000)
      yield* Fiber.join(recycling)
      assert.deepInclude(failureOf(yield* Fiber.join(stuck)), { _tag: "TransportLost", reason: "closed" })
      assert.deepStrictEqual(child(1).methods(), begin)
    }).pipe(Effect.scoped)
  )

  it.effect("has 64 ids left: it can still be recycled as any other; with 2 left it is closed first", () =>
    Effect.gen(function* () {
      const limits = (request_ids: number) => ({ answers: stored, limits: { request_ids } })
      const reserve = yield* opened([limits(66), { answers: stored }])
      assert.strictEqual(failureOf(yield* Effect.exit(reserve.agent.run("go")))?._tag, "RequestIdsExhausted")
      assert.deepStrictEqual(yield* reserve.agent.recycle, { session: sessionOpened })
      assert.deepStrictEqual(reserve.child(0).methods(), [...begin, "status", "session.create"])
      assert.isAbove(yield* reserve.agent.requestIdsLeft, 4000)

      const { agent, child } = yield* opened([limits(68), { answers: stored }])
      const turn = yield* agent.turn("go")
      for (let n = 0; n < 70; n++) {
        yield* child(0).call(`c${n}`, "client__echo")
        yield* settle
      }
      yield* TestClock.adjust(2000)
      assert.strictEqual((yield* turn.outcome).error?.code, "RequestIdsExhausted")
      assert.deepStrictEqual(yield* agent.recycle, { session: sessionOpened })
      assert.strictEqual(child(0).methods().at(-1), "turn.cancel")
    }).pipe(Effect.scoped)
  )
})

describe("recycleBelow", () => {
  it.effect("recycles before a turn when so few ids are left; if that fails the turn goes to the child there is", () =>
    Effect.gen(function* () {
      const limits = { request_ids: 200 }
      const { agent, child } = yield* opened([{ answers: stored, limits }, "ENOENT", { answers: stored }], {
        recycleBelow: 197
      })
      const played = (n: number) =>
        Effect.gen(function* () {
          const run = yield* Effect.forkChild(agent.run("go"))
          yield* settle
          yield* child(n).finish()
          return yield* Fiber.join(run)
        })
      yield* played(0)
      assert.deepStrictEqual(child(0).methods(), [...begin, "turn.start"])
      yield* played(0)
      assert.deepStrictEqual(child(0).methods(), [...begin, "turn.start", "turn.start"])
      yield* played(1)
      assert.deepStrictEqual(child(1).methods(), ["initialize", "session.open", "turn.start"])
    }).pipe(Effect.scoped)
  )
})

describe("a history that is being read", () => {
  it.effect("is read on in the new child", () =>
    Effect.gen(function* () {
      const entry = (entry_id: string) => ({
        entry_id,
        kind: "user",
        created_at: "2026-12-02T05:37:49.483Z",
        text: entry_id,
        part: 0,
        parts: 1,
        task_id: null
      })
      const page = (id: string, cursor: string | null) => ({
        session_id: ScriptedAgent.SESSION,
        revision: "h-1",
        entries: [entry(id)],
        cursor,
        complete: cursor === null
      })
      const { agent, child } = yield* opened([
        { answers: { ...stored, "history.page": page("a", "c-1") } },
        { answers: { ...stored, "history.page": page("b", null) } }
      ])
      const items = yield* agent.history().pipe(
        Stream.tap((item) => (item.entry_id === "a" ? agent.recycle : Effect.void)),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        items.map(({ entry_id }) => entry_id),
        ["a", "b"]
      )
      assert.deepInclude(child(1).seen.at(-1)?.params, { revision: "h-1", cursor: "c-1" })
    }).pipe(Effect.scoped)
  )
})
